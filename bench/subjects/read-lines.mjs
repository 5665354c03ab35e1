// Some lines from deep inside a file: by hand, and with the tool through a session.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { open as openFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { oneByOne, timedAfter } from "../operations.mjs";

const PIECE = 1024 * 1024;
const NEWLINE = 10;

/** `dist`: the build to measure, needed for `fresh` and `again`. */
export async function open({ file, offset, limit, dist }) {
  const check = (text) => {
    const lines = text.split("\n");
    const wanted = `${String(offset).padStart(9, "0")} x`;
    if (lines.length !== limit || !lines[0].includes(wanted)) throw new Error(`not these lines: ${lines[0]}`);
  };
  if (dist === undefined) {
    return { operations: { bare: oneByOne(async () => check(await bareLines({ file, offset, limit }))) } };
  }
  const { createRuntime } = await import(pathToFileURL(join(dist, "index.js")).href);
  const home = mkdtempSync(join(tmpdir(), "hermes-bench-"));
  const work = join(home, "work");
  mkdirSync(work);
  const runtime = await createRuntime({
    home,
    cwd: work,
    systemDir: join(home, "system"),
    userTools: false,
    journal: false,
    env: process.env,
  });
  const read = async (session) => {
    const result = await session.call({ name: "read_file", arguments: { path: file, offset, limit } });
    if (!result.ok) throw new Error(JSON.stringify(result).slice(0, 1_000));
    check(result.structured.content);
  };
  let last;
  const freshSession = async () => {
    await last?.close();
    last = await runtime.openSession();
    return last;
  };
  const lasting = await runtime.openSession();
  return {
    operations: {
      // A session that has never seen the file: nothing is known of where its lines are.
      fresh: timedAfter(freshSession, read),
      again: oneByOne(() => read(lasting)),
    },
    async close() {
      await runtime.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

async function bareLines({ file, offset, limit }) {
  const handle = await openFile(file);
  try {
    const piece = Buffer.allocUnsafe(PIECE);
    const kept = [];
    let line = 1;
    for (let position = 0; ; ) {
      const { bytesRead } = await handle.read(piece, 0, PIECE, position);
      if (bytesRead === 0) return Buffer.concat(kept).toString("utf8");
      position += bytesRead;
      const bytes = piece.subarray(0, bytesRead);
      let at = 0;
      while (line < offset) {
        const newline = bytes.indexOf(NEWLINE, at);
        if (newline === -1) break;
        line += 1;
        at = newline + 1;
      }
      if (line < offset) continue;
      const from = at;
      while (line < offset + limit) {
        const newline = bytes.indexOf(NEWLINE, at);
        if (newline === -1) break;
        line += 1;
        at = newline + 1;
      }
      const done = line === offset + limit;
      kept.push(Buffer.from(bytes.subarray(from, done ? at - 1 : bytesRead)));
      if (done) return Buffer.concat(kept).toString("utf8");
    }
  } finally {
    await handle.close();
  }
}
