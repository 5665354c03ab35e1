import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { configReference } from "../../src/config/reference.js";
import { CONFIG_KEYS } from "../../src/config/schema.js";

const page = join(import.meta.dirname, "..", "..", "docs", "configuration.md");
const [BEGIN, END] = ["<!-- keys:begin -->\n", "\n<!-- keys:end -->"];

it("the table of keys in docs/configuration.md is the one in the code (UPDATE_DOCS=1 rewrites it)", () => {
  const text = readFileSync(page, "utf8");
  const start = text.indexOf(BEGIN) + BEGIN.length;
  const end = text.indexOf(END);
  expect(start).toBeGreaterThan(BEGIN.length);
  expect(end).toBeGreaterThanOrEqual(start - 1);
  if (process.env.UPDATE_DOCS) {
    writeFileSync(page, text.slice(0, start) + configReference() + text.slice(end));
  }
  const written = readFileSync(page, "utf8");
  expect(written.slice(start, written.indexOf(END))).toBe(configReference());
});

it("every key has its own line with a meaning", () => {
  const lines = configReference().split("\n");
  expect(lines).toHaveLength(CONFIG_KEYS.length + 2);
  for (const line of lines) expect(line.split(/(?<!\\)\|/)).toHaveLength(8);
});
