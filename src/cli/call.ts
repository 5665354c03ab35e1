import { visibleWithColours } from "../base/visible-text.js";
import type { CallResult } from "../tool/call.js";
import { readCallArguments } from "./call-arguments.js";
import { exitCodeOf } from "./exit-codes.js";
import type { CommandContext } from "./globals.js";
import type { Output } from "./output.js";
import { painted } from "./painted.js";
import { withSession } from "./with-session.js";

export async function run(context: CommandContext, [name = "", ...words]: readonly string[]): Promise<void> {
  const { out, flags } = context;
  const given = await readCallArguments(words);
  await withSession(context, async (session, signal) => {
    const request = { id: "call_1", name, arguments: given };
    if (flags.dryRun === true) {
      const explained = await session.explainCall(request);
      if (out.json) out.value(explained);
      else out.line(JSON.stringify(explained, null, 2));
      if (explained.error !== undefined) process.exitCode = exitCodeOf(explained.error.code);
      return;
    }
    printResult(out, await session.call(request, { signal }));
  });
}

/** The envelope for programs, what the tool has for people otherwise. */
export function printResult(out: Output, { human, ...envelope }: CallResult): void {
  const { ok, notices = [], error, structured } = envelope;
  if (out.json) out.value(out.jsonl ? { type: "result", ...envelope } : envelope);
  else if (ok) out.line(painted(shown(human), out.color));
  for (const notice of notices) out.note(notice);
  if (error === undefined) return;
  out.fail(error);
  if (structured !== undefined) out.note(JSON.stringify(structured));
}

/** Files and pipes get the bytes; a terminal would obey some of them. */
function shown(text: string): string {
  return process.stdout.isTTY ? visibleWithColours(text) : text;
}
