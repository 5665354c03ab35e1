import { visible } from "../../base/visible-text.js";
import type { ApprovalRequest } from "../../call/scope.js";
import { type ShownQuestion, shownQuestion } from "../../policy/approvals/record.js";

const BAR = "│ ";

/**
 * Everything a person should know before answering, exactly as it is. Texts that come from elsewhere stand behind a
 * bar, each line with its own, so that none of them can look like something this program says.
 */
export function approvalText(request: ApprovalRequest, redact: (text: string) => string): string {
  const shown = shownQuestion(request, redact);
  return [
    `${visible(shown.tool)} asks for approval: ${visible(shown.reason)}`,
    ...argumentLines(shown.args),
    ...effectLines(shown),
    `where: environment ${visible(shown.environment)}, folder ${visible(shown.cwd)}`,
    `rule: ${visible(shown.rule)}`,
    ...(shown.review === undefined ? [] : [`reviewer: ${visible(shown.review)}`]),
    ...choiceLines(request, shown),
  ].join("\n");
}

function argumentLines(args: unknown): readonly string[] {
  return Object.entries(args as Readonly<Record<string, unknown>>).flatMap(([name, value]) => [
    `argument ${visible(name)}:`,
    ...barred(typeof value === "string" ? value : JSON.stringify(value)),
  ]);
}

function barred(text: string): readonly string[] {
  return text.split("\n").map((line) => BAR + visible(line));
}

function effectLines({ effects }: ShownQuestion): readonly string[] {
  if (effects.length === 0) return [];
  return ["it would:", ...effects.flatMap(({ action, resource }) => barred(`${action}  ${resource}`))];
}

function choiceLines(request: ApprovalRequest, shown: ShownQuestion): readonly string[] {
  return [
    "once: allow exactly this call",
    ...(offersSession(request)
      ? [`session: also every later call asked about for ${shown.session_covers.map(visible).join(", ")}`]
      : []),
    ...(offersAlways(request)
      ? ["always: remember for good, for this text only", ...shown.always_remembers.flatMap(barred)]
      : []),
    "deny: do not run it",
  ];
}

export function offersSession({ sessionKeys }: ApprovalRequest): boolean {
  return sessionKeys.length > 0;
}

export function offersAlways({ remember }: ApprovalRequest): boolean {
  return remember.length > 0;
}
