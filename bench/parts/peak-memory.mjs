import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const GNU_TIME = "/usr/bin/time";
const PRELOAD = fileURLToPath(new URL("./peak-memory-preload.cjs", import.meta.url));

/** The most memory a Node program held while it ran, in bytes. */
export function peakMemory({ program, args, cwd, env }) {
  const folder = mkdtempSync(join(tmpdir(), "hermes-bench-"));
  const report = join(folder, "peak");
  try {
    // A child forked by this process would be charged with this process's own memory; GNU time is small.
    const wrapped = existsSync(GNU_TIME) && process.platform === "linux";
    const run = wrapped
      ? spawnSync(GNU_TIME, ["-f", "%M", "-o", report, program, ...args], { cwd, env, stdio: "ignore" })
      : spawnSync(program, ["--require", PRELOAD, ...args], {
          cwd,
          env: { ...env, HERMES_BENCH_PEAK: report },
          stdio: "ignore",
        });
    if (run.status !== 0) throw new Error(`${program} ${args.join(" ")} ended with exit code ${run.status}`);
    return Number(readFileSync(report, "utf8").trim()) * 1024;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
