import { visible } from "../../base/visible-text.js";
import type { RuleOrigin, TraceStep } from "../../policy/profiles/types.js";
import { explainDecision, plainStep } from "../../runtime/explain.js";
import { HermesError } from "../../tool/errors.js";
import { aboutTools, type CommandContext } from "../context.js";
import { readCallArguments } from "../input.js";
import { type Output, tableLines } from "../output.js";

/** What would be decided about a call, and by which rules. Nothing is run, nobody is asked. */
export async function explain(context: CommandContext): Promise<void> {
  const { out, args: words } = context;
  const [name = "", ...given] = words;
  const runtime = await aboutTools(context, [name]).runtime();
  try {
    const session = await runtime.openSession({ door: "cli" });
    const explained = await explainDecision(session, { name, arguments: await readCallArguments(given) });
    if ("code" in explained) throw new HermesError(explained);
    const { effects, trace, ...answer } = explained;
    if (out.json) out.value({ ...answer, effects, trace: trace.map(plainStep) });
    else show(out, answer, trace);
  } finally {
    await runtime.close();
  }
}

function show(
  out: Output,
  answer: { readonly name: string; readonly profile: string; readonly verdict: string } & {
    readonly rule: string;
    readonly reason: string | null;
  },
  trace: readonly TraceStep[],
): void {
  const mark = answer.verdict === "allow" ? "ok" : answer.verdict === "ask" ? "warning" : "error";
  out.line(`${out.mark(mark)} ${answer.name}: ${answer.verdict} (profile ${answer.profile})`);
  out.line(`  rule ${answer.rule}`);
  if (answer.reason !== null) out.line(`  ${visible(answer.reason)}`);
  let effect: string | undefined;
  for (const { text, about } of lines(trace)) {
    if (about !== effect) out.line(out.color.dim(visible(about ?? "the call as a whole")));
    effect = about;
    out.line(`  ${visible(text)}`);
  }
}

function lines(
  trace: readonly TraceStep[],
): readonly { readonly text: string; readonly about?: string | undefined }[] {
  const rows = tableLines(
    trace.map((step) => [
      step.outcome,
      step.rule,
      `${step.list ?? ""}`,
      placeOf(step.at) || (step.reason ?? ""),
    ]),
  );
  return trace.map(({ effect }, index) => ({
    text: rows[index] ?? "",
    about: effect,
  }));
}

function placeOf(at: RuleOrigin | undefined): string {
  if (at === undefined) return "";
  return at.line === undefined ? at.file : `${at.file}:${at.line}`;
}
