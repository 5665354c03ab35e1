import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { rolldown } from "rolldown";
import { afterAll, expect, test } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "hermes-exit-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SCRIPT = `
import { createLocalEnvironment } from "./local.mjs";
const local = createLocalEnvironment();
local.exec({
  command: "echo $$; sleep 300 & echo $!; wait",
  cwd: "/", timeoutMs: 300_000, signal: new AbortController().signal,
  onChunk(chunk) {
    process.stdout.write(chunk);
    seen += chunk;
    if (seen.trim().split("\\n").length === 2) process.exit(0);
  },
});
let seen = "";
`;

test("a runtime that exits in the middle of a command takes the command with it", async () => {
  const entry = fileURLToPath(new URL("../../src/env/local.ts", import.meta.url));
  const bundle = await rolldown({ input: entry, platform: "node" });
  await bundle.write({ file: join(folder, "local.mjs"), format: "esm", codeSplitting: false });
  await bundle.close();
  await writeFile(join(folder, "main.mjs"), SCRIPT);
  const { stdout } = await promisify(execFile)(process.execPath, [join(folder, "main.mjs")], {
    timeout: 20_000,
  });
  const pids = stdout.trim().split("\n").map(Number);
  expect(pids).toHaveLength(2);
  const alive = () =>
    pids.filter((pid) => {
      try {
        process.kill(pid, 0);
        return true;
      } catch {
        return false;
      }
    });
  await expect.poll(alive, { timeout: 5_000 }).toEqual([]);
});
