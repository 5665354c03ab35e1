import type { Connection } from "./connection.js";
import { lostWhileWorking } from "./remote-error.js";
import { errorFromThere } from "./there-errors.js";

const MAX_STDERR = 16_384;

export interface SendThere {
  readonly connection: Connection;
  readonly script: string;
  readonly args: readonly string[];
  readonly content: AsyncIterable<Uint8Array>;
  readonly path: string;
  readonly action: string;
}

/** Runs a script there that takes a content of any length on stdin, sent as fast as it is taken. */
export async function sendThere(request: SendThere): Promise<string> {
  const { connection } = request;
  let stdout = "";
  let stderr = "";
  const process = await connection.transport.start({
    argv: ["sh", "-c", request.script, "sh", ...request.args],
    stdin: "open",
    onStdout: (bytes) => {
      stdout += Buffer.from(bytes).toString();
    },
    onStderr: (bytes) => {
      if (stderr.length < MAX_STDERR) stderr += Buffer.from(bytes).toString();
    },
  });
  let over = false;
  const ended = process.ended.then((end) => {
    over = true;
    return end;
  });
  try {
    for await (const chunk of request.content) {
      await Promise.race([process.write(chunk), ended]);
      if (over) break;
    }
  } catch (error) {
    // Without its end the archive or the file is not whole, and is refused there.
    process.abandon();
    throw error;
  }
  if (!over) await process.closeInput();
  const end = await ended;
  if ("lost" in end) {
    connection.noteLost(end.lost);
    throw lostWhileWorking(connection.name, end.lost);
  }
  if (end.exitCode !== 0) throw errorFromThere({ stderr, path: request.path, action: request.action });
  return stdout;
}
