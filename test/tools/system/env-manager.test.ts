import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { setInDotenv, unsetInDotenv } from "../../../src/tools/system/env/dotenv-file.js";
import { testRuntime } from "../../support/runtime.js";

async function openEnv(options: Parameters<typeof testRuntime>[1] = {}) {
  const { runtime, cwd, home } = await testRuntime([], { builtins: true, ...options });
  const session = await runtime.openSession({});
  const call = async (name: string, args: object) => session.call({ name, arguments: args });
  return { call, env: (args: object) => call("env_manager", args), runtime, session, cwd, home };
}

describe("variables of the session", () => {
  test("are there for every command that follows, and gone when unset", async () => {
    const { env, call } = await openEnv();
    const value = 'it\'s $HOME `x`\n"two" ü';
    expect((await env({ action: "set", key: "GREETING", value })).structured).toMatchObject({
      success: true,
      scope: "session",
      value,
    });
    const printed = await call("terminal", { command: 'printf %s "$GREETING"' });
    expect(printed.structured).toMatchObject({ output: value });
    expect((await env({ action: "get", key: "GREETING" })).structured).toMatchObject({ value, exists: true });
    await env({ action: "unset", key: "GREETING" });
    expect((await env({ action: "get", key: "GREETING" })).structured).toMatchObject({
      value: null,
      exists: false,
    });
    expect((await call("terminal", { command: "echo [$GREETING]" })).structured).toMatchObject({
      output: "[]\n",
    });
  });

  test("list shows what commands exported, too, and nothing of the runtime's own", async () => {
    const { env, call } = await openEnv();
    await call("terminal", { command: "export FROM_SHELL=yes" });
    const { variables } = (await env({ action: "list" })).structured as { variables: Record<string, string> };
    expect(variables).toMatchObject({ FROM_SHELL: "yes" });
    expect(Object.keys(variables).filter((name) => name.startsWith("HERMES_"))).toEqual([]);
  });

  test("a secret reaches commands but no result and no record", async () => {
    const { env, call, session } = await openEnv();
    const value = "hunter2-and-more";
    const set = await env({ action: "set", key: "DB_PASSWORD", value });
    expect(set.structured).toMatchObject({ value: "***" });
    const shown = await call("terminal", { command: "echo $DB_PASSWORD | wc -c; echo $DB_PASSWORD" });
    expect(shown.structured).toMatchObject({ output: expect.stringMatching(/^17\n\[REDACTED/) });
    const listed = await env({ action: "list" });
    expect(JSON.stringify([set, shown, listed])).not.toContain(value);
    expect(session.scope.services.redact(`"value":"${value}"`)).not.toContain(value);
  });

  test("a secret is known before the call is written down", async () => {
    const { session } = await openEnv();
    const value = "s3cr3t-in-the-question";
    await session.explainCall({ name: "env_manager", arguments: { action: "set", key: "API_KEY", value } });
    expect(session.scope.services.redact(`{"key":"API_KEY","value":"${value}"}`)).not.toContain(value);
  });

  test.each([
    ["LD_PRELOAD", "/tmp/x.so"],
    ["NODE_OPTIONS", "--require /tmp/x.js"],
    ["BASH_ENV", "/tmp/x.sh"],
    ["PYTHONSTARTUP", "/tmp/x.py"],
    ["PATH", "/tmp/evil:/usr/bin"],
  ])("%s, which makes programs load code, is asked about like the command", async (key, value) => {
    const { env, call } = await openEnv();
    const set = await env({ action: "set", key, value });
    const typed = await call("terminal", { command: `export ${key}='${value}'` });
    expect(set.error?.code).toBe("denied");
    expect(set.decision?.rule).toBe(typed.decision?.rule);
  });

  test("a name that belongs to the shell is refused with words", async () => {
    const { env } = await openEnv();
    expect((await env({ action: "set", key: "UID", value: "5" })).error?.message).toMatch(/readonly/i);
    expect((await env({ action: "set", key: "SHLVL", value: "5" })).error).toMatchObject({
      code: "denied",
      message: expect.stringContaining("not carried on"),
    });
    expect((await env({ action: "set", key: "A.B", value: "5" })).error?.code).toBe("invalid_arguments");
    expect((await env({ action: "set", key: "A" })).error?.code).toBe("invalid_arguments");
  });
});

describe("a file of variables", () => {
  const BEFORE =
    "# top\r\nexport A=1 # one\r\n\r\nB=\"two words\"\r\nTOKEN='abc123456789'\r\nURL=redis://u:p4ssw0rd-x@h/0\r\n";

  test("keeps every other byte, and secrets stay hidden", async () => {
    const { env, cwd } = await openEnv();
    const file = join(cwd, "app.env");
    writeFileSync(file, BEFORE, { mode: 0o640 });
    const scope = { scope: "file", file: "app.env" };
    await env({ action: "set", key: "A", value: "new value", ...scope });
    await env({ action: "set", key: "C", value: "3", ...scope });
    expect(readFileSync(file, "utf8")).toBe(`${BEFORE.replace("A=1", "A='new value'")}C=3\r\n`);
    expect(statSync(file).mode & 0o777).toBe(0o640);
    expect((await env({ action: "list", ...scope })).structured).toMatchObject({
      variables: { A: "new value", B: "two words", C: "3", TOKEN: "***", URL: "redis://u:***@h/0" },
    });
    await env({ action: "unset", key: "A", ...scope });
    expect(readFileSync(file, "utf8")).toBe(`${BEFORE.replace("export A=1 # one\r\n", "")}C=3\r\n`);
  });

  test("a new one is only for its owner, and .env itself is asked about", async () => {
    const { env, cwd } = await openEnv();
    const made = await env({ action: "set", key: "A", value: "1", scope: "file", file: "sub/new.env" });
    expect(made.structured).toMatchObject({ changed: true });
    expect(statSync(join(cwd, "sub/new.env")).mode & 0o777).toBe(0o600);
    expect((await env({ action: "set", key: "A", value: "1", scope: "file" })).error?.code).toBe("denied");
    const missing = await env({ action: "get", key: "A", scope: "file", file: "none.env" });
    expect(missing.error?.code).toBe("not_found");
  });

  const name = fc.stringMatching(/^[A-Z_][A-Z0-9_]{0,5}$/);
  const value = fc.string({ unit: fc.constantFrom(..."aZ09 _#='\"`\\n$\t\nü:".split("")), maxLength: 12 });
  const line = fc.oneof(
    fc.constantFrom("", "# a comment", "   # A=1", "export  X = 5 # five"),
    fc.tuple(name, fc.stringMatching(/^[a-z0-9./:]{0,8}$/)).map(([key, text]) => `${key}=${text}`),
    fc.tuple(name, fc.stringMatching(/^[a-z #=]{0,8}$/)).map(([key, text]) => `${key}="${text}" # note`),
  );

  test("whatever is set arrives exactly and changes no other line", () => {
    fc.assert(
      fc.property(fc.array(line), fc.constantFrom("\n", "\r\n"), name, value, (lines, end, key, wanted) => {
        const before = lines.map((each) => each + end).join("");
        const after = setInDotenv(before, key, wanted);
        if (after === undefined)
          return wanted.includes("'") || wanted.includes("\n") || wanted.includes("\\");
        const was = parseEnv(before);
        expect(parseEnv(after)).toEqual({ ...was, [key]: wanted });
        const others = (text: string) =>
          text
            .split(end)
            .filter((each) => each !== "" && !new RegExp(`^(export )?\\s*${key}\\s*=`).test(each));
        if (!wanted.includes("\n")) expect(others(after)).toEqual(others(before));
        const gone = unsetInDotenv(after, key);
        if (gone !== undefined) {
          const { [key]: _, ...rest } = was;
          expect(parseEnv(gone)).toEqual(rest);
        }
        return true;
      }),
      { numRuns: 300 },
    );
  });
});
