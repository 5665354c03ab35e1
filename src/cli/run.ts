import { readFile } from "node:fs/promises";
import { messageOf } from "../base/errno.js";
import { encodeResults, parseRequestText } from "../protocol/index.js";
import type { View } from "../registry/view.js";
import type { CallResult } from "../tool/call.js";
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
    const results = await session.callAll(request.calls, { signal });
    const encoded = encodeResults(
      request,
      results.map((result) => asToldInside(result, session.scope.view)),
    );
    out.value(out.jsonl ? { type: "result", result: encoded } : encoded);
    if (signal.aborted) process.exitCode = EXIT.interrupted;
  });
}

/** The answer is for a model: it learns no more of what it may not use than it would behind any other door. */
function asToldInside(result: CallResult, view: View): CallResult {
  const { error, called_as } = result;
  const isUnknown = error?.code === "not_found" && error.message === view.unknown(called_as).message;
  if (error?.code !== "out_of_scope" && !isUnknown) return result;
  return { ...result, content: [], error: view.unknown(called_as) };
}

async function readRequestFile(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    throw commandError("bad_request", `cannot read ${file}: ${messageOf(error)}`);
  }
}
