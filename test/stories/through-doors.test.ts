import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DOORS } from "./doors.js";

const TEST_FILE = `import { test } from "node:test";
import assert from "node:assert/strict";
import { add } from "./add.mjs";
test("adds", () => assert.equal(add(2, 3), 5));
`;

const remove = (id: string, folder: string) => ({
  id,
  name: "terminal",
  arguments: { command: `rm -rf ${folder}` },
});

describe.each(DOORS)("through %s", (_, open) => {
  it("researches something and writes a file", async () => {
    const { say, cwd, model } = await open({
      steps: [
        { calls: [{ id: "s", name: "web_search", arguments: { query: "llama wool" } }] },
        {
          when: { last: "softer than sheep" },
          calls: [{ id: "w", name: "write_file", arguments: { path: "llamas.md", content: "# Llamas\n" } }],
        },
        { text: "It is in llamas.md." },
      ],
      flags: { "web.search_engine": "local" },
    });
    writeFileSync(join(cwd, "animals.txt"), "The wool of a llama is softer than sheep wool.\n");
    const told = await say("Find out about llama wool and write it down.");
    expect(model.complaints).toEqual([]);
    expect(told).toMatchObject({
      stop: "end",
      text: expect.stringContaining("It is in llamas.md."),
      tool_calls: [
        { id: "s", ok: true },
        { id: "w", ok: true },
      ],
    });
    expect(readFileSync(join(cwd, "llamas.md"), "utf8")).toBe("# Llamas\n");
  });

  it("edits, tests, and mends what the test found", async () => {
    const test = (id: string) => ({
      id,
      name: "terminal",
      arguments: { command: "node --test --test-reporter=tap add.test.mjs" },
    });
    const { say, cwd, model } = await open({
      steps: [
        { calls: [test("t1")] },
        {
          when: { last: "not ok" },
          calls: [
            {
              id: "p",
              name: "patch",
              arguments: { path: "add.mjs", old_string: "a - b", new_string: "a + b" },
            },
          ],
        },
        { calls: [test("t2")] },
        { when: { last: "# fail 0" }, text: "The test passes now." },
      ],
    });
    writeFileSync(join(cwd, "add.mjs"), "export const add = (a, b) => a - b;\n");
    writeFileSync(join(cwd, "add.test.mjs"), TEST_FILE);
    const told = await say("Mend add.mjs until its test passes.");
    expect(model.complaints).toEqual([]);
    expect(told.text).toContain("The test passes now.");
    expect(readFileSync(join(cwd, "add.mjs"), "utf8")).toContain("a + b");
  });

  it("hands work to three children and puts together what they say", async () => {
    const tasks = ["north", "south", "west"].map((part) => ({ goal: `Count the trees in the ${part}.` }));
    const { say, model } = await open({
      steps: [
        {
          when: { system: "You are Hermes" },
          calls: [{ id: "d", name: "delegate_task", arguments: { tasks } }],
        },
        { when: { last: "the north" }, text: "12 trees in the north." },
        { when: { last: "the south" }, text: "7 trees in the south." },
        { when: { last: "the west" }, text: "None in the west." },
        { when: { system: "You are Hermes", last: "None in the west" }, text: "19 trees." },
      ],
    });
    const told = await say("How many trees are there?");
    expect(model.complaints).toEqual([]);
    expect(told).toMatchObject({ text: "19 trees.", tool_calls: [{ id: "d", ok: true }] });
    const children = model.requests.filter(({ messages }) => messages[0]?.text.includes("another agent"));
    expect(children).toHaveLength(3);
    for (const { tools } of children) {
      expect(tools).not.toContain("delegate_task");
      expect(tools).not.toContain("memory");
    }
  });

  it("asks before what is dangerous; a no with its reason reaches the model, which then asks for less", async () => {
    const asked: string[] = [];
    const { say, cwd, model } = await open({
      steps: [
        { calls: [remove("all", "build")] },
        { when: { last: "only the cache" }, calls: [remove("less", "build/cache")] },
        { text: "Only the cache is gone." },
      ],
      person: (what) => {
        asked.push(what);
        return what.includes("cache")
          ? { answer: "once" }
          : { answer: "deny", reason: "only the cache, please" };
      },
    });
    mkdirSync(join(cwd, "build", "cache"), { recursive: true });
    const told = await say("Make room.");
    expect(model.complaints).toEqual([]);
    expect(asked).toEqual([
      expect.stringContaining("rm -rf build"),
      expect.stringContaining("rm -rf build/cache"),
    ]);
    expect(told.tool_calls).toMatchObject([
      { id: "all", ok: false, error: { code: "denied" } },
      { id: "less", ok: true },
    ]);
    expect([existsSync(join(cwd, "build")), existsSync(join(cwd, "build", "cache"))]).toEqual([true, false]);
  });

  it("finds a tool that it was not told of, and calls it", async () => {
    const { say, model } = await open({
      steps: [
        {
          calls: [
            {
              id: "f",
              name: "tool_search",
              arguments: { query: "operating system and memory of this machine" },
            },
          ],
        },
        {
          when: { last: "system_info" },
          calls: [{ id: "c", name: "tool_call", arguments: { name: "system_info", arguments: {} } }],
        },
        { when: { last: process.platform }, text: "I see." },
      ],
      flags: { "tools.tool_search.enabled": "on" },
    });
    const told = await say("What machine is this?");
    expect(model.complaints).toEqual([]);
    expect(told).toMatchObject({ text: "I see.", tool_calls: [{ ok: true }, { ok: true }] });
    expect(model.requests[0]?.tools).not.toContain("system_info");
  });

  it("goes on when the conversation grew too long for the model, and what was asked last stays", async () => {
    const long = `Remember the word quagga. ${"And so on. ".repeat(400)}`;
    const { say, model } = await open({
      steps: [
        { when: { tools: false }, repeat: "always", text: "The person wants the word quagga remembered." },
        { when: { last: "quagga" }, text: "I will.", usage: { input: 1_500, output: 10 } },
        { when: { last: "more" }, text: "Yes.", usage: { input: 3_900, output: 10 } },
        { when: { last: "Which word" }, text: "Quagga.", usage: { input: 900, output: 10 } },
      ],
      flags: { "model.context_tokens": 4_096 },
    });
    await say(long);
    await say(`more ${"words ".repeat(900)}`);
    const told = await say("Which word was it?");
    expect(model.complaints).toEqual([]);
    expect(told).toMatchObject({ stop: "end", text: "Quagga." });
    const last = model.requests.at(-1)?.messages ?? [];
    expect(last.at(-1)?.text).toContain("Which word was it?");
    expect(JSON.stringify(last)).toContain("wants the word quagga remembered");
    // The person's last words are kept, but not without end.
    expect(JSON.stringify(last).split("And so on.").length).toBeLessThan(250);
  });

  it("runs nothing of a call that broke off, and says what is wrong with unknown tools and bad arguments", async () => {
    const { say, model, cwd } = await open({
      steps: [
        {
          calls: [
            { id: "x", name: "write_file", arguments: { path: "half.txt", content: "half" } },
            { id: "j", name: "write_file", arguments: '{"path": "half.txt", "content": "ha' },
          ],
        },
        {
          calls: [
            { id: "u", name: "summon_dragon", arguments: { size: "large" } },
            { id: "n", name: "read_file", arguments: { paht: 7 } },
            { id: "s", name: "read_file", arguments: '"just words"' },
          ],
        },
        { calls: [{ id: "r", name: "read_file", arguments: { path: "a.txt" } }] },
        { when: { last: "plain words" }, text: "Now I can read it." },
      ],
    });
    writeFileSync(join(cwd, "a.txt"), "plain words\n");
    const told = await say("Read a.txt.");
    expect(model.complaints).toEqual([]);
    expect(existsSync(join(cwd, "half.txt"))).toBe(false);
    expect(told.text).toContain("Now I can read it.");
    expect(told.tool_calls.map(({ id, ok, error }) => [id, ok, error?.code])).toEqual([
      ["u", false, "not_found"],
      ["n", false, "invalid_arguments"],
      ["s", false, "invalid_arguments"],
      ["r", true, undefined],
    ]);
  });

  it("ends an endless loop, and the conversation can go on", async () => {
    const { say, model } = await open({
      steps: [
        { when: { last: "something else" }, text: "Gladly." },
        { calls: [{ name: "read_file", arguments: { path: "nothing-here.txt" } }], repeat: "always" },
      ],
    });
    expect(await say("go round")).toMatchObject({ stop: "error" });
    expect(model.requests.length).toBeLessThan(6);
    expect(await say("something else")).toMatchObject({ stop: "end", text: "Gladly." });
    expect(model.complaints).toEqual([]);
  });

  it("answers each of 200 calls at once, in their order", async () => {
    const calls = Array.from({ length: 200 }, (_, at) => ({
      id: `c${at}`,
      name: "read_file",
      arguments: { path: "a.txt", offset: at + 1, limit: 1 },
    }));
    const { say, model, cwd } = await open({ steps: [{ calls }, { text: "All read." }] });
    writeFileSync(join(cwd, "a.txt"), Array.from({ length: 200 }, (_, at) => `line ${at}\n`).join(""));
    const told = await say("Read every line on its own.");
    expect(model.complaints).toEqual([]);
    expect(told.text).toContain("All read.");
    expect(told.tool_calls).toHaveLength(200);
    const answered = model.requests[1]?.messages.flatMap(({ answers }) => answers ?? []);
    expect(answered).toEqual(calls.map(({ id }) => id));
  });
});
