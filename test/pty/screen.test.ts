import { afterEach, describe, expect, it } from "vitest";
import { expandKeys } from "../../src/env/pty/keys.js";
import { Screen } from "../../src/env/pty/screen.js";
import { needs } from "../support/needs.js";
import { endAll, eventually, inTerminal } from "./support.js";

afterEach(endAll);

const SIZE = { columns: 40, rows: 10 };

async function shown(...pieces: readonly (string | Uint8Array)[]): Promise<Screen> {
  const screen = new Screen(SIZE);
  for (const piece of pieces) screen.feed(typeof piece === "string" ? Buffer.from(piece) : piece);
  await screen.text();
  return screen;
}

describe("a screen", () => {
  it("shows what a person would see: no codes, lines overwritten, cleared and wrapped", async () => {
    expect(await (await shown("\u001b[1;31mred\u001b[0m and plain  \r\n")).text()).toBe("red and plain");
    expect(await (await shown("10 %\r50 %\r100 % done")).text()).toBe("100 % done");
    expect(await (await shown("old text\u001b[2J\u001b[Hnew")).text()).toBe("new");
    expect(await (await shown("x".repeat(45))).text()).toBe(`${"x".repeat(40)}\n${"x".repeat(5)}`);
    expect(await (await shown("abc\b\b\u001b[K!")).text()).toBe("a!");
    expect(await (await shown("漢字 🙂 é")).text()).toBe("漢字 🙂 é");
  });

  it("puts characters and sequences together that arrive in pieces", async () => {
    const bytes = Buffer.from("\u001b[32mgrün 漢字\u001b[0m");
    expect(await (await shown(...Array.from(bytes, (byte) => Uint8Array.of(byte)))).text()).toBe("grün 漢字");
  });

  it("tells where the cursor is and whether a full-screen program has it", async () => {
    const screen = await shown("one\r\ntwo");
    expect(await screen.state()).toMatchObject({ cursor: { row: 2, column: 4 }, fullScreen: false });
    screen.feed(Buffer.from("\u001b[?1049h\u001b[?1h\u001b[3;5Hinside"));
    expect(await screen.state()).toMatchObject({
      text: "\n\n    inside",
      fullScreen: true,
      applicationCursor: true,
    });
    screen.feed(Buffer.from("\u001b[?1049l"));
    expect(await screen.state()).toMatchObject({ text: "one\ntwo", fullScreen: false });
  });

  it("keeps the last thousand lines that scrolled off, with long lines whole again", async () => {
    const lines = Array.from({ length: 3_000 }, (_, index) => `line ${index}`);
    const screen = await shown(`${lines.join("\r\n")}\r\n${"y".repeat(100)}\r\n`);
    expect((await screen.scrollback(3)).split("\n")).toEqual(["line 2998", "line 2999", "y".repeat(100)]);
    const all = (await screen.scrollback(1_000_000)).split("\n");
    expect(all.length).toBeGreaterThan(900);
    expect(all.length).toBeLessThan(1_100);
  });

  it("follows a new size and answers what programs ask the terminal", async () => {
    const replies: string[] = [];
    const screen = new Screen(SIZE, { onReply: (text) => replies.push(text) });
    screen.feed(Buffer.from("ab\u001b[6n"));
    await screen.text();
    expect(replies).toEqual(["\u001b[1;3R"]);
    screen.resize({ columns: 5, rows: 3 });
    screen.feed(Buffer.from("\r\n1234567"));
    expect(await screen.text()).toBe("ab\n12345\n67");
    screen.dispose();
    screen.feed(Buffer.from("more"));
  });

  it("survives broken sequences without a word", async () => {
    const noise = Uint8Array.from({ length: 20_000 }, (_, index) => (index * 7919) % 256);
    const screen = await shown(noise, "\u001bc", "fine");
    expect(await screen.text()).toBe("fine");
  });
});

/** How often others got their turn: a clock would measure the machine as well. */
function turnsOfOthers(): () => number {
  let turns = 0;
  let next: NodeJS.Immediate;
  const turn = () => {
    turns += 1;
    next = setImmediate(turn);
  };
  next = setImmediate(turn);
  return () => {
    clearImmediate(next);
    return turns;
  };
}

describe("a flood of 100 MB", () => {
  it("neither blocks this process nor grows, and the end of it is on the screen", async () => {
    const screen = new Screen({ columns: 80, rows: 24 });
    screen.feed(Buffer.from("\u001b[?1049h\u001b[?1049lstart\r\n"));
    const chunk = Buffer.from("y\r\n".repeat(20_000));
    await screen.text();
    const before = process.memoryUsage().rss;
    for (let fed = 0; fed < 100_000_000; fed += chunk.length) {
      screen.feed(chunk);
      if (fed % (chunk.length * 8) === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    screen.feed(Buffer.from("the end\r\n"));
    const turns = turnsOfOthers();
    expect((await screen.text()).split("\n").slice(-2)).toEqual(["y", "the end"]);
    // What waits is drawn in some thirty pieces, and others come in between.
    expect(turns()).toBeGreaterThan(16);
    expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000);
  });

  it("leaves the alternate screen in place that was switched to before it", async () => {
    const screen = new Screen(SIZE);
    screen.feed(Buffer.from("shell\r\n"));
    await screen.text();
    screen.feed(Buffer.from(`\u001b[?1049h${"z\r\n".repeat(400_000)}`));
    expect((await screen.state()).fullScreen).toBe(true);
    screen.feed(Buffer.from("\u001b[?1049l"));
    expect(await screen.text()).toBe("shell");
  });
});

describe("real programs on a screen", () => {
  it("less shows a page, turns it, and gives the screen back", async (context) => {
    needs(context, "less");
    const one = await inTerminal("echo before; seq 1 500 > /dev/null; seq 1 500 | less");
    await eventually(
      () => one.screen.text(),
      (text) => text.endsWith(":"),
    );
    expect((await one.screen.text()).split("\n").slice(0, 3)).toEqual(["1", "2", "3"]);
    await one.process.write(expandKeys("<pgdn>"));
    await eventually(
      () => one.screen.text(),
      (text) => text.startsWith("24\n25"),
    );
    const { applicationCursor } = await one.screen.state();
    await one.process.write(expandKeys("<down>", { applicationCursor }));
    await eventually(
      () => one.screen.text(),
      (text) => text.startsWith("25\n26"),
    );
    await one.process.write("G");
    await eventually(
      () => one.screen.text(),
      (text) => text.endsWith("(END)"),
    );
    await one.process.write("q");
    await one.process.ended;
    expect(await one.screen.text()).toBe("before");
  });

  it("vi takes text and shows it", async (context) => {
    needs(context, "vi");
    const one = await inTerminal(["vi", "-u", "NONE", "-n"]);
    await eventually(
      () => one.screen.state(),
      ({ text, fullScreen }) => fullScreen && text.includes("~"),
    );
    await one.process.write(expandKeys("ihello <lt>enter>"));
    await eventually(
      () => one.screen.text(),
      (text) => text.startsWith("hello <enter>\n~"),
    );
    await one.process.write(expandKeys("<esc>:q!<enter>"));
    expect(await one.process.ended).toEqual({ exitCode: 0 });
  });

  it("nano shows its help lines", async (context) => {
    needs(context, "nano");
    const one = await inTerminal(["nano", "-I"]);
    await eventually(
      () => one.screen.text(),
      (text) => text.includes("^X Exit"),
    );
    await one.process.write("typed");
    await eventually(
      () => one.screen.text(),
      (text) => text.includes("typed"),
    );
    await one.process.write(expandKeys("<ctrl-x>n"));
    expect(await one.process.ended).toEqual({ exitCode: 0 });
  });

  it("top shows a table", async (context) => {
    needs(context, "top");
    const one = await inTerminal("top -n1");
    await one.process.ended;
    expect(await one.screen.text()).toMatch(/PID +USER/);
  });

  it("three megabytes of yes are bounded and end with the last line", async () => {
    const one = await inTerminal("yes 'a line of text' | head -c 3000000; echo; echo finished");
    await one.process.ended;
    expect((await one.screen.text()).endsWith("finished")).toBe(true);
  });
});
