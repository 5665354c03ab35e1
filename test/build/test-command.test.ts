import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type PackageCopy, packageCopy } from "./package-copy.js";

// Every test starts real builds or test runs.
vi.setConfig({ testTimeout: 120_000 });

let copy: PackageCopy;

beforeAll(async () => {
  copy = await packageCopy({
    "src/index.ts": "export const one = 1;",
    "vitest.config.ts": `export default { test: { include: ["test/**/*.test.ts"] } };`,
    "test/good.test.ts": `import { it } from "vitest"; it("holds", () => {});`,
    "test/mixed.test.ts": `import { describe, it } from "vitest";
      it("holds", () => {});
      it("breaks", () => { throw new Error("no"); });
      it("needs a program", ({ skip }) => skip("needs podman: apt install podman"));
      it("cannot run in CI", ({ skip }) => skip("[ci-cannot] needs a GPU"));
      it.todo("later");`,
    "test/unloadable.test.ts": `import "./missing.js";`,
  });
});

afterAll(() => copy[Symbol.asyncDispose]());

const lastLine = (text: string) => text.trimEnd().split("\n").at(-1);

describe("npm test", () => {
  it("ends with one line of counts and tells why tests were skipped", async () => {
    const { code, stdout } = await copy.node("scripts/test.mjs", "--suite-only");
    expect(code).toBe(1);
    expect(lastLine(stdout)).toBe("2 passed, 2 failed, 3 skipped");
    expect(stdout.match(/^\d+ passed, \d+ failed, \d+ skipped$/gm)).toHaveLength(1);
    expect(stdout).toContain(
      "skipped: test/mixed.test.ts > needs a program (needs podman: apt install podman)",
    );
  });

  it("names what failed again at the end, with what was thrown and where", async () => {
    const { stdout } = await copy.node("scripts/test.mjs", "--suite-only");
    const end = stdout.slice(stdout.lastIndexOf("skipped: "));
    expect(end).toMatch(/^failed: test\/mixed\.test\.ts > breaks\n {4}no\n {4}at .*mixed\.test\.ts:3$/m);
    expect(end).toMatch(/^failed: test\/unloadable\.test\.ts\n {4}.*missing\.js/m);
  });

  it("runs only the tests it is asked for", async () => {
    const { code, stdout } = await copy.node("scripts/test.mjs", "test/good.test.ts");
    expect(code).toBe(0);
    expect(lastLine(stdout)).toBe("1 passed, 0 failed, 0 skipped");
    const named = await copy.node("scripts/test.mjs", "test/mixed.test.ts", "-t", "holds");
    expect(lastLine(named.stdout)).toBe("1 passed, 0 failed, 0 skipped");
  });

  it("fails when no test matches", async () => {
    const { code, stdout } = await copy.node("scripts/test.mjs", "test/none.test.ts");
    expect(code).toBe(1);
    expect(lastLine(stdout)).toBe("0 passed, 1 failed, 0 skipped");
  });
});

describe("the sum of several runs", () => {
  const runOf = (counts: object) =>
    JSON.stringify({ node: "v1", passed: 3, failed: 0, skipped: 0, skips: [], ...counts });

  it("adds the counts and forgives only skips that CI cannot run", async () => {
    await copy.write({
      "a.json": runOf({ skipped: 1, skips: [{ test: "x", reason: "[ci-cannot] needs a GPU" }] }),
      "b.json": runOf({}),
      "broken.json": runOf({ failed: 1, failures: [{ test: "z", error: "why" }] }),
      "c.json": runOf({ skipped: 1, skips: [{ test: "y", reason: "needs podman" }] }),
    });
    const fine = await copy.node("scripts/ci-summary.mjs", "a.json", "b.json");
    expect([fine.code, lastLine(fine.stdout)]).toEqual([0, "6 passed, 0 failed, 1 skipped"]);
    const skipped = await copy.node("scripts/ci-summary.mjs", "a.json", "c.json");
    const broken = await copy.node("scripts/ci-summary.mjs", "broken.json");
    expect(broken.stdout).toContain("failed: z\n    why\n3 passed, 1 failed, 0 skipped");
    expect([skipped.code, lastLine(skipped.stdout)]).toEqual([1, "6 passed, 1 failed, 1 skipped"]);
    const lost = await copy.node("scripts/ci-summary.mjs", "b.json", "lost.json");
    expect([lost.code, lastLine(lost.stdout)]).toEqual([1, "3 passed, 1 failed, 0 skipped"]);
  });

  it("is fed by the test command through a file, which then prints no counts of its own", async () => {
    const summary = join(copy.root, "summary.json");
    process.env.HERMES_TEST_SUMMARY = summary;
    try {
      const { stdout } = await copy.node("scripts/test.mjs", "test/good.test.ts");
      expect(stdout).not.toMatch(/^\d+ passed, \d+ failed/m);
      expect(JSON.parse(readFileSync(summary, "utf8"))).toMatchObject({ node: process.version, passed: 1 });
    } finally {
      delete process.env.HERMES_TEST_SUMMARY;
    }
  });
});
