import type { CallResult } from "../tool/call.js";
import { aboutTools, type CommandContext } from "./context.js";
import { exitCodeOf } from "./errors.js";
import { readCallArguments } from "./input.js";
import { howToBeAsked } from "./person.js";
import { LiveOutput } from "./session/live-output.js";
import { withSession } from "./session/with-session.js";

export async function call(context: CommandContext): Promise<void> {
  const { out, flags } = context;
  const [name = "", ...words] = context.args;
  const given = await readCallArguments(words);
  await withSession(aboutTools(context, [name]), async (session, signal, { runtime, above }) => {
    const request = { id: "call_1", name, arguments: given };
    if (flags.dryRun === true) {
      const explained = await session.explainCall(request);
      out.result(explained, JSON.stringify(explained, null, 2));
      if (explained.error !== undefined) process.exitCode = exitCodeOf(explained.error.code);
      return;
    }
    if (process.stdout.isTTY !== true || out.json) {
      return finish(context, await session.call(request, { signal }));
    }
    const write = (line: string) => above(() => out.line(line));
    const live = new LiveOutput({ redact: runtime.redact, write });
    const result = await session.call(request, { signal, onProgress: (update) => live.take(update) });
    finish(context, live.restOf(result));
  });
}

function finish({ out, options }: CommandContext, result: CallResult): void {
  out.callResult(result, { passExitCode: options.exitCode === true });
  // The result is what a model reads; the person who typed this can do something about it.
  if (result.decision?.answer === "nobody")
    out.note(howToBeAsked("run it in a terminal, or keep the page of a server open"));
}
