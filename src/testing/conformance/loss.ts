import { randomUUID } from "node:crypto";
import { type ConformanceContext, TAG } from "./context.js";
import { eventually, fail, holds, matches, refused, same, within } from "./expect.js";
import { type ConformanceCase, conformanceCase } from "./types.js";

/** How long it may take until a lost connection is an error. */
const NOTICED_MS = 15_000;

export const lossCases: readonly ConformanceCase[] = [
  conformanceCase(
    {
      name: "a connection lost in the middle of a command is an error, never a result",
      alone: true,
      needs: ["cut"],
    },
    async (context) => {
      await context.withOwn(async (own) => {
        const task = await context.task(own);
        const tag = randomUUID();
        let begun = false;
        const pending = task.run("echo begun; sleep 50; echo never", {
          env: { [TAG]: tag },
          onChunk: () => {
            begun = true;
          },
        });
        pending.catch(() => {});
        const background = await task.start("echo up; sleep 50", { env: { [TAG]: tag } });
        await background.shows("up");
        await eventually("the command runs", () => begun);
        await cut(context, own);
        const error = await within(
          NOTICED_MS,
          "the error of a lost command",
          refused(pending, { what: "a command whose connection was lost", code: "unavailable" }),
        );
        matches(error.message, /lost|closed|gone|broke|ended|connection|stopped/i, "the message");
        const end = await background.ended(NOTICED_MS);
        holds(typeof end.lost === "string", "the spawned program's end says that it is lost", end);

        const next = await task.run("echo again").catch((problem: unknown) => problem);
        if (next instanceof Error) {
          same(context.setup.afterCut ?? "works", "lost", `the next command failed: ${next.message}`);
          await refused(Promise.reject(next), { what: "the next command", code: "unavailable" });
          return;
        }
        same((next as { output: string }).output, "again\n", "the next command");
        await eventually(
          "nothing of the lost commands runs on",
          async () => (await context.running(tag)).length === 0,
          NOTICED_MS,
        );
        await task.environment.files.write(`${task.folder}/after`, Buffer.from("x"));
        same((await task.run("cat after; pwd")).output, `x${task.folder}\n`, "files and folder afterwards");
      });
    },
  ),

  conformanceCase(
    {
      name: "a connection lost while idle is noticed by the next call, which works or says so",
      alone: true,
      needs: ["cut"],
    },
    async (context) => {
      await context.withOwn(async (own) => {
        const task = await context.task(own);
        await task.run("export CF_KEPT=1; mkdir sub; cd sub");
        await cut(context, own);
        const ask = () =>
          within(
            NOTICED_MS,
            "the next command",
            task.run(`echo "$CF_KEPT"; pwd`).catch((problem) => problem),
          );
        let next: unknown = await ask();
        if (next instanceof Error) {
          await refused(Promise.reject(next), { what: "the next command", code: "unavailable" });
          // It may have been on its way when the loss was not known yet.
          next = await ask();
        }
        if (next instanceof Error) {
          same(context.setup.afterCut ?? "works", "lost", `a later command failed: ${next.message}`);
          await refused(Promise.reject(next), { what: "a later command", code: "unavailable" });
        } else same((next as { output: string }).output, `1\n${task.folder}/sub\n`, "the next command");
      });
    },
  ),

  conformanceCase(
    { name: "closing after a lost connection is quick and quiet", alone: true, needs: ["cut"] },
    async (context) => {
      await context.withOwn(async (own) => {
        const task = await context.task(own);
        await task.run("true");
        await cut(context, own);
        await within(NOTICED_MS, "close after a cut", own.close());
      });
    },
  ),
];

async function cut(
  context: ConformanceContext,
  environment: Parameters<NonNullable<ConformanceContext["setup"]["cut"]>>[0],
): Promise<void> {
  const { setup } = context;
  if (setup.cut === undefined) fail({ what: "the setup", expected: "a way to cut", seen: "none" });
  await setup.cut(environment);
}
