import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { SLASH_COMMANDS } from "../../src/cli/chat/commands.js";
import { commonStart, completionFor } from "../../src/cli/chat/completion.js";
import { tempDir } from "../support/runtime.js";

function folder(): string {
  const cwd = tempDir();
  mkdirSync(join(cwd, "source"));
  for (const name of ["Solo.md", ".secret", "source/one.ts", "source/two.ts", "with blank.txt"])
    writeFileSync(join(cwd, name), "");
  return cwd;
}

it.for([
  ["look at @so", ["@Solo.md ", "@source/"]],
  ["@source/t", ["@source/two.ts "]],
  ["@.s", ["@.secret "]],
  ["@nothing", undefined],
  ["mail@so", undefined],
  ["/rem", undefined],
  ["/un", ["/undo "]],
  ["say /un", undefined],
  ["/undo x", undefined],
] as const)("%j goes on with %j", async ([before, wanted]) => {
  const found = await completionFor(before, { commands: SLASH_COMMANDS, cwd: folder() });
  expect(found?.choices.map(({ text }) => text)).toEqual(wanted);
});

it("every command that people are told of is there", () => {
  const names = new Set(SLASH_COMMANDS.map(({ name }) => name));
  for (const name of "help tools toolsets profile model mcp approve stats cost undo plan new resume export".split(
    " ",
  ))
    expect(names).toContain(name);
});

it("one Tab goes as far as all choices agree", () => {
  expect(commonStart(["/tools ", "/toolsets "])).toBe("/tools");
  expect(commonStart(["@a", "@b"])).toBe("@");
  expect(commonStart([])).toBe("");
});
