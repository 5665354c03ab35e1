import { setTimeout as delay } from "node:timers/promises";
import { eventually, holds, matches, refused, same, within } from "./expect.js";
import { type ConformanceCase, conformanceCase } from "./types.js";

export const processCases: readonly ConformanceCase[] = [
  conformanceCase("a spawned program runs in the task's folder with its variables", async (context) => {
    const task = await context.task();
    await task.run("mkdir in; cd in; export CF_KEPT='a b'");
    const started = await task.start('pwd; echo "$CF_KEPT $CF_GIVEN"; echo err >&2; exit 3', {
      env: { CF_GIVEN: "given" },
    });
    same((await started.ended()).exitCode, 3, "exit code");
    same(started.text(), `${task.folder}/in\na b given\nerr\n`, "output");
    same(started.process.pty, false, "pty");
  }),

  conformanceCase("spawn returns while the program runs, and tells its mark and number", async (context) => {
    const task = await context.task();
    const started = await within(10_000, "spawn", task.start('echo "$HERMES_EXEC_ID"; exec sleep 60'));
    await started.shows("\n");
    same(started.text(), `${started.process.mark}\n`, "the mark in the program's environment");
    const { pid } = started.process;
    if (pid !== undefined && context.setup.lacks?.background === undefined) {
      same((await task.run(`kill -0 ${pid} && echo alive`)).output, "alive\n", "the process of that number");
    }
    const other = await task.start("true");
    holds(other.process.mark !== started.process.mark, "every program has its own mark", other.process.mark);
    await other.ended();
    same(await within(10_000, "end()", started.process.end()), [], "survivors");
    const end = await started.ended();
    holds(end.exitCode !== 0 && end.lost === undefined, "an ended program has an exit code above 0", end);
  }),

  conformanceCase("a spawned argument vector is touched by no shell", async (context) => {
    const task = await context.task();
    const started = await task.start(["printf", "%s|", "$HOME", "a b", "*", "", "'\"\\"]);
    same((await started.ended()).exitCode, 0, "exit code");
    same(started.text(), "$HOME|a b|*||'\"\\|", "output");
  }),

  conformanceCase("a program that is missing is an error or ends with 127", async (context) => {
    const task = await context.task();
    const answer = await task.start(["no-such-program-at-all"]).catch((error: unknown) => error);
    if (answer instanceof Error) await refused(Promise.reject(answer), { what: "a missing program" });
    else same((await (answer as Awaited<ReturnType<typeof task.start>>).ended()).exitCode, 127, "exit code");
  }),

  conformanceCase("input is written in pieces and closed", async (context) => {
    const task = await context.task();
    const started = await task.start('while read -r line; do echo "got $line"; done; echo over; exit 4');
    await started.process.write("one\n");
    await started.shows("got one");
    await started.process.write(Buffer.from("tw"));
    await started.process.write("o\n");
    await started.shows("got two");
    await started.process.closeInput();
    same((await started.ended()).exitCode, 4, "exit code");
    same(started.text(), "got one\ngot two\nover\n", "output");
  }),

  conformanceCase(
    "large input is written whole, and a program that does not read is waited for",
    async (context) => {
      const task = await context.task();
      const started = await task.start("sleep 0.5; wc -c");
      await started.process.write("x".repeat(3_000_000));
      await started.process.closeInput();
      same((await started.ended()).exitCode, 0, "exit code");
      same(started.text().trim(), "3000000", "bytes that arrived");
    },
  ),

  conformanceCase("writing to a program that has ended breaks nothing", async (context) => {
    const task = await context.task();
    const started = await task.start("true");
    await started.ended();
    await started.process.write("late").catch(() => {});
    await started.process.closeInput().catch(() => {});
    same(await started.process.end(), [], "survivors of a program that has ended");
    same(await started.process.end(), [], "end() once more");
  }),

  conformanceCase("every byte of the output arrives, in order, before the end", async (context) => {
    const task = await context.task();
    const started = await task.start("head -c 20000000 /dev/zero; seq 1 100000; printf '\\377<end>'");
    same((await started.ended(60_000)).exitCode, 0, "exit code");
    same(started.bytes(), 20_000_000 + 588_895 + 6, "bytes");
    const numbers = await task.start("seq 1 60000");
    await numbers.ended();
    const expected = Array.from({ length: 60_000 }, (_, index) => `${index + 1}\n`).join("");
    holds(numbers.text() === expected, "the numbers come in order", numbers.text());
  }),

  conformanceCase("a listener that throws does not disturb", async (context) => {
    const task = await context.task();
    let calls = 0;
    const process = await task.environment.spawn({
      command: "echo a; read -r x; echo b",
      cwd: task.folder,
      onOutput() {
        calls += 1;
        throw new Error("a listener's own mistake");
      },
    });
    await eventually("it is called", () => calls === 1);
    await process.write("x\n");
    same((await within(15_000, "its end", process.ended)).exitCode, 0, "exit code");
    same(calls, 2, "how often it was called");
  }),

  conformanceCase(
    { name: "paused output makes the program wait and is not lost", alone: true },
    async (context) => {
      const task = await context.task();
      const started = await task.start("head -c 30000000 /dev/zero; echo; echo done > finished");
      started.process.pauseOutput(true);
      await delay(500);
      const held = started.bytes();
      await delay(400);
      holds(
        started.bytes() - held < 4_000_000,
        "next to nothing arrives while paused",
        started.bytes() - held,
      );
      holds(held < 25_000_000, "it does not run through", held);
      started.process.pauseOutput(false);
      same((await started.ended(60_000)).exitCode, 0, "exit code");
      same(started.bytes(), 30_000_001, "bytes in all");
    },
  ),

  conformanceCase("whether a program waits for input is told truly, or not at all", async (context) => {
    const task = await context.task();
    const reads = await task.start("read line; echo got");
    const works = await task.start("i=0; while [ $i -lt 100000000 ]; do i=$((i+1)); done");
    await eventually("read waits for input", async () => (await reads.process.waitsForInput()) !== false);
    holds((await works.process.waitsForInput()) !== true, "a busy loop does not", true);
    await reads.process.write("x\n");
    await reads.ended();
    holds((await reads.process.waitsForInput()) !== true, "what has ended does not", true);
    await works.process.end();
  }),

  conformanceCase("a grandchild that holds the output does not hold the end", async (context) => {
    const task = await context.task();
    const started = await task.start("echo begun; sleep 45 & exit 5");
    const end = await started.ended(context.startMs + 5_000);
    same([started.text(), end.exitCode], ["begun\n", 5], "output and exit code");
    same(await started.process.end(), [], "survivors");
  }),

  conformanceCase("exit codes of signals are 128 and the signal's number", async (context) => {
    const task = await context.task();
    const started = await task.start("kill -9 $$");
    same((await started.ended()).exitCode, 137, "killed by KILL");
    const term = await task.start(["sh", "-c", "kill -TERM $$"]);
    same((await term.ended()).exitCode, 143, "killed by TERM");
  }),

  conformanceCase("twelve programs at once keep their input and output apart", async (context) => {
    const task = await context.task();
    const all = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        task.start(`read -r x; echo ${index}-$x; read -r x; echo $x; exit ${index}`),
      ),
    );
    await Promise.all(all.map(({ process }, index) => process.write(`in${index}\n`)));
    await Promise.all(all.map(({ process }, index) => process.write(`again${index}\n`)));
    const ends = await Promise.all(all.map((each) => each.ended()));
    same(
      all.map((each, index) => [each.text(), ends[index]?.exitCode]),
      all.map((_, index) => [`${index}-in${index}\nagain${index}\n`, index]),
      "outputs and exit codes",
    );
  }),

  conformanceCase("commands run beside a spawned program", async (context) => {
    const task = await context.task();
    const started = await task.start("while [ ! -e stop ]; do sleep 0.05; done; echo stopped");
    await eventually("it runs", () => started.process.waitsForInput().then(() => true));
    await task.run("touch stop");
    await started.ended();
    matches(started.text(), /^stopped\n$/, "output");
  }),
];
