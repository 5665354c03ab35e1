import type * as acp from "@agentclientprotocol/sdk";
import type { ApprovalAnswer, ApprovalReply, ApprovalRequest, Approver } from "../../call/scope.js";
import { shownQuestion } from "../../policy/approvals/record.js";
import { approvalText } from "../mcp/questions.js";
import { kindOf, locationsOf, textContent, titleOf } from "./tool-updates.js";

/** Takes one question to the person in the editor; undefined when no answer came. */
export type AskEditor = (
  question: Pick<acp.RequestPermissionRequest, "toolCall" | "options">,
  asked: { readonly request: ApprovalRequest; readonly signal: AbortSignal },
) => Promise<acp.RequestPermissionOutcome | undefined>;

const DENIED: ApprovalReply = { answer: "deny", by: "acp" };

/** Asks for approval in the editor. Whatever is not one of the offered options is a no. */
export function editorApprover(options: {
  readonly askEditor: AskEditor;
  readonly redact: (text: string) => string;
  /** As the editor knows the call. */
  idOf(request: ApprovalRequest): string;
}): Approver {
  const { askEditor, redact, idOf } = options;
  return {
    async ask(request, signal) {
      const offered = optionsFor(request);
      const { tool, args } = shownQuestion(request, redact);
      const outcome = await askEditor(
        {
          options: [...offered],
          toolCall: {
            toolCallId: idOf(request),
            title: redact(titleOf(tool, request.effects)),
            kind: kindOf(request.effects),
            status: "pending",
            rawInput: args,
            locations: locationsOf(request.effects),
            content: [textContent(approvalText(request, redact))],
          },
        },
        { request, signal },
      );
      if (outcome?.outcome !== "selected") return DENIED;
      const chosen = offered.find(({ optionId }) => optionId === outcome.optionId);
      return chosen === undefined ? DENIED : { answer: chosen.optionId, by: "acp" };
    },
  };
}

function optionsFor({
  sessionKeys,
  remember,
}: ApprovalRequest): readonly (acp.PermissionOption & { readonly optionId: ApprovalAnswer })[] {
  return [
    { optionId: "once", kind: "allow_once", name: "Allow once" },
    ...(sessionKeys.length > 0
      ? [{ optionId: "session" as const, kind: "allow_always" as const, name: "Allow for this session" }]
      : []),
    ...(remember.length > 0
      ? [{ optionId: "always" as const, kind: "allow_always" as const, name: "Always allow exactly this" }]
      : []),
    { optionId: "deny", kind: "reject_once", name: "Deny" },
  ];
}
