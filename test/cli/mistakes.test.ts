import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { OLDEST_NODE } from "../../src/base/node-version.js";
import { errorLine, hermes, root, tempFolder } from "./hermes.js";

const MISTYPED = [
  { what: "command", args: ["cal"], hint: "hermes call" },
  { what: "command below another", args: ["tools", "lst"], hint: "hermes tools list" },
  { what: "tool", args: ["call", "red_file"], hint: "read_file" },
  { what: "tool in tools info", args: ["tools", "info", "slep"], hint: "sleep" },
  { what: "tool in tools schema", args: ["tools", "schema", "slep"], hint: "sleep" },
  { what: "tool in tools explain", args: ["tools", "explain", "slep"], hint: "sleep" },
  { what: "tool in tools check", args: ["tools", "check", "slep"], hint: "sleep" },
  { what: "tool in tools disable", args: ["tools", "disable", "slep"], hint: "sleep" },
  { what: "toolset", args: ["toolsets", "flie"], hint: "file" },
  { what: "toolset of -t", args: ["-t", "flie", "tools"], hint: "file" },
  { what: "configuration key", args: ["config", "get", "permissions.profle"], hint: "permissions.profile" },
  { what: "key to set", args: ["config", "set", "log.levl", "warn"], hint: "log.level" },
  { what: "flag", args: ["tools", "--jsno"], hint: "--json" },
  { what: "profile", args: ["--profile", "defualt", "call", "sleep", "seconds=0"], hint: "default" },
] as const;

describe("a mistyped name is refused with what was probably meant", () => {
  it.each(MISTYPED)("$what", async ({ args, hint }) => {
    const [people, program] = await Promise.all([hermes(args), hermes([...args, "--json"])]);
    expect(people).toMatchObject({ code: 2, stdout: "" });
    expect(people.stderr).toMatch(/did you mean/i);
    expect(people.stderr).toContain(hint);
    expect(program.code).toBe(2);
    expect(errorLine(program).hint).toContain(hint);
  });
});

describe("what the parser refuses names the help that tells more", () => {
  it.each([
    { what: "an argument that is missing", args: ["cluster", "drain"], help: "hermes cluster drain --help" },
    { what: "an option that is missing", args: ["migrate"], help: "hermes migrate --help" },
    { what: "half a command", args: ["net"], help: "hermes net --help" },
  ])("$what", async ({ args, help }) => {
    const [people, program] = await Promise.all([hermes(args), hermes([...args, "--json"])]);
    expect([people.code, program.code]).toEqual([2, 2]);
    expect(people.stderr).toMatch(/--help/);
    expect(errorLine(program)).toMatchObject({
      message: expect.not.stringContaining("("),
      hint: `Run "${help}".`,
    });
  });
});

describe("a wrong use is one line of JSON with --json and words without", () => {
  it.each([
    { what: "no tool name", args: ["call"], says: "missing required argument 'name'" },
    { what: "a word too many", args: ["doctor", "now"], says: "Unexpected word: now" },
    {
      what: "an unknown schema format",
      args: ["tools", "schema", "--format", "xml"],
      says: "openai, anthropic",
    },
    {
      what: "a timeout that is no number",
      args: ["--timeout", "soon", "config", "get", "nope"],
      says: "unknown key",
    },
    {
      what: "days that are no number",
      args: ["stats", "--days", "x"],
      says: "--days must be a positive number",
    },
    { what: "an unknown shell", args: ["completion", "tcsh"], says: "bash, zsh, fish" },
    { what: "decode without tools", args: ["tools", "decode"], says: "--tools" },
    {
      what: "decode with a missing file",
      args: ["tools", "decode", "--tools", "/nope.json"],
      says: "cannot use",
    },
    { what: "a check that runs no time", args: ["tools", "check", "sleep", "--runs", "0"], says: "--runs" },
    { what: "a check of a missing file", args: ["tools", "check", "./nope.ts"], says: "does not exist" },
  ])("$what", async ({ args, says }) => {
    const [people, program] = await Promise.all([hermes(args), hermes([...args, "--json"])]);
    expect(people).toMatchObject({ code: 2, stdout: "" });
    expect(people.stderr).toContain(says);
    expect(people.stderr).not.toMatch(/\n\s+at /);
    expect(program).toMatchObject({ code: 2, stdout: "" });
    expect(errorLine(program).message).toContain(says);
  });

  it("a flag with a value it cannot have stops the command before it does anything", async () => {
    const done = await hermes(["--timeout", "-3", "call", "sleep", "seconds=0"]);
    expect(done).toMatchObject({ code: 2, stdout: "" });
    expect(done.stderr).toContain("--timeout");
  });

  it("a Node that is too old is named before anything fails because of it", async () => {
    const preload = join(tempFolder(), "old.cjs");
    writeFileSync(
      preload,
      'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.18.3" } });\n',
    );
    const old = { NODE_OPTIONS: `--require ${preload}` };
    const [people, program] = await Promise.all([
      hermes(["call", "sleep", "seconds=0"], { env: old }),
      hermes(["tools", "--json"], { env: old }),
    ]);
    expect(people).toMatchObject({
      code: 4,
      stdout: "",
      stderr: expect.stringContaining("20.18.3 is too old"),
    });
    expect(errorLine(program)).toMatchObject({ code: "unavailable", hint: expect.stringContaining("20.19") });
    const { engines } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      readonly engines: { readonly node: string };
    };
    expect(engines.node).toBe(`>=${OLDEST_NODE}`);
  });

  it("an environment that is not set up is unavailable", async () => {
    const done = await hermes(["--env", "ssh", "call", "sleep", "seconds=0", "--json"]);
    expect(done.code).toBe(4);
    expect(errorLine(done)).toMatchObject({ code: "unavailable" });
  });
});
