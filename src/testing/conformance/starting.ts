import { join } from "node:path/posix";
import { holds, refused, same } from "./expect.js";
import { type ConformanceCase, conformanceCase } from "./types.js";

const AT_ONCE = 20;
const ODD_ARGUMENTS = [
  "a b",
  "$HOME",
  "*",
  "'",
  '"',
  "",
  "-n",
  "--",
  "line\nbreak\n",
  "~",
  "\\",
  "`id`",
  "$(id)",
  "; exit 9",
  "&&",
  "grün ✓ 😀",
  "\u001b[0m",
  " ",
  "!!",
  "#",
  "%s%n",
  "{a,b}",
];

export const startingCases: readonly ConformanceCase[] = [
  conformanceCase("argument vectors are touched by no shell", async (context) => {
    const task = await context.task();
    const { output } = await task.run(["printf", "%s\\0", ...ODD_ARGUMENTS]);
    same(output.split("\0").slice(0, -1), ODD_ARGUMENTS, "the arguments as the program got them");
  }),

  conformanceCase("a program with an odd path is started by that path", async (context) => {
    const task = await context.task();
    const program = join(task.folder, "my 'prog\" $x\n");
    await task.environment.files.write(program, Buffer.from('#!/bin/sh\necho "$0|$1"\nexit 5\n'));
    same((await task.run(["chmod", "755", program])).exitCode, 0, "chmod");
    const result = await task.run([program, "-x"]);
    same([result.output, result.exitCode], [`${program}|-x\n`, 5], "output and exit code");
  }),

  conformanceCase("a program that is missing or no program answers 127 or 126", async (context) => {
    const task = await context.task();
    await task.run("echo text > plain");
    same((await task.run(["no-such-program-at-all"])).exitCode, 127, "a missing program");
    same((await task.run([join(task.folder, "missing")])).exitCode, 127, "a missing path");
    same((await task.run([join(task.folder, "plain")])).exitCode, 126, "a file that is no program");
    same((await task.run([task.folder])).exitCode, 126, "a folder");
  }),

  conformanceCase("an empty vector and NUL bytes are refused", async (context) => {
    const task = await context.task();
    for (const command of [[], [""], ["echo", "a\0b"], "echo a\0b"]) {
      await refused(task.run(command), { what: JSON.stringify(command), code: "invalid_arguments" });
      await refused(task.start(command), {
        what: `spawn ${JSON.stringify(command)}`,
        code: "invalid_arguments",
      });
    }
    for (const env of [{ "BAD NAME": "1" }, { "A=B": "1" }, { CF_NUL: "a\0b" }, { "": "1" }])
      await refused(task.run("true", { env }), { what: JSON.stringify(env), code: "invalid_arguments" });
  }),

  conformanceCase("an environment that is too large is refused clearly", async (context) => {
    const task = await context.task();
    const one = { CF_BIG: "x".repeat(200_000) };
    const many = Object.fromEntries(
      Array.from({ length: 30 }, (_, index) => [`CF_${index}`, "x".repeat(100_000)]),
    );
    for (const env of [one, many]) {
      const error = await refused(task.run("true", { env }), {
        what: `${Object.keys(env).length} large variables`,
        like: /large|long|limit|most/,
        code: "invalid_arguments",
      });
      holds(error.hint !== undefined, "the error says what to do", error.message);
      await refused(task.start("true", { env }), { what: "the same for spawn", code: "invalid_arguments" });
    }
    same((await task.run("echo fine")).output, "fine\n", "the next command");
  }),

  conformanceCase("a large environment that fits arrives whole", async (context) => {
    const task = await context.task();
    const { output } = await task.run(`echo "\${#CF_BIG}"`, { env: { CF_BIG: "x".repeat(100_000) } });
    same(output, "100000\n", "length of the variable");
  }),

  conformanceCase("a command that is too large is refused clearly or runs whole", async (context) => {
    const task = await context.task();
    const command = `: ${"x".repeat(200_000)}\necho ran`;
    const answer = await task.run(command).then(
      (result) => result,
      (error: unknown) => error,
    );
    if (answer instanceof Error) {
      await refused(Promise.reject(answer), {
        what: "200 kB of command",
        like: /large|long|limit|most/,
        code: "invalid_arguments",
      });
    } else same((answer as { output: string }).output, "ran\n", "output of 200 kB of command");
    const fits = await task.run(`: ${"x".repeat(100_000)}\necho ran`);
    same(fits.output, "ran\n", "output of 100 kB of command");
  }),

  conformanceCase("calls at the same time do not mix", async (context) => {
    const task = await context.task();
    const results = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, index) =>
        task.run(
          `read line; echo a-${index}-$line; echo b-${index} >&2; sleep 0.2; echo "c-$CF_I"; exit ${index}`,
          {
            stdin: `in-${index}\n`,
            env: { CF_I: String(index) },
          },
        ),
      ),
    );
    same(
      results.map(({ output, exitCode }) => [output, exitCode]),
      results.map((_, index) => [`a-${index}-in-${index}\nb-${index}\nc-${index}\n`, index]),
      "outputs and exit codes",
    );
  }),

  conformanceCase(
    { name: "calls at the same time really run at the same time", alone: true },
    async (context) => {
      const task = await context.task();
      const started = performance.now();
      await Promise.all(Array.from({ length: 8 }, () => task.run("sleep 1")));
      const elapsed = performance.now() - started;
      holds(elapsed < 6_000, "eight naps of 1 s take less than 6 s", `${elapsed} ms`);
    },
  ),
];
