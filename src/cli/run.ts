import { readFile } from "node:fs/promises";
import { messageOf } from "../base/errno.js";
import { encodeResults, parseRequestText } from "../protocol/index.js";
import { failure, HermesError } from "../tool/errors.js";
import { EXIT } from "./exit-codes.js";
import type { CommandContext } from "./globals.js";
import { readStdin } from "./read-stdin.js";
import { withSession } from "./with-session.js";

export async function run(context: CommandContext, [file]: readonly string[]): Promise<void> {
  const request = parseRequestText(
    file === undefined || file === "-" ? await readStdin() : await readRequestFile(file),
  );
  if ("code" in request) throw new HermesError(request);
  const { out, flags } = context;
  await withSession(context, async (session, signal) => {
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
    throw new HermesError(failure("bad_request", `cannot read ${file}: ${messageOf(error)}`));
  }
}
