import { expect, it } from "vitest";
import { KEY, startChat } from "./support.js";

const LINES = Array.from({ length: 120 }, (_, index) => `line number ${index + 1} of it`);

it("lesson 82: what is finished is printed once and stays in the scrollback; only a small part is drawn again", async () => {
  const chat = await startChat([{ text: `${LINES.join("\n")}\n\nThat was all.`, paceMs: 1 }]);
  await chat.type(`tell me${KEY.enter}`);
  await chat.printed("That was all.");
  await chat.isIdle();
  const shown = (await chat.screen.scrollback(1_000)).split("\n");
  expect(shown.filter((line) => line.startsWith("line number"))).toEqual(LINES);
  expect(shown.filter((line) => line === "› tell me")).toHaveLength(1);
  const output = chat.output();
  // The scrollback is not wiped, the screen not cleared, and no second screen is used.
  expect(output).not.toMatch(/\u001b\[[23]J|\u001b\[\?(?:1049|1047|47)h/);
  const jumps = [...output.matchAll(/\u001b\[(\d+)A/g)].map(([, rows]) => Number(rows));
  expect(Math.max(...jumps)).toBeLessThan(23);
});

it("lesson 82: a live part that would be higher than the screen is cut, and leaves nothing behind", async () => {
  const size = { columns: 40, rows: 8 };
  const chat = await startChat([{ text: "Short." }], { size });
  const typed = Array.from({ length: 30 }, (_, index) => `row ${index}`).join(KEY.ctrlJ);
  await chat.type(typed);
  await chat.sees("row 29");
  await chat.type(KEY.enter);
  await chat.printed("Short.");
  await chat.isIdle();
  const shown = await chat.screen.scrollback(1_000);
  expect(shown.match(/row 29/g)).toHaveLength(1);
  expect(shown.match(/row 28/g)).toHaveLength(1);
});
