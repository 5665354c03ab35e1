import { eventually, holds, matches, same, within } from "./expect.js";
import { type ConformanceCase, conformanceCase } from "./types.js";

const pty = { columns: 100, rows: 30 };

export const terminalCases: readonly ConformanceCase[] = [
  conformanceCase(
    { name: "a program in a terminal has one, of the size that was asked for", needs: ["pty"] },
    async (context) => {
      const task = await context.task();
      await task.run("export CF_KEPT='a b'");
      const started = await task.start(
        '[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo tty; stty size; pwd; echo "$CF_KEPT:$TERM:"; exit 3',
        { pty },
      );
      same((await started.ended()).exitCode, 3, "exit code");
      same(started.process.pty, true, "pty");
      const lines = started.text().replaceAll("\r", "").split("\n");
      same(lines.slice(0, 3), ["tty", "30 100", task.folder], "output");
      matches(lines[3] ?? "", /^a b:(?!dumb:|:).+:$/, "the kept variable and a TERM that is not dumb");
    },
  ),

  conformanceCase({ name: "the size can be changed while it runs", needs: ["pty"] }, async (context) => {
    const task = await context.task();
    const started = await task.start("trap 'stty size' WINCH; echo ready; while :; do sleep 0.05; done", {
      pty,
    });
    await started.shows("ready");
    started.process.resize({ columns: 61, rows: 17 });
    await started.shows("17 61");
    same(await started.process.end(), [], "survivors");
  }),

  conformanceCase({ name: "input is typed, echoed and answered", needs: ["pty"] }, async (context) => {
    const task = await context.task();
    const started = await task.start("printf 'name? '; read -r name; echo \"hello $name\"; exit 6", {
      pty,
    });
    await started.shows("name? ");
    await started.process.write("grün ✓\r");
    same((await started.ended()).exitCode, 6, "exit code");
    matches(started.text(), /^name\? grün ✓\r\nhello grün ✓\r\n$/, "the screen's bytes");
  }),

  conformanceCase({ name: "a typed ^C interrupts", needs: ["pty"] }, async (context) => {
    const task = await context.task();
    const started = await task.start("echo ready; sleep 60; echo not reached", { pty });
    await started.shows("ready");
    await started.process.write("\u0003");
    const end = await started.ended(10_000);
    same(end.exitCode, 130, "exit code");
    holds(!started.text().includes("not reached"), "the rest is not run", started.text());
  }),

  conformanceCase({ name: "a program that handles ^C itself goes on", needs: ["pty"] }, async (context) => {
    const task = await context.task();
    // Not in `read`: a shell that gets the signal right before it begins to read handles it after the next line only.
    const started = await task.start(
      'trap \'caught=1; echo caught\' INT; echo ready; until [ -n "$caught" ]; do sleep 0.05; done; read -r x; echo "got $x"',
      { pty },
    );
    await started.shows("ready");
    await started.process.write("\u0003");
    await started.shows("caught");
    await started.process.write("one\r");
    await started.shows("got one");
    same((await started.ended()).exitCode, 0, "exit code");
  }),

  conformanceCase({ name: "closing the input types the end of file", needs: ["pty"] }, async (context) => {
    const task = await context.task();
    const started = await task.start("cat; echo over", { pty });
    await started.process.write("line\r");
    await started.shows("line\r\nline\r\n");
    await started.process.closeInput();
    same((await started.ended()).exitCode, 0, "exit code");
    await eventually("the rest arrives", () => started.text().includes("over"));
  }),

  conformanceCase(
    { name: "a program that reads a terminal waits for input, as far as that can be seen", needs: ["pty"] },
    async (context) => {
      const task = await context.task();
      const started = await task.start("printf 'password: '; read -r -s secret; echo; sleep 60", { pty });
      await started.shows("password: ");
      await eventually(
        "it is not said to be busy",
        async () => (await started.process.waitsForInput()) !== false,
      );
      await started.process.write("x\r");
      await eventually(
        "it is not said to wait",
        async () => (await started.process.waitsForInput()) !== true,
      );
      await started.process.end();
    },
  ),

  conformanceCase({ name: "much output in a terminal arrives whole", needs: ["pty"] }, async (context) => {
    const task = await context.task();
    const started = await task.start(
      "i=0; while [ $i -lt 20000 ]; do echo line$i; i=$((i+1)); done; echo END",
      {
        pty,
      },
    );
    same((await within(30_000, "its end", started.process.ended)).exitCode, 0, "exit code");
    const lines = started.text().split("\r\n");
    same(
      [lines.length, lines[0], lines[19_999], lines[20_000]],
      [20_002, "line0", "line19999", "END"],
      "lines",
    );
  }),

  conformanceCase(
    { name: "an argument vector in a terminal is touched by no shell", needs: ["pty"] },
    async (context) => {
      const task = await context.task();
      const started = await task.start(["printf", "%s|", "$HOME", "a b", "*", ""], { pty });
      same((await started.ended()).exitCode, 0, "exit code");
      same(started.text(), "$HOME|a b|*||", "output");
    },
  ),

  conformanceCase(
    { name: "a terminal that hangs up takes its program along, also when that is deaf", needs: ["pty"] },
    async (context) => {
      const task = await context.task();
      const started = await task.start("trap '' TERM HUP INT; echo ready; while :; do sleep 0.1; done", {
        pty,
      });
      await started.shows("ready");
      same(await within(10_000, "end()", started.process.end()), [], "survivors");
      await started.ended();
    },
  ),
];
