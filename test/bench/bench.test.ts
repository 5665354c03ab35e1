import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "hermes-bench-test-"));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SMOKE_PARTS =
  "calls,journal,telemetry,scale,parallel,cold,terminal,memory-spawn,output,pty,agent-loop,first-token,prompt-prefix";

interface Results {
  readonly figures: readonly { id: string; limit: number; value: number | null; pass: boolean | null }[];
  readonly parts: Record<
    string,
    { microseconds?: Record<string, { median: number }>; milliseconds?: Record<string, { median: number }> }
  >;
}

function bench(...args: string[]) {
  // The peers are large and are no dependency of the product: the smoke test does without. `npm test` has built.
  return spawnSync(
    process.execPath,
    [join(root, "scripts/bench.mjs"), "--quick", "--without-peers", "--dist", join(root, "dist"), ...args],
    { cwd: root, encoding: "utf8" },
  );
}

describe("npm run bench", () => {
  it("measures the product in a quick run and leaves the published results alone", () => {
    const published = ["bench/results.json", "docs/performance.md", "docs/performance.svg"].map(contentOf);
    const out = join(folder, "results.json");
    // Parts that start engines, servers and trees of files are measured by the bench itself alone.
    const run = bench("--out", out, "--only", SMOKE_PARTS);
    expect(run.stderr).not.toMatch(/Error/);
    expect(run.status).toBe(0);
    const { parts, figures } = JSON.parse(readFileSync(out, "utf8")) as Results;
    const measured = Object.fromEntries(
      Object.entries(parts).map(([part, { microseconds, milliseconds }]) => [
        part,
        Object.keys({ ...microseconds, ...milliseconds }),
      ]),
    );
    expect(measured.calls).toEqual(["bare", "bare-text", "validated", "hermes", "hermes-text"]);
    expect(measured.journal).toContain("hermes-journal-8");
    expect(measured.scale).toEqual(
      expect.arrayContaining(["hermes-100", "rebuilt-as-text-100", "register-100"]),
    );
    expect(measured.parallel).toEqual(["bare", "hermes", "hermes-one-message"]);
    expect(measured.cold).toEqual(expect.arrayContaining(["node", "hermes tools list", "hermes call sleep"]));
    expect(measured.terminal).toEqual([
      "bare-spawn",
      "terminal-echo",
      "terminal-echo-unguarded",
      "terminal-echo-journal",
    ]);
    expect(measured.telemetry).toEqual(["terminal-true", "terminal-true-journal", "terminal-true-traced"]);
    expect(measured["memory-spawn"]).toContain("terminal-echo-1gb");
    expect(measured.output).toContain("environment-output-unicode");
    expect(measured.pty).toEqual(["bare-pty", "environment-pty", "terminal-pty"]);
    expect(measured["agent-loop"]).toEqual(["hermes-agent", "hermes-agent-memory"]);
    expect(measured["first-token"]).toContain("first-token-p95");
    expect(figures.find(({ id }) => id === "prompt-prefix")).toMatchObject({ value: 1, pass: true });
    expect(figures.find(({ id }) => id === "call-langchain")).toMatchObject({ value: null, pass: null });
    const version = figures.find(({ id }) => id === "cold-version");
    expect(version?.pass).toBe((version?.value ?? 0) <= (version?.limit ?? 0));
    expect(run.stdout).toContain("measured figures reached");
    expect(["bench/results.json", "docs/performance.md", "docs/performance.svg"].map(contentOf)).toEqual(
      published,
    );
  }, 240_000);

  it("names the parts it knows when it is asked for another", () => {
    const run = bench("--only", "calls,speed");
    expect(run.status).toBe(1);
    expect(run.stderr).toContain(
      "--only does not know speed; there are calls, journal, stats, telemetry, scale, parallel, cold, verdicts, terminal,",
    );
  });
});

function contentOf(path: string): string | undefined {
  try {
    return readFileSync(join(root, path), "utf8");
  } catch {
    return undefined;
  }
}
