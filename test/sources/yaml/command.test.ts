import { mkdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { yamlRuntime } from "./setup.js";

/** A program that shows what it was really given. */
const SHOW = `[${process.execPath}, -e, "console.log(JSON.stringify({ args: process.argv.slice(1), cwd: process.cwd(), secret: process.env.SECRET_TOKEN ?? null, lang: process.env.LC_ALL ?? null }))"`;

function tool(lines: string): Record<string, string> {
  const indented = lines
    .split("\n")
    .map((line) => `    ${line}`)
    .join("\n");
  return { "c.yaml": `tools:\n  - name: show\n    description: Show it\n    type: command\n${indented}\n` };
}

describe("a command", () => {
  test("gets each value as one argument, whatever is in it", async () => {
    const { call } = await yamlRuntime(
      tool(
        `command: ${SHOW}, "--", "{{text}}", "n={{count}}", "{{files}}", ["--only", "{{missing}}"], "x{{missing}}"]
parse: json
parameters:
  - { name: text, type: string, required: true }
  - { name: count, type: integer, default: 2 }
  - { name: files, type: array, items: { type: string } }
  - { name: missing, type: string }`,
      ),
    );
    const text = "a b; rm -rf $HOME `id` 'q' \"d\"\n* -x";
    const done = await call("show", { text, files: ["one two", "-three"] });
    expect(done.structured).toMatchObject({ args: [text, "n=2", "one two", "-three"] });
  });

  test("is judged by the line that it comes to", async () => {
    const { runtime } = await yamlRuntime(
      tool(`command: [rm, -rf, --, "{{path}}"]\nparameters: [{ name: path, type: string, required: true }]`),
      { yolo: false },
    );
    const session = await runtime.openSession();
    const harmless = await session.explainCall({ name: "show", arguments: { path: "it's here" } });
    expect(harmless.effects).toEqual([
      { action: "terminal:execute", resource: "rm -rf -- 'it'\\''s here'", mode: "execute" },
    ]);
    const fatal = await session.explainCall({ name: "show", arguments: { path: "/" } });
    expect(fatal).toMatchObject({ ok: false, error: { code: "denied" } });
    session.close();
  });

  test("that reads a program from its input is judged by that program", async () => {
    const { call } = await yamlRuntime(
      tool(
        'command: [bash]\nstdin: "{{script}}"\nparameters: [{ name: script, type: string, required: true }]',
      ),
    );
    expect(await call("show", { script: "rm -rf /" })).toMatchObject({
      ok: false,
      error: { code: "denied" },
    });
    expect(await call("show", { script: "echo $((20 + 22))" })).toMatchObject({
      ok: true,
      content: [{ type: "text", text: "42\n" }],
    });
  });

  test("does not take a value for an option, unless the file allows it", async () => {
    const one = (more: string) =>
      tool(
        `command: [printf, "%s", "{{text}}"]\nparameters: [{ name: text, type: string, required: true${more} }]`,
      );
    const strict = await yamlRuntime(one(""));
    expect(await strict.call("show", { text: "--help" })).toMatchObject({
      ok: false,
      error: { code: "invalid_arguments", message: expect.stringContaining("allow_dash") },
    });
    const loose = await yamlRuntime(one(", allow_dash: true"));
    expect(await loose.call("show", { text: "--help" })).toMatchObject({ content: [{ text: "--help" }] });
  });

  test("gets variables by name, and what it prints of them is masked", async () => {
    const { call, cwd } = await yamlRuntime(
      tool(`command: ${SHOW}]\nparse: json\ncwd: sub\nenv: { SECRET_TOKEN: { env: MY_TOKEN }, LC_ALL: C }`),
      { variables: { MY_TOKEN: "tok-9876543210" } },
    );
    mkdirSync(join(cwd, "sub"));
    const done = await call("show");
    expect(done.structured).toMatchObject({
      cwd: join(realpathSync(cwd), "sub"),
      lang: "C",
      secret: "[REDACTED:MY_TOKEN]",
    });
  });

  test("is not ready while a variable is missing", async () => {
    const { runtime } = await yamlRuntime(tool("command: [env]\nenv: [MY_TOKEN]"));
    expect(await runtime.listTools()).toMatchObject([{ available: false, reason: "not set: MY_TOKEN" }]);
  });

  test("may print lines, and a part of JSON", async () => {
    const lines = await yamlRuntime(tool('command: [printf, "a\\nb\\n"]\nparse: lines'));
    expect((await lines.call("show")).structured).toEqual({ lines: ["a", "b"] });
    const part = await yamlRuntime(tool(`command: [echo, '{"a":{"b":[7]}}']\nparse: json\nselect: $.a`));
    expect((await part.call("show")).structured).toEqual({ b: [7] });
    const broken = await yamlRuntime(tool("command: [echo, nope]\nparse: json"));
    expect((await broken.call("show")).error?.message).toContain("not");
  });

  test("that fails says how, and exit codes that mean success are no failure", async () => {
    const failing = await yamlRuntime(tool("command: [bash, -c, 'echo why >&2; exit 3']"));
    expect((await failing.call("show")).error).toMatchObject({
      code: "failed",
      message: expect.stringContaining("exit code 3: why"),
    });
    const fine = await yamlRuntime(
      tool("command: [bash, -c, 'echo none; exit 1']\nsuccess_exit_codes: [0, 1]"),
    );
    expect(await fine.call("show")).toMatchObject({ ok: true, content: [{ text: "none\n" }] });
    const slow = await yamlRuntime(tool("command: [sleep, 30]\ntimeout_seconds: 0.2"));
    expect((await slow.call("show")).error).toMatchObject({ code: "timeout" });
  });
});
