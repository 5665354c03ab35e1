import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { InputHistory } from "../../src/cli/chat/history.js";
import { tempDir } from "../support/runtime.js";

it("keeps texts of several lines, finds them again from the newest on, and what was being written behind them", async () => {
  const path = join(tempDir(), "deep", "history.jsonl");
  const history = await InputHistory.open(path);
  await history.add("first");
  await history.add("two\nlines");
  await history.add("two\nlines");
  await history.add("  ");
  const later = await InputHistory.open(path);
  expect(later.move(-1, "draft")).toBe("two\nlines");
  expect(later.move(-1, "two\nlines")).toBe("first");
  expect(later.move(-1, "first")).toBeUndefined();
  expect(later.move(1, "first")).toBe("two\nlines");
  expect(later.move(1, "two\nlines")).toBe("draft");
  expect(later.move(1, "draft")).toBeUndefined();
  expect(statSync(path).mode & 0o077).toBe(0);
});

it("two chats at once lose nothing of each other; lines that are damaged are passed over", async () => {
  const path = join(tempDir(), "history.jsonl");
  const [one, other] = await Promise.all([InputHistory.open(path), InputHistory.open(path)]);
  await Promise.all([one.add("from one"), other.add("from the other")]);
  writeFileSync(path, '{"half', { flag: "a" });
  const entries = await InputHistory.open(path);
  const found = [entries.move(-1, ""), entries.move(-1, ""), entries.move(-1, "")];
  expect(found.filter((text) => text !== undefined).sort()).toEqual(["from one", "from the other"]);
});

it("is cut when it has grown long", async () => {
  const path = join(tempDir(), "history.jsonl");
  writeFileSync(path, Array.from({ length: 2_500 }, (_, index) => `"entry ${index}"\n`).join(""));
  await InputHistory.open(path);
  const lines = readFileSync(path, "utf8").trim().split("\n");
  expect(lines).toHaveLength(1_000);
  expect(lines.at(-1)).toBe('"entry 2499"');
});
