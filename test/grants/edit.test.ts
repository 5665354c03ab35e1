import { readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { addGrants, removeGrants } from "../../src/config/edit-grants.js";
import { entryName } from "../../src/config/grant-entry.js";
import type { AllowlistEntry, GrantEntry } from "../../src/config/types.js";
import { tempDir } from "../support/runtime.js";

const ENTRY: GrantEntry = { command: "rm -rf build/*", scope: "/srv/app", added: "2030-01-01T10:00:00Z" };
const same = (a: AllowlistEntry, b: AllowlistEntry) => entryName(a) === entryName(b);

function homeWith(text: string): { home: string; file: string; read(): string } {
  const home = tempDir();
  const file = join(home, "config.yaml");
  writeFileSync(file, text);
  return { home, file, read: () => readFileSync(file, "utf8") };
}

async function add(home: string, ...entries: GrantEntry[]) {
  return addGrants({ home, entries, covers: same });
}

async function remove(home: string, ...entries: AllowlistEntry[]) {
  return removeGrants({ home, chosen: (written) => entries.some((entry) => same(written, entry)) });
}

const BLOCK = `# my settings
approvals:   # who decides
    mode:   manual

command_allowlist:  # approved by hand
  # cleaning up
  - rm -rf dist    # build products
  - 'git push *'
  # a grant
  - command: rm -rf "node_modules"
    expires: 2031-01-01   # long enough
  - |
    rm -rf a
  # the end
log: {level:   info}
`;

describe("adding a grant to config.yaml", () => {
  it.each([
    ["a block list", BLOCK, "  # the end\n", 4],
    ["a list without indentation", "command_allowlist:\n- a\n- b # c\nlog: { level: info }\n", "log:", 2],
    ["a list at the end without a line break", "x: 1\ncommand_allowlist:\n  - a", "", 1],
    [
      "Windows line ends and a byte order mark",
      "\uFEFFcommand_allowlist:\r\n  - a # b\r\nlog:\r\n  level: info\r\n",
      "log:",
      1,
    ],
    ["a flow list", "command_allowlist: [ a,  'b c' ]   # mine\n", " ]   # mine", 2],
    ["a flow list over lines", "command_allowlist: [\n  a, # first\n  b\n]\n", "", 2],
    ["an empty list", "command_allowlist: []  # none yet\nlog: { level: info }\n", "# none yet", 0],
    ["a key without a value", "command_allowlist: # nothing\nlog: { level: info }\n", "# nothing", 0],
    ["one text", "command_allowlist: git status   # safe\n", "   # safe", 1],
    [
      "no such key",
      "# only a comment\nlog: { level: info } # quiet\n",
      "# only a comment\nlog: { level: info } # quiet\n",
      0,
    ],
    ["no such key and no last line break", "log:  { level: info }", "log:  { level: info }", 0],
    ["only a comment", "# nothing here\n", "# nothing here\n", 0],
  ])("%s keeps what was written", async (_name, text, kept, count) => {
    const { home, read } = homeWith(text);
    expect(await add(home, ENTRY)).toMatchObject({ ok: true, changed: true });
    const before = (parse(text.replace(/^\uFEFF/, "")) as Record<string, unknown>) ?? {};
    const after = parse(read().replace(/^\uFEFF/, "")) as Record<string, unknown>;
    const list = ([] as unknown[]).concat(before.command_allowlist ?? []);
    expect(list).toHaveLength(count);
    expect(after).toEqual({ ...before, command_allowlist: [...list, ENTRY] });
    expect(read()).toContain(kept);
    for (const comment of text.match(/#.*/g) ?? []) expect(read()).toContain(comment.trimEnd());
    expect(read().includes("\r\n")).toBe(text.includes("\r\n"));
    expect(read().replaceAll("\r\n", "").includes("\r")).toBe(false);
  });

  it("takes nothing away: without the new lines the file is what it was", async () => {
    const { home, read } = homeWith(BLOCK);
    await add(home, ENTRY);
    const added = read()
      .split("\n")
      .filter((line) => !BLOCK.split("\n").includes(line));
    expect(added).toEqual([
      "  - command: rm -rf build/*",
      "    scope: /srv/app",
      "    added: 2030-01-01T10:00:00Z",
    ]);
    expect(
      read()
        .split("\n")
        .filter((line) => !added.includes(line))
        .join("\n"),
    ).toBe(BLOCK);
  });

  it("a file that is not there is made for its owner only; a link stays a link", async () => {
    const home = tempDir();
    await add(home, ENTRY);
    expect(statSync(join(home, "config.yaml")).mode & 0o777).toBe(0o600);
    const linked = tempDir();
    symlinkSync(join(home, "config.yaml"), join(linked, "config.yaml"));
    await add(linked, { command: "other" });
    expect(readFileSync(join(home, "config.yaml"), "utf8")).toContain("command: other");
  });

  it("what is already there is not repeated", async () => {
    const { home, read } = homeWith("");
    await add(home, ENTRY, { command: "x" });
    const once = read();
    expect(await add(home, { command: "x" }, ENTRY)).toMatchObject({ ok: true, changed: false });
    expect(read()).toBe(once);
  });

  it.each([
    ["broken YAML", "command_allowlist: [\n"],
    ["a key twice", "command_allowlist: [a]\ncommand_allowlist: [b]\n"],
    ["a list below an anchor", "x: &x [a]\ncommand_allowlist: *x\n"],
    ["a map", "command_allowlist: { a: b }\n"],
    ["flow all over", "{ command_allowlist: { a: b } }\n"],
    ["two documents", "a: 1\n---\nb: 2\n"],
  ])("%s is refused and left as it is", async (_name, text) => {
    const { home, read } = homeWith(text);
    expect((await add(home, ENTRY)).ok).toBe(false);
    expect(read()).toBe(text);
  });

  it("several writers at a time lose nothing", async () => {
    const { home, read } = homeWith("# kept\ncommand_allowlist:\n  - first # kept too\n");
    const adding = Array.from({ length: 8 }, (_, index) => add(home, { command: `rm -rf ${index}` }));
    await Promise.all(adding);
    const { command_allowlist: list } = parse(read()) as { command_allowlist: unknown[] };
    expect(list).toHaveLength(9);
    expect(read()).toContain("  - first # kept too\n");
  });
});

describe("taking a grant out of config.yaml", () => {
  it.each<[string, string, AllowlistEntry, string]>([
    ["the first of a list", BLOCK, "rm -rf dist", "  - rm -rf dist    # build products\n"],
    ["one in quotes", BLOCK, "git push *", "  - 'git push *'\n"],
    [
      "a grant of several lines",
      BLOCK,
      { command: 'rm -rf "node_modules"', expires: "2031-01-01" },
      '  - command: rm -rf "node_modules"\n    expires: 2031-01-01   # long enough\n',
    ],
    ["a block text", BLOCK, "rm -rf a\n", "  - |\n    rm -rf a\n"],
    ["one of a flow list", "command_allowlist: [a,  b, c] # x\n", "b", "b, "],
    ["the last of a flow list", "command_allowlist: [ a,  b ] # x\n", "b", ",  b"],
    ["the first of a flow list", "command_allowlist: [ a,  b ]\n", "a", "a,  "],
    ["a map in a flow list", "command_allowlist: [{ rule: x }, b]\n", { rule: "x" }, "{ rule: x }, "],
    ["one with Windows line ends", "command_allowlist:\r\n- a\r\n- b\r\n", "a", "- a\r\n"],
    ["the last line of a file", "command_allowlist:\n  - a\n  - b", "b", "  - b"],
  ])("%s: the rest stays byte for byte", async (_name, text, entry, cut) => {
    const { home, read } = homeWith(text);
    expect(await remove(home, entry)).toMatchObject({ ok: true, changed: true });
    expect(read()).toBe(text.replace(cut, ""));
  });

  it.each([
    [
      "command_allowlist:  # mine\n  - a\nlog: { level: info }\n",
      "command_allowlist: []  # mine\nlog: { level: info }\n",
    ],
    ["x: 1\ncommand_allowlist:\n  # why\n  - a # b\n", "x: 1\ncommand_allowlist: []\n  # why\n"],
    ["command_allowlist: a  # mine\n", "command_allowlist: []  # mine\n"],
    ["command_allowlist: [ a ] # mine\n", "command_allowlist: [  ] # mine\n"],
  ])("the last one leaves an empty list: %j", async (text, left) => {
    const { home, read } = homeWith(text);
    expect(await remove(home, "a")).toMatchObject({ ok: true, changed: true });
    expect(read()).toBe(left);
  });

  it("an entry that is written twice goes twice, and one that is not there changes nothing", async () => {
    const { home, read } = homeWith("command_allowlist:\n  - a\n  - b\n  - a\n");
    await remove(home, "a");
    expect(read()).toBe("command_allowlist:\n  - b\n");
    expect(await remove(home, "c")).toMatchObject({ ok: true, changed: false });
  });

  it.each([
    ["an anchor that others refer to", "command_allowlist:\n  - &x a\n  - b\nlog: { level: info }\ny: *x\n"],
    ["an item on the line of its key", "command_allowlist:\n  - - a\n"],
  ])("%s is refused and left as it is", async (_name, text) => {
    const { home, read } = homeWith(text);
    const outcome = await remove(home, "a");
    expect(outcome.ok === false || !outcome.changed).toBe(true);
    expect(read()).toBe(text);
  });

  it("law: adding to a list and taking it out again gives the same bytes", async () => {
    const text = fc.oneof(
      fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 12 }).filter((each) => each.trim() !== ""),
      fc.constantFrom(
        "rm -rf *",
        "a: b",
        "- x",
        "# no comment",
        "'q'",
        '"d"',
        "null",
        "1",
        "yes",
        "[a]",
        "{a: b}",
        "é",
      ),
    );
    const grant = fc.record({ command: text, origin: text }, { requiredKeys: ["command"] });
    const entries = fc.array(fc.oneof(text, grant), { minLength: 1, maxLength: 4 });
    const style = fc.record({
      flow: fc.boolean(),
      indent: fc.constantFrom(2, 4),
      eol: fc.constantFrom("\n", "\r\n"),
      after: fc.constantFrom("", "log:\n  level: info # why\n", "# the end\n"),
      before: fc.constantFrom("", "# begin\n\n", "tools:\n    disabled: [ todo ]\n"),
    });
    await fc.assert(
      fc.asyncProperty(entries, grant, style, async (list, wanted, { flow, indent, eol, after, before }) => {
        const body = flow
          ? `command_allowlist: ${JSON.stringify(list)} # mine\n`
          : stringify({ command_allowlist: list }, { indent, lineWidth: 0 });
        const text = (before + body + after).replaceAll("\n", eol);
        const { home, read } = homeWith(text);
        const { command, ...rest } = wanted;
        const added = { command, added: "2030-01-01", ...rest };
        expect(await add(home, added)).toMatchObject({ ok: true, changed: true });
        expect(parse(read())).toEqual({ ...(parse(text) as object), command_allowlist: [...list, added] });
        expect(await remove(home, added)).toMatchObject({ ok: true, changed: true });
        expect(read()).toBe(text);
      }),
      { numRuns: 150 },
    );
  }, 60_000);
});
