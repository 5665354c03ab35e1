import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { CommandSpec } from "../../src/cli/command.js";
import { COMMANDS } from "../../src/cli/commands.js";
import { buildProgram } from "../../src/cli/program.js";

interface Leaf {
  readonly words: readonly string[];
  readonly spec: CommandSpec;
}

/** Every command that does something, with words that its parser takes. */
function leavesOf(commands: Readonly<Record<string, CommandSpec>>, above: readonly string[] = []): Leaf[] {
  return Object.entries(commands).flatMap(([name, spec]) => {
    const words = [...above, name];
    const inner = leavesOf(spec.commands ?? {}, words);
    return spec.load === undefined ? inner : [{ words, spec }, ...inner];
  });
}

function typedOf({ words, spec }: Leaf): readonly string[] {
  const required = Object.entries(spec.options ?? {}).flatMap(([flags, given]) =>
    typeof given !== "string" && given.required === true ? [flags.split(" ")[0] ?? "", "x"] : [],
  );
  const args = Object.keys(spec.args ?? {}).filter((syntax) => syntax.startsWith("<"));
  return [...words, ...args.map(() => "x"), ...required];
}

const leaves = leavesOf(COMMANDS);
const knowing = new Set([
  "call",
  "run",
  "undo",
  "restore",
  "migrate",
  "mcp install",
  "tool register",
  "tool unregister",
  "tools import openapi",
]);

let ran: boolean[] = [];
let said = "";
beforeEach(() => {
  ran = [];
  said = "";
  for (const { spec } of leaves) {
    // Nothing may really run here: a server, say, or the end of a process.
    Object.assign(spec, {
      load:
        async () =>
        async ({ flags }: { flags: { dryRun?: boolean } }) =>
          void ran.push(flags.dryRun === true),
    });
  }
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    said += String(text);
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  process.exitCode = 0;
});

it("--dry-run is taken by the commands that only show then, and refused by all others before they do anything", async () => {
  expect(leaves.length).toBeGreaterThan(100);
  for (const leaf of leaves) {
    const name = leaf.words.join(" ");
    for (const argv of [
      [...typedOf(leaf), "--dry-run", "--json"],
      ["--json", "--dry-run", ...typedOf(leaf)],
    ]) {
      ran = [];
      said = "";
      process.exitCode = 0;
      await buildProgram({ argv }).parseAsync(argv, { from: "user" });
      if (knowing.has(name)) expect([ran, process.exitCode], name).toEqual([[true], 0]);
      else {
        expect([ran, process.exitCode], name).toEqual([[], 2]);
        expect(JSON.parse(said).error, name).toMatchObject({
          code: "bad_request",
          message: `hermes ${name} does not know --dry-run`,
          hint: expect.stringContaining("Nothing was done"),
        });
      }
    }
  }
});
