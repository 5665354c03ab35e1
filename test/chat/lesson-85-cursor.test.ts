import { expect, it } from "vitest";
import { eventually } from "../pty/support.js";
import { KEY, startChat } from "./support.js";

it("lesson 85: the terminal's own cursor stands at the caret, also behind wide characters", async () => {
  const chat = await startChat([]);
  const cursorAt = (column: number) =>
    eventually(
      async () => (await chat.screen.state()).cursor.column,
      (at) => at === column,
    );
  await cursorAt(3);
  await chat.type("日本語x");
  await chat.sees("日本語x");
  await cursorAt(3 + 7);
  await chat.type(KEY.left + KEY.left);
  await cursorAt(3 + 4);
  await chat.type("é");
  await chat.sees("日本é語x");
  await cursorAt(3 + 5);
  const { text, cursor } = await chat.screen.state();
  expect(text.split("\n")[cursor.row - 1]).toBe("› 日本é語x");
  // It is never hidden: there is no drawn one that could stand elsewhere.
  expect(chat.output()).not.toContain("\u001b[?25l");
});

it("lesson 85: a text that fills the row goes on in the next one, with the cursor behind it", async () => {
  const chat = await startChat([], { size: { columns: 20, rows: 10 } });
  await chat.type("漢".repeat(12));
  await chat.sees(/漢{4}$/m);
  const { text, cursor } = await chat.screen.state();
  const rows = text.split("\n");
  const last = rows.findLastIndex((row) => row.includes("漢"));
  expect(rows.slice(last - 1, last + 1).map((row) => row.trim())).toEqual([
    `› ${"漢".repeat(8)}`,
    "漢".repeat(4),
  ]);
  expect(cursor).toEqual({ row: last + 1, column: 3 + 8 });
});
