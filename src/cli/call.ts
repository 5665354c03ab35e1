import type { Runtime } from "../runtime/runtime.js";
import type { CallResult } from "../tool/call.js";
import { textOf } from "../tool/content.js";
import { readCallArguments } from "./call-arguments.js";
import { exitCodeOf } from "./exit-codes.js";
import type { CommandContext } from "./globals.js";
import { painted } from "./painted.js";
import { calm } from "./visible-text.js";
import { withSession } from "./with-session.js";

export async function run(context: CommandContext, [name = "", ...words]: readonly string[]): Promise<void> {
  const { out, flags } = context;
  const given = await readCallArguments(words);
  await withSession(context, async (session, signal, runtime) => {
    const request = { id: "call_1", name, arguments: given };
    if (flags.dryRun === true) {
      const explained = await session.explainCall(request);
      if (out.json) out.value(explained);
      else out.line(JSON.stringify(explained, null, 2));
      if (explained.error !== undefined) process.exitCode = exitCodeOf(explained.error.code);
      return;
    }
    const result = await session.call(request, { signal });
    if (out.json) out.value(out.jsonl ? { type: "result", ...result } : result);
    else if (result.ok) out.line(painted(shown(await forPeople(result, runtime)), out.color));
    for (const notice of result.notices ?? []) out.note(notice);
    if (result.error !== undefined) {
      out.fail(result.error);
      if (result.structured !== undefined) out.note(JSON.stringify(result.structured));
    }
  });
}

/** A tool may show people something friendlier than what it tells a model; when that fails, they see the same. */
async function forPeople(result: CallResult, runtime: Runtime): Promise<string> {
  const tool = await runtime.registry.get(result.name)?.load();
  if (tool?.present === undefined || result.structured === undefined) return textOf(result.content);
  try {
    return tool.present(result.structured).human;
  } catch {
    return textOf(result.content);
  }
}

/** Files and pipes get the bytes; a terminal would obey some of them. */
function shown(text: string): string {
  return process.stdout.isTTY ? calm(text) : text;
}
