import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { COMMANDS, GROUPS } from "../../src/cli/commands.js";
import { commandReference } from "../../src/cli/reference.js";

const page = join(import.meta.dirname, "..", "..", "docs", "commands.md");

it("docs/commands.md says what the commands declare (UPDATE_DOCS=1 rewrites it)", () => {
  if (process.env.UPDATE_DOCS) writeFileSync(page, commandReference());
  expect(readFileSync(page, "utf8")).toBe(commandReference());
});

it("every command stands below one heading of the help, and so in the reference", () => {
  const listed = Object.values(GROUPS).flatMap(({ commands }) => commands);
  expect([...listed].sort()).toEqual(Object.keys(COMMANDS).sort());
});
