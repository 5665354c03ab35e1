import { hash } from "node:crypto";
import { connect, createServer, type Server, type Socket } from "node:net";
import { ToolError } from "../../tool/errors.js";

const PATIENCE_MS = 30_000;

export type Release = () => void;

/**
 * Lets one process of this machine at a time put something at a path. The lock is a name that only one process
 * can listen on: it needs no file, and the system gives it back when its holder dies. Those who wait are connected
 * to the holder, so that they notice the end at once. Where there are no such names, nobody waits.
 */
export async function lockPath(path: string): Promise<Release> {
  const name = lockName(path);
  if (name === undefined) return () => undefined;
  const giveUpAt = performance.now() + PATIENCE_MS;
  for (;;) {
    const held = await listen(name);
    if (held !== "taken") return held;
    if (performance.now() > giveUpAt) throw isBusy(path);
    await releaseOf(name, giveUpAt - performance.now());
  }
}

/** Per user: others cannot write what is ours, and what is theirs we need not wait for. */
function lockName(path: string): string | undefined {
  const id = `hermes-write-${process.getuid?.() ?? 0}-${hash("sha1", path, "hex")}`;
  if (process.platform === "linux") return `\0${id}`;
  return process.platform === "win32" ? `\\\\?\\pipe\\${id}` : undefined;
}

function listen(name: string): Promise<Release | "taken"> {
  return new Promise((resolve) => {
    const waiting = new Set<Socket>();
    const server: Server = createServer((socket) => {
      waiting.add(socket);
      socket.on("error", () => undefined);
    });
    const release = () => {
      server.close();
      for (const socket of waiting) socket.destroy();
    };
    // Where sockets are forbidden, writing must go on without a lock.
    server.once("error", ({ code }: NodeJS.ErrnoException) =>
      resolve(code === "EADDRINUSE" ? "taken" : () => undefined),
    );
    server.listen({ path: name, exclusive: true }, () => resolve(release));
    server.unref();
  });
}

function releaseOf(name: string, patienceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(name);
    socket.setTimeout(patienceMs, () => socket.destroy());
    socket.on("error", () => undefined);
    socket.once("close", () => resolve());
    socket.resume();
  });
}

function isBusy(path: string): ToolError {
  return new ToolError(
    `Did not write ${path}: another process has been writing it for ${PATIENCE_MS / 1000} s.`,
    {
      code: "unavailable",
      hint: "Look what it does, and try again when it is done.",
      details: { path },
    },
  );
}
