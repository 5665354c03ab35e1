import { existsSync } from "node:fs";
import { visible } from "../../base/visible-text.js";
import { replayTape } from "../../replay/replay.js";
import { parseTape, readTape, type Tape } from "../../replay/tape.js";
import type { Runtime } from "../../runtime/runtime.js";
import { type CommandContext, withRuntime } from "../context.js";
import { commandError } from "../errors.js";
import { tapeOf } from "../sessions/tape.js";

/** What today's tools and rules make of a recorded session; ends with 3 when that is something else than then. */
export async function replay(context: CommandContext): Promise<void> {
  const { out, args } = context;
  const [wanted = ""] = args;
  await withRuntime(context, async (runtime) => {
    const result = await replayTape(runtime, await tapeFrom(context, runtime, wanted));
    if (out.json) out.value(result);
    else {
      const { session, calls, same, different, unknown } = result;
      out.line(`${session}: ${calls} calls, ${same} as they were`);
      out.table(
        different.map(({ id, name, why }) => [out.mark("error"), visible(id), visible(name), visible(why)]),
      );
      if (unknown > 0) out.note(`${unknown} calls are unknown: only a part of their arguments was kept.`);
    }
    if (result.different.length > 0) process.exitCode = 3;
  });
}

async function tapeFrom(context: CommandContext, runtime: Runtime, wanted: string): Promise<Tape> {
  if (existsSync(wanted)) return readTape(wanted);
  const lines = await tapeOf(context, { runtime, id: wanted });
  if (lines === undefined) {
    const hint =
      "Name a conversation (hermes sessions list), a session of the journal (hermes calls) or a file.";
    throw commandError("not_found", `There is no session and no tape ${wanted}`, hint);
  }
  return parseTape(lines.join(""), wanted);
}
