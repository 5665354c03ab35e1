// The local environment below the tools: programs started in a terminal, and bounded output.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { oneByOne } from "../operations.mjs";

/** `dist`: the build to measure. `file`: what `output` prints. */
export async function open({ dist, file }) {
  const { createLocalEnvironment } = await import(pathToFileURL(join(dist, "testing.js")).href);
  const folder = mkdtempSync(join(tmpdir(), "hermes-bench-"));
  const environment = createLocalEnvironment({ stateDir: folder });
  const inTerminal = async () => {
    let output = "";
    const program = await environment.spawn({
      command: "echo hi",
      cwd: folder,
      pty: { columns: 80, rows: 24 },
      onOutput(bytes) {
        output += Buffer.from(bytes).toString("utf8");
      },
    });
    const { exitCode } = await program.ended;
    if (exitCode !== 0 || !output.startsWith("hi")) throw new Error(`ended with ${exitCode}: ${output}`);
  };
  const bounded = async () => {
    const signal = new AbortController().signal;
    const result = await environment.exec({ command: `cat ${file}`, cwd: folder, timeoutMs: 60_000, signal });
    if (result.exitCode !== 0 || !result.truncated) throw new Error(`ended with ${result.exitCode}`);
  };
  return {
    operations: { pty: oneByOne(inTerminal), output: oneByOne(bounded) },
    async close() {
      await environment.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
