import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type PackageCopy, packageCopy, ROOT } from "./package-copy.js";

// Every test starts real builds or test runs.
vi.setConfig({ testTimeout: 120_000 });

let copy: PackageCopy;
/** One run of all quick tests, which several tests look at. */
let whole: Awaited<ReturnType<PackageCopy["node"]>>;

beforeAll(async () => {
  copy = await packageCopy({
    "src/index.ts": "export const one = 1;",
    "vitest.config.ts": readFileSync(join(ROOT, "vitest.config.ts"), "utf8"),
    "test/needs.json": `{ "no-such-program": "no-such-package" }`,
    "test/good.test.ts": `import { it } from "vitest"; it("holds", () => {});`,
    "test/mixed.test.ts": `import { describe, it } from "vitest";
      it("holds", () => {});
      it("breaks", () => { throw new Error("no"); });
      it("needs a program", ({ skip }) => skip("needs podman: apt install podman"));
      it("needs it too", ({ skip }) => skip("needs podman: apt install podman"));
      it("cannot run in CI", ({ skip }) => skip("[ci-cannot] needs a GPU"));
      it.todo("later");`,
    "test/unloadable.test.ts": `import "./missing.js";`,
    "test/needy.test.ts": `// @needs no-such-program\nimport { it } from "vitest"; throw new Error("set-up ran");`,
    "test/docker/slow.test.ts": `import { it } from "vitest"; it("takes long", () => {});`,
  });
  whole = await copy.node("scripts/test.mjs", "--suite-only");
});

afterAll(() => copy[Symbol.asyncDispose]());

const lastLine = (text: string) => text.trimEnd().split("\n").at(-1);

describe("npm test", () => {
  it("ends with one line of counts and tells why tests were skipped", () => {
    const { code, stdout } = whole;
    expect(code).toBe(1);
    expect(lastLine(stdout)).toBe("2 passed, 2 failed, 5 skipped");
    expect(stdout.match(/^\d+ passed, \d+ failed, \d+ skipped$/gm)).toHaveLength(1);
    expect(stdout).toContain(
      "skipped: needs podman: apt install podman (test/mixed.test.ts > needs a program and 1 more)\n",
    );
  });

  it("leaves a file out whole that needs a program, and says what to install", async () => {
    const { code, stdout } = await copy.node("scripts/test.mjs", "test/needy.test.ts", "test/good.test.ts");
    expect(stdout).toContain(
      "skipped: not installed: no-such-program: apt-get install no-such-package (test/needy.test.ts)\n",
    );
    expect([code, lastLine(stdout)]).toEqual([0, "1 passed, 0 failed, 1 skipped"]);
  });

  it("leaves the slow rest to the full run", async () => {
    const { stdout } = await copy.node("scripts/test.mjs", "--full");
    expect(stdout).toContain("test/docker/slow.test.ts");
    expect(lastLine(stdout)).toBe("1 passed, 0 failed, 0 skipped");
  });

  it("leaves out on a second Node what is the same on all of them", async () => {
    await copy.write({ "test/shell/same.test.ts": `import { it } from "vitest"; it("computes", () => {});` });
    const { stdout } = await copy.node("scripts/test.mjs", "--second-node");
    expect(stdout).toContain("test/good.test.ts");
    expect(stdout).not.toMatch(/shell\/same|docker\/slow/);
    await rm(join(copy.root, "test/shell"), { recursive: true });
  });

  it("runs what failed once more, alone, and forgives three that pass then", async () => {
    const unstable = (
      count: number,
    ) => `import { describe, it } from "vitest"; import { existsSync, writeFileSync } from "node:fs";
      for (const name of ${JSON.stringify(["a", "b", "c (d)", "e"].slice(0, count))}) describe("suite of", () => it("test " + name, () => {
        const mark = ${JSON.stringify(join(copy.root, "seen-"))} + ${count} + name;
        if (existsSync(mark)) return;
        writeFileSync(mark, "");
        throw new Error("not yet");
      }));`;
    await copy.write({ "test/three.test.ts": unstable(3), "test/four.test.ts": unstable(4) });
    const three = await copy.node("scripts/test.mjs", "test/three.test.ts");
    expect(three.stdout).toMatch(
      /^unstable: test\/three\.test\.ts > suite of > test c \(d\)\n {4}not yet\n(?: .*\n)* {4}then: passed alone/m,
    );
    expect([three.code, lastLine(three.stdout)]).toEqual([0, "3 passed, 0 failed, 0 skipped"]);
    const four = await copy.node("scripts/test.mjs", "test/four.test.ts");
    expect([four.code, lastLine(four.stdout)]).toEqual([1, "4 passed, 0 failed, 0 skipped"]);
    expect(four.stdout).toContain("4 unstable tests; a run fails above 3\n");
    await rm(join(copy.root, "test/three.test.ts"));
    await rm(join(copy.root, "test/four.test.ts"));
  });

  it("says what each suite cost", async () => {
    await copy.write({
      "test/slow/wait.test.ts": `import { it } from "vitest"; it("waits", () => new Promise((done) => setTimeout(done, 2_100)));`,
    });
    const { stdout } = await copy.node("scripts/test.mjs", "test/slow/wait.test.ts");
    expect(stdout).toMatch(/^ +2\.\d +1 +1 {2}test\/slow$/m);
    await rm(join(copy.root, "test/slow/wait.test.ts"));
  });

  it("names what failed again at the end, with what was thrown and where", () => {
    const end = whole.stdout.slice(whole.stdout.lastIndexOf("skipped: "));
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
