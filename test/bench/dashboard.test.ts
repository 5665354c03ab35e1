// @needs chromium
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));

it("the dashboard is measured in a real browser", { timeout: 180_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), "hermes-bench-test-"));
  try {
    const out = join(folder, "results.json");
    const args = [
      "--quick",
      "--without-peers",
      "--only",
      "dashboard",
      "--dist",
      join(root, "dist"),
      "--out",
      out,
    ];
    const run = spawnSync(process.execPath, [join(root, "scripts/bench.mjs"), ...args], {
      cwd: root,
      encoding: "utf8",
    });
    expect(run.stderr).not.toMatch(/Error/);
    expect(run.status).toBe(0);
    const { parts } = JSON.parse(readFileSync(out, "utf8")) as {
      parts: { dashboard: Record<"milliseconds" | "kilobytes", Record<string, { median: number }>> };
    };
    const { milliseconds, kilobytes } = parts.dashboard;
    expect(milliseconds["dashboard-interactive"]?.median).toBeGreaterThan(0);
    // The limits are those of the bench; what is far beyond them shows on a busy machine too.
    expect(milliseconds["dashboard-interactive"]?.median).toBeLessThan(3_000);
    for (const page of ["live", "stats"])
      expect(milliseconds[`dashboard-longest-task-${page}`]?.median, page).toBeLessThan(500);
    // Bytes do not depend on the machine.
    expect(kilobytes["dashboard-first-load"]?.median).toBeLessThan(250);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
