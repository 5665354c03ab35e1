import { readFile } from "node:fs/promises";
import { messageOf } from "../base/errno.js";
import { encodeResults, parseRequestText } from "../protocol/index.js";
import { HermesError } from "../tool/errors.js";
import { aboutTools, type CommandContext } from "./context.js";
import { commandError, EXIT } from "./errors.js";
import { readStdin } from "./input.js";
import { withSession } from "./session/with-session.js";

export async function run(context: CommandContext): Promise<void> {
  const [file] = context.args;
  const request = parseRequestText(
    file === undefined || file === "-" ? await readStdin() : await readRequestFile(file),
  );
  if ("code" in request) throw new HermesError(request);
  const { out, flags } = context;
  const names = request.calls.map(({ name }) => name);
  await withSession(aboutTools(context, names), async (session, signal) => {
    if (flags.dryRun === true) {
      const explained = [];
      for (const call of request.calls) explained.push({ id: call.id, ...(await session.explainCall(call)) });
      out.values(explained);
      return;
    }
    const encoded = encodeResults(request, await session.callAll(request.calls, { signal }));
    out.value(out.jsonl ? { type: "result", result: encoded } : encoded);
    if (signal.aborted) process.exitCode = EXIT.interrupted;
  });
}

async function readRequestFile(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    throw commandError("bad_request", `cannot read ${file}: ${messageOf(error)}`);
  }
}
