import type { Connection } from "./connection.js";
import { lostWhileWorking } from "./remote-error.js";
import { errorFromThere } from "./there-errors.js";
import type { TransportEnd, TransportProcess } from "./transport.js";

/** What may wait here before the other side is made to wait. */
const MOST_WAITING_BYTES = 4 * 1024 * 1024;
const MAX_STDERR = 16_384;

export interface StreamThere {
  readonly connection: Connection;
  readonly script: string;
  readonly args: readonly string[];
  /** For errors: what was being done, to what. */
  readonly path: string;
  readonly action: string;
}

/** What a script there prints, in order and as fast as it is taken. */
export async function* streamThere(request: StreamThere): AsyncGenerator<Uint8Array> {
  const { connection, path } = request;
  await connection.ready();
  const waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  let paused = false;
  let stderr = "";
  let end: TransportEnd | undefined;
  let wake = () => {};
  let process: TransportProcess | undefined;
  const pause = (wanted: boolean) => {
    if (paused === wanted || process === undefined) return;
    paused = wanted;
    process.pauseOutput(wanted);
  };
  process = await connection.transport.start({
    argv: ["sh", "-c", request.script, "sh", ...request.args],
    onStdout: (bytes) => {
      waiting.push(bytes);
      waitingBytes += bytes.byteLength;
      if (waitingBytes > MOST_WAITING_BYTES) pause(true);
      wake();
    },
    onStderr: (bytes) => {
      if (stderr.length < MAX_STDERR) stderr += Buffer.from(bytes).toString();
    },
  });
  void process.ended.then((how) => {
    end = how;
    wake();
  });
  try {
    for (;;) {
      const next = waiting.shift();
      if (next !== undefined) {
        waitingBytes -= next.byteLength;
        if (waitingBytes <= MOST_WAITING_BYTES / 2) pause(false);
        yield next;
      } else if (end !== undefined) {
        break;
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    if (end === undefined) process.abandon();
  }
  if ("lost" in end) {
    connection.noteLost(end.lost);
    throw lostWhileWorking(connection.name, end.lost);
  }
  if (end.exitCode !== 0) throw errorFromThere({ stderr, path, action: request.action });
}
