// A thousand readers of `/v1/events`, of which a hundred never read, while 200 calls a second run: how late the others
// hear of a call, and how much memory the server ever held.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CALL, callsAtPace } from "../calls-at-pace.mjs";
import { post, startServer } from "../serve.mjs";
import { percentile, single } from "../statistics.mjs";

const TICK_MS = 50;
const LONGEST_SECONDS = 10;

export async function measureEvents({ dist, effort }) {
  const clients = Math.max(...effort.sizes) / 10;
  const seconds = Math.min(LONGEST_SECONDS, effort.rounds);
  const home = await mkdtemp(join(tmpdir(), "hermes-bench-"));
  const server = await startServer({ dist, home, sockets: 32 });
  const sockets = [];
  try {
    await post({ server, session: "warm", call: CALL });
    const lags = [];
    const readers = await Promise.all(
      Array.from({ length: clients }, async (_, index) => {
        const reads = index >= clients / 10;
        const reader = await listen(server, { reads, lags });
        sockets.push(reader.socket);
        return reader;
      }),
    );
    // What happened before everybody was there counts for nothing.
    lags.length = 0;
    const made = await callsAtPace(server, seconds);
    await until(() => readers.every(({ reads, heard }) => !reads || heard.calls >= made));
    return {
      clients,
      calls: made,
      milliseconds: {
        [`events-lag-${clients}`]: single(percentile(lags, 0.5)),
        [`events-lag-p99-${clients}`]: single(percentile(lags, 0.99)),
      },
      megabytes: { [`events-server-${clients}`]: single(await peakMegabytes(server.pid)) },
    };
  } finally {
    for (const socket of sockets) socket.destroy();
    await server.stop();
    await rm(home, { recursive: true, force: true });
  }
}

const FINISHED = Buffer.from('"type":"call.finished"');
const AT = Buffer.from('"at":');

/** By hand: a client that understands every event would be slower than the server, with 1,000 of them in one process. */
function listen({ port, token }, { reads, lags }) {
  const socket = connect({ host: "127.0.0.1", port });
  const heard = { calls: 0 };
  socket.on("error", () => undefined);
  socket.write(
    `GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\nAccept: text/event-stream\r\n\r\n`,
  );
  return new Promise((resolve, reject) => {
    const opened = { socket, heard, reads };
    socket.once("data", (head) => {
      if (!head.toString("latin1").startsWith("HTTP/1.1 200 ")) return reject(new Error(head.toString()));
      resolve(opened);
      if (!reads) return socket.pause();
      let rest = Buffer.alloc(0);
      socket.on("data", (piece) => {
        const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
        rest = Buffer.from(bytes.subarray(takeIn(bytes, { heard, lags })));
      });
    });
    socket.once("close", () => reject(new Error("a client was sent away before it heard anything")));
  });
}

/** Counts whole events and notes how late each call's end came; what is behind the last line waits for more. */
function takeIn(bytes, { heard, lags }) {
  const now = Date.now();
  const end = bytes.lastIndexOf("\n\n") + 2;
  if (end < 2) return 0;
  for (
    let from = bytes.indexOf(FINISHED);
    from >= 0 && from < end;
    from = bytes.indexOf(FINISHED, from + 1)
  ) {
    const at = bytes.indexOf(AT, from);
    heard.calls += 1;
    lags.push(now - Number(bytes.toString("latin1", at + AT.length, at + AT.length + 13)));
  }
  return end;
}

/** The most it ever held; nothing where the system does not say. */
async function peakMegabytes(pid) {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? Number.NaN) / 1024;
}

async function until(holds) {
  const patience = performance.now() + 30_000;
  while (!holds()) {
    if (performance.now() > patience) throw new Error("readers of events did not hear of every call");
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
}
