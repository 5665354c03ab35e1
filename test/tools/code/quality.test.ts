import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { readCargoText, readGoJson } from "../../../src/tools/code/test-run/read-reports.js";
import { testRuntime } from "../../support/runtime.js";

const repository = resolve(dirname(fileURLToPath(import.meta.url)), "../../..");

/** A project of its own whose programs are those installed here. */
async function project(
  files: Readonly<Record<string, string>>,
  options: { readonly modules?: boolean } = {},
) {
  const { runtime, cwd } = await testRuntime([], { builtins: true, journal: true });
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), text);
  }
  if (options.modules === true) linkModules(cwd);
  const session = await runtime.openSession();
  const call = async (name: string, given: Record<string, unknown>) => {
    const result = await session.call({ name, arguments: given });
    return { ...result, out: result.structured as Record<string, unknown> };
  };
  return { cwd, call, text: (name: string) => readFileSync(join(cwd, name), "utf8") };
}

/** In a folder of the project's own: programs keep what they like beside the packages, and ours cannot be changed. */
function linkModules(cwd: string): void {
  const [from, to] = [join(repository, "node_modules"), join(cwd, "node_modules")];
  mkdirSync(to);
  const names = readdirSync(from).filter((name) => name === ".bin" || !name.startsWith("."));
  for (const name of names) symlinkSync(join(from, name), join(to, name));
}

describe("code_lint", () => {
  it("runs the project's ESLint, and its mends are written by us", async () => {
    const { call, text } = await project(
      {
        "eslint.config.mjs":
          'export default [{ rules: { "prefer-const": "error", "no-undef": "error" } }];\n',
        "src/a.js": "let a = 1;\nmissing(a);\n",
        "src/b.js": "export const b = 2;\n",
      },
      { modules: true },
    );
    const found = await call("code_lint", { path: "src" });
    expect(found.out).toMatchObject({
      linter: "eslint",
      counts: { errors: 2, fixable: 1 },
      diagnostics: [
        { file: "src/a.js", line: 1, col: 5, rule: "prefer-const", severity: "error", fixable: true },
        { file: "src/a.js", line: 2, col: 1, rule: "no-undef", severity: "error" },
      ],
    });
    const fixed = await call("code_lint", { path: "src/a.js", fix: true });
    expect(fixed.out).toMatchObject({ fixed_files: ["src/a.js"], counts: { errors: 1 } });
    expect(text("src/a.js")).toBe("const a = 1;\nmissing(a);\n");
  });

  it("runs the project's Biome", async () => {
    const { call, text } = await project(
      { "biome.json": "{}", "a.ts": "let a = 1;\ndebugger;\nexport { a };\n" },
      { modules: true },
    );
    const { out } = await call("code_lint", { path: "a.ts", fix: true });
    expect(out).toMatchObject({ linter: "biome", fixed_files: ["a.ts"] });
    expect(out.diagnostics).toMatchObject([{ file: "a.ts", line: 2, rule: "lint/suspicious/noDebugger" }]);
    expect(text("a.ts")).toBe("const a = 1;\ndebugger;\nexport { a };\n");
  });

  it("says what a broken set-up says", async () => {
    const { call } = await project(
      { "eslint.config.mjs": "export default [{", "a.js": "1;\n" },
      { modules: true },
    );
    const { error } = await call("code_lint", { path: "a.js" });
    expect(error?.message).toMatch(/eslint ended with 2 .*SyntaxError/s);
  });

  it("mends Python with the bundled rules, in a file and as text", async () => {
    const { call, text } = await project({ "a.py": "import os\nimport sys\n\nprint(f'x')\n" });
    const { out } = await call("code_lint", { path: ".", fix: true });
    expect(out).toMatchObject({
      linter: "ruff (bundled)",
      fixed_files: ["a.py"],
      counts: { errors: 0, warnings: 0 },
    });
    expect(text("a.py")).toBe("\nprint('x')\n");
    const given = await call("code_lint", { code: "import os\n", language: "py", fix: true });
    expect(given.out).toMatchObject({ fixed_code: "", diagnostics: [] });
  });

  it.each([
    ["typescript", "const a: = 1;\n", 1],
    ["javascript", "const ok = 1;\nlet x = ;\n", 2],
    ["json", '{"a": 1,\n "b": }', 2],
    ["yaml", "a: 1\nb: [1, 2\nc: 3\n", 3],
    ["python", "def f(:\n  pass\n", 1],
  ])("finds broken %s without any set-up", async (language, code, line) => {
    const { call } = await project({});
    const { out } = await call("code_lint", { code, language });
    const [first] = out.diagnostics as readonly { readonly line: number; readonly severity: string }[];
    expect(first).toMatchObject({ severity: "error", line });
  });

  it("asks for what is missing", async () => {
    const { call } = await project({ "a.bin": "\0\0" });
    expect((await call("code_lint", {})).error?.code).toBe("invalid_arguments");
    expect((await call("code_lint", { code: "x" })).error?.message).toMatch(/language/);
    expect((await call("code_lint", { code: "x", language: "klingon" })).error?.hint).toMatch(/python/);
    expect((await call("code_lint", { path: "nowhere.py" })).error?.code).toBe("not_found");
    expect((await call("code_lint", { path: "a.bin" })).error?.message).toMatch(/nothing here/i);
  });
});

describe("code_format", () => {
  it("honours the project's settings, with its own formatter or the bundled one", async () => {
    const biome = await project(
      { "biome.json": '{"formatter":{"indentStyle":"space","indentWidth":4}}', "a.js": "if (a) {b()}\n" },
      { modules: true },
    );
    expect((await biome.call("code_format", { path: "a.js" })).out).toMatchObject({
      formatter: "biome",
      changed: true,
    });
    expect(biome.text("a.js")).toBe("if (a) {\n    b();\n}\n");
    const settings = await project({
      ".prettierrc": "semi: false\nsingleQuote: true\n",
      "b.ts": 'let x = "y";\n',
    });
    const { out } = await settings.call("code_format", { path: "." });
    expect(out).toMatchObject({ formatter: expect.stringMatching(/^prettier/), files_changed: ["b.ts"] });
    expect(settings.text("b.ts")).toBe("let x = 'y'\n");
    expect((await settings.call("code_format", { path: "." })).out).toMatchObject({
      changed: false,
      diff: "",
    });
  });

  it("check changes nothing and shows the difference", async () => {
    const { call, text } = await project({ "a.py": "x=1\n" });
    const { out } = await call("code_format", { path: "a.py", check: true });
    expect(out).toMatchObject({ changed: true, diff: expect.stringContaining("+x = 1") });
    expect(text("a.py")).toBe("x=1\n");
  });

  it("leaves a file that it cannot read as it is, and formats the others", async () => {
    const { call, text } = await project({ "bad.js": "let = ;\n", "good.js": "let a=1\n" });
    const { out } = await call("code_format", { path: "." });
    expect(out).toMatchObject({ files_changed: ["good.js"], failed: [{ file: "bad.js" }] });
    expect([text("bad.js"), text("good.js")]).toEqual(["let = ;\n", "let a = 1;\n"]);
    expect((await call("code_format", { path: "bad.js" })).error?.message).toMatch(/cannot be formatted/);
  });
});

describe("code_test", () => {
  it("runs Vitest and says where a test failed", async () => {
    const { call } = await project(
      {
        "package.json": '{"type":"module","devDependencies":{"vitest":"*"}}',
        "vitest.config.mjs": 'export default { test: { cache: false, include: ["*.spec.js"] } };\n',
        "sum.spec.js":
          'import { expect, it } from "vitest";\nit("adds", () => expect(1 + 1).toBe(2));\n' +
          'it("is wrong", () => expect(1 + 1).toBe(3));\nit.skip("later", () => {});\n',
      },
      { modules: true },
    );
    const { out } = await call("code_test", { path: "." });
    expect(out).toMatchObject({
      framework: "vitest",
      passed: 1,
      failed: 1,
      skipped: 1,
      all_passed: false,
      failures: [
        { name: "is wrong", file: "sum.spec.js", message: expect.stringContaining("expected 2 to be 3") },
      ],
    });
    const filtered = await call("code_test", { path: "sum.spec.js", filter: "adds" });
    expect(filtered.out).toMatchObject({ passed: 1, failed: 0, all_passed: true });
  });

  it("runs pytest", async ({ skip }) => {
    if (!existsSync("/usr/lib/python3/dist-packages/pytest"))
      skip("needs pytest: apt-get install python3-pytest");
    const { call } = await project({
      "test_sum.py":
        "import pytest\n\ndef test_adds():\n    assert 1 + 1 == 2\n\n" +
        "def test_wrong():\n    assert 1 + 1 == 3\n\n@pytest.mark.skip\ndef test_later():\n    pass\n",
    });
    const { out } = await call("code_test", {});
    expect(out).toMatchObject({ framework: "pytest", passed: 1, failed: 1, skipped: 1 });
    expect(out.failures).toMatchObject([
      {
        name: "test_sum::test_wrong",
        file: "test_sum.py",
        message: expect.stringContaining("assert (1 + 1) == 3"),
      },
    ]);
    expect((await call("code_test", { path: "test_sum.py", filter: "adds" })).out).toMatchObject({
      passed: 1,
      failed: 0,
    });
  });

  it("says when there are no tests, and when they cannot even start", async () => {
    const empty = await project({ "readme.md": "nothing\n" });
    expect((await empty.call("code_test", {})).error?.code).toBe("not_found");
    const broken = await project(
      { "package.json": '{"devDependencies":{"vitest":"*"}}', "vitest.config.mjs": "export default {" },
      { modules: true },
    );
    expect((await broken.call("code_test", {})).error?.message).toMatch(
      /vitest ended with 1 and wrote no report/,
    );
  });

  it("is judged like a command: nobody to ask, nothing run", async () => {
    const { runtime } = await testRuntime([], { builtins: true });
    const session = await runtime.openSession({ profile: "readonly_research" });
    expect((await session.call({ name: "code_test", arguments: {} })).error?.code).toBe("denied");
  });

  it("reads what go and cargo print", () => {
    const go = [
      { Action: "run", Package: "p", Test: "TestA" },
      { Action: "pass", Package: "p", Test: "TestA" },
      { Action: "output", Package: "p", Test: "TestB", Output: "want 3\n" },
      { Action: "fail", Package: "p", Test: "TestB" },
      { Action: "skip", Package: "p", Test: "TestC" },
      { Action: "fail", Package: "p" },
    ];
    expect(readGoJson(go.map((line) => JSON.stringify(line)).join("\n"))).toEqual({
      passed: 1,
      failed: 1,
      skipped: 1,
      failures: [{ name: "p TestB", message: "want 3" }],
    });
    const cargo =
      "running 2 tests\ntest a ... ok\ntest b ... FAILED\n\nfailures:\n\n---- b stdout ----\nthread 'b' panicked\n\n\nfailures:\n    b\n\n" +
      "test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured\n";
    expect(readCargoText(cargo)).toMatchObject({ passed: 1, failed: 1, failures: [{ name: "b" }] });
  });
});
