import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { errorLine, hermes, hermesJson, json, linesOf, tempFolder } from "./hermes.js";

const home = tempFolder();

interface Envelope {
  readonly ok: boolean;
  readonly structured: unknown;
}

/** What arrived at the handler. */
async function received(words: readonly string[], stdin?: string): Promise<unknown> {
  const done = await hermes(["call", "echo_back", ...words, "--json"], {
    home,
    ...(stdin !== undefined && { stdin }),
  });
  return json<Envelope>(done).structured;
}

beforeAll(() => {
  mkdirSync(join(home, "tools"));
  writeFileSync(
    join(home, "tools", "echo-back.mjs"),
    `import { defineTool } from "hermes-tools";
     export default defineTool({
       name: "echo_back",
       description: "Give back what came in",
       parameters: {
         type: "object",
         properties: { text: { type: "string" }, count: { type: "integer" }, flag: { type: "boolean" }, list: { type: "array" } },
       },
       handler: (args) => args,
     });
     export const rude = defineTool({
       name: "rude",
       description: "Fails behind everybody's back",
       parameters: { type: "object" },
       handler: () => {
         Promise.reject(new Error("forgotten promise"));
         setTimeout(() => { throw new Error("forgotten timer"); }, 1);
         return new Promise((resolve) => setTimeout(resolve, 50, "done"));
       },
     });
     export const cyclic = defineTool({
       name: "cyclic",
       description: "Returns what JSON cannot hold",
       parameters: { type: "object" },
       handler: () => {
         const value = { big: 10n };
         value.self = value;
         return value;
       },
     });`,
  );
});

describe("arguments of hermes call", () => {
  it("takes key=value pairs and turns them into what the schema wants", async () => {
    expect(await received(["text=7", "count=7", "flag=true", "list=[1,2]"])).toEqual({
      text: "7",
      count: 7,
      flag: true,
      list: [1, 2],
    });
  });

  it("keeps everything after the first equals sign, and takes an empty value as empty text", async () => {
    expect(await received(["text=a=b==c"])).toEqual({ text: "a=b==c" });
    expect(await received(["text="])).toEqual({ text: "" });
  });

  it("takes one JSON object, from the command line or from standard input", async () => {
    expect(await received(['{"text":"x","count":2}'])).toEqual({ text: "x", count: 2 });
    expect(await received(["-"], '{"text":"from stdin"}\n')).toEqual({ text: "from stdin" });
  });

  it("refuses words it cannot read, and JSON that is no object, before anything runs", async () => {
    const word = await hermes(["call", "echo_back", "hello", "--json"], { home });
    expect(word.code).toBe(2);
    expect(errorLine(word)).toMatchObject({
      code: "bad_request",
      hint: expect.stringContaining("key=value"),
    });
    const list = await hermes(["call", "echo_back", "[1]", "--json"], { home });
    expect(list.code).toBe(2);
    expect(errorLine(list)).toMatchObject({ code: "invalid_arguments" });
  });
});

describe("hermes call", () => {
  it("resolves aliases and says which name was used", async () => {
    writeFileSync(join(home, "note.txt"), "hello\n");
    expect(await hermesJson(["call", "file_read", "path=note.txt"], { home })).toMatchObject({
      id: "call_1",
      name: "read_file",
      called_as: "file_read",
      ok: true,
      environment: "local",
      decision: { verdict: "allow" },
      truncated: false,
    });
    expect(await hermesJson(["call", "todo_list"], { home })).toMatchObject({ name: "todo", ok: false });
  });

  it("shows people the friendly form and programs the envelope", async () => {
    const { stdout } = await hermes(["call", "terminal", "command=printf hi"], { home });
    expect(stdout).toBe("hi\n");
    const envelope = await hermesJson(["call", "terminal", "command=printf hi"], { home });
    expect(envelope).toMatchObject({ structured: { output: "hi", exit_code: 0 } });
    expect(envelope).not.toHaveProperty("human");
  });

  it("with --dry-run decides and runs nothing", async () => {
    const cwd = tempFolder();
    const target = join(cwd, "never.txt");
    const dry = await hermes(["call", "write_file", `path=${target}`, "content=x", "--dry-run", "--json"], {
      home,
      cwd,
    });
    expect(json(dry)).toMatchObject({
      ok: true,
      args: { path: target, content: "x" },
      effects: [{ action: "file:write", resource: target }],
      decision: { verdict: "allow" },
    });
    expect(dry.code).toBe(0);
    expect(existsSync(target)).toBe(false);
    const bad = await hermes(["call", "write_file", "--dry-run", "--json"], { home });
    expect(bad.code).toBe(2);
    expect(json(bad)).toMatchObject({ ok: false, error: { code: "invalid_arguments" } });
  });

  it("with --jsonl streams events and ends with the result", async () => {
    const { stdout } = await hermes(["call", "sleep", "seconds=0", "--jsonl"], { home });
    const types = linesOf(stdout).map((line) => (JSON.parse(line) as { type: string }).type);
    expect(types).toEqual(["call.started", "call.finished", "result"]);
  });

  it("limits a session to the toolsets of -t, also when the tool is named by an alias", async () => {
    const inside = await hermes(["-t", "file,timing", "call", "sleep", "seconds=0"], { home });
    expect(inside.code).toBe(0);
    const outside = await hermes(["-t", "timing", "call", "file_read", "path=note.txt"], { home });
    expect(outside).toMatchObject({ code: 4, stdout: "" });
    expect(await hermesJson(["-t", "timing", "tools", "schema"], { home })).toHaveLength(1);
  });

  it("survives errors that a tool leaves behind, and says so", async () => {
    const done = await hermes(["call", "rude"], { home });
    expect(done).toMatchObject({ code: 0, stdout: "done\n" });
    expect(done.stderr).toContain("forgotten promise");
    expect(done.stderr).toContain("forgotten timer");
    expect(done.stderr).not.toMatch(/\n\s+at /);
  });

  it("gives a well-formed envelope for results that JSON cannot hold", async () => {
    const envelope = await hermesJson<{ ok: boolean; content: { text: string }[] }>(["call", "cyclic"], {
      home,
    });
    expect(envelope.ok).toBe(true);
    expect(envelope.content[0]?.text).toContain("10");
  });
});
