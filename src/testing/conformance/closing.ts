import { randomUUID } from "node:crypto";
import { onlyLeft, TAG } from "./context.js";
import { eventually, holds, refused, same, within } from "./expect.js";
import { type ConformanceCase, conformanceCase } from "./types.js";

const CLOSING_MS = 15_000;

export const closingCases: readonly ConformanceCase[] = [
  conformanceCase("it describes itself", async (context) => {
    const environment = await context.environment();
    const task = await context.task();
    const told = await task.environment.describe();
    same([told.name, told.kind, told.ok], [environment.name, environment.kind, true], "name, kind, ok");
    holds(told.cwd?.startsWith("/") === true, "the folder where commands start is absolute", told.cwd);
    holds(
      Object.values(told.facts).every((fact) => typeof fact === "string" && fact !== ""),
      "facts are texts",
      told.facts,
    );
    same((await task.run("pwd", { cwd: told.cwd ?? "/" })).exitCode, 0, "a command in that folder");
  }),

  conformanceCase("closing ends what runs and answers everybody", async (context) => {
    await context.withOwn(async (own) => {
      const task = await context.task(own);
      const tag = randomUUID();
      const env = { [TAG]: tag };
      let begun = 0;
      const onChunk = () => {
        begun += 1;
      };
      const pending = [
        task.run("echo begun; sleep 50", { env, onChunk }),
        task.run("trap '' TERM; echo begun; while :; do sleep 1; done", { env, onChunk }),
      ].map((each) => each.catch((error: unknown) => error));
      const started = await task.start("echo up; (setsid sleep 51 &); sleep 52", { env });
      await started.shows("up");
      await eventually("both commands run", () => begun >= 2);
      await within(CLOSING_MS, "close()", own.close());
      for (const answer of await within(2_000, "the answers of both commands", Promise.all(pending))) {
        if (answer instanceof Error) {
          await refused(Promise.reject(answer), {
            what: "a command cut short by close",
            code: "unavailable",
          });
        } else {
          const { exitCode, cancelled } = answer as { exitCode: number; cancelled: boolean };
          same([exitCode, cancelled], [130, true], "a command cut short by close");
        }
      }
      await started.ended(2_000);
      same(await context.running(tag), [], "what still runs");
    });
  }),

  conformanceCase("closing while commands are just starting leaves nothing", async (context) => {
    const tag = randomUUID();
    const env = { [TAG]: tag };
    await context.withOwn(async (own) => {
      const folder = await context.scratch(own);
      const request = { command: "sleep 53", cwd: folder, workspace: folder, env };
      const pending = Promise.allSettled([
        own.exec({ ...request, timeoutMs: 60_000, signal: new AbortController().signal }),
        own.spawn({ ...request, onOutput() {} }),
        own.exec({ ...request, timeoutMs: 60_000, signal: new AbortController().signal }),
      ]);
      await within(CLOSING_MS, "close()", own.close());
      await within(5_000, "the answers", pending);
    });
    same(await context.running(tag), [], "what still runs");
  }),

  conformanceCase(
    { name: "closing ends what commands left in the background", needs: ["background"] },
    async (context) => {
      const tag = randomUUID();
      await context.withOwn(async (own) => {
        const task = await context.task(own);
        await task.run("sleep 54 >/dev/null 2>&1 & (setsid sleep 55 >/dev/null 2>&1 &)", {
          env: { [TAG]: tag },
        });
        await eventually("both run", async () => (await context.running(tag)).length >= 2);
      });
      same(await context.running(tag), [], "what still runs");
    },
  ),

  conformanceCase({ name: "closing leaves nothing behind", alone: true }, async (context) => {
    // Opened first, so that what it makes is not counted.
    await context.environment();
    const before = await context.setup.leftovers();
    await context.withOwn(async (own) => {
      const task = await context.task(own);
      await task.run("cat; echo hi >&2", { stdin: "x".repeat(300_000) });
      await task.environment.files.write(`${task.folder}/file`, Buffer.from("x"));
      const started = await task.start("read x");
      await started.process.write("x\n");
      await started.ended();
      await task.run("sleep 30", { timeoutMs: context.startMs });
      await task.run(`rm -rf ${task.folder}`);
    });
    await onlyLeft(context.setup, before);
  }),

  conformanceCase(
    { name: "opening and closing without use leaves nothing either", alone: true },
    async (context) => {
      await context.environment();
      const before = await context.setup.leftovers();
      await context.withOwn(async () => {});
      await onlyLeft(context.setup, before);
    },
  ),

  conformanceCase(
    "using a closed environment is a clear error, closing it again is none",
    async (context) => {
      await context.withOwn(async (own) => {
        const task = await context.task(own);
        await task.run("true");
        await own.close();
        const closed = { like: /closed/, code: "unavailable" } as const;
        await refused(task.run("true"), { what: "exec", ...closed });
        await refused(task.run(["true"]), { what: "exec of a program", ...closed });
        await refused(task.start("true"), { what: "spawn", ...closed });
        await within(CLOSING_MS, "close() once more", own.close());
      });
    },
  ),
];
