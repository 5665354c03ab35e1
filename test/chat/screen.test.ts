import { expect, it } from "vitest";
import { ChatScreen } from "../../src/cli/chat/screen.js";
import { Screen } from "../../src/env/pty/screen.js";

function terminal(size = { columns: 30, rows: 8 }) {
  const shown = new Screen(size);
  let written = "";
  const canvas = {
    ...size,
    write(text: string) {
      written += text;
      shown.feed(Buffer.from(text));
    },
  };
  return { screen: new ChatScreen(canvas), shown, canvas, written: () => written };
}

it("what is finished stands above the live part, which is drawn in its place", async () => {
  const { screen, shown } = terminal();
  screen.live({ rows: ["working", "› ab", "status"], caret: { row: 1, before: "› a" } });
  screen.print(["first"]);
  screen.live({ rows: ["› abc", "status"], caret: { row: 0, before: "› abc" } });
  screen.print(["second"]);
  screen.live({ rows: ["› abc", "status"], caret: { row: 0, before: "› abc" } });
  expect(await shown.state()).toMatchObject({
    text: "first\nsecond\n› abc\nstatus",
    cursor: { row: 3, column: 6 },
  });
});

it("writes nothing when nothing has changed", () => {
  const { screen, written } = terminal();
  const part = { rows: ["a", "b"], caret: { row: 1, before: "b" } };
  screen.live(part);
  const before = written();
  screen.live({ ...part, rows: [...part.rows] });
  expect(written()).toBe(before);
});

it("a live part is always shorter than the screen, and its rows than the columns", async () => {
  const { screen, shown } = terminal();
  const rows = Array.from({ length: 40 }, (_, index) => `${index} ${"x".repeat(50)}`);
  for (let turn = 0; turn < 5; turn += 1) {
    screen.live({ rows: [...rows, `› ${turn}`], caret: { row: 40, before: `› ${turn}` } });
    screen.print([`printed ${turn}`]);
  }
  screen.live({ rows: ["› end"], caret: { row: 0, before: "› end" } });
  const all = (await shown.scrollback(100)).split("\n");
  expect(all).toEqual(["printed 0", "printed 1", "printed 2", "printed 3", "printed 4", "› end"]);
});

it("what is finished while somebody else has the terminal is printed afterwards", async () => {
  const { screen, shown, canvas } = terminal();
  screen.live({ rows: ["› x"], caret: { row: 0, before: "› x" } });
  screen.leave();
  canvas.write("a question\r\n");
  screen.print(["a result"]);
  screen.live({ rows: ["› xy"], caret: { row: 0, before: "› xy" } });
  expect(await shown.text()).toBe("a question");
  screen.comeBack();
  expect(await shown.text()).toBe("a question\na result\n› xy");
});
