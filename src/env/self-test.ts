import { randomBytes } from "node:crypto";
import { describeThrown } from "../tool/thrown.js";
import type { Environment, ExecResult } from "./environment.js";
import { inTask, TaskState } from "./task.js";

export interface SelfTestStep {
  readonly what: string;
  readonly ok: boolean;
  readonly ms: number;
  readonly detail?: string | undefined;
}

const LIMIT_MS = 30_000;

/** Uses an environment the way tools do, in a folder of its own that is removed again. */
export async function* selfTest(opened: Environment, here: string): AsyncIterable<SelfTestStep> {
  const start = opened.kind === "local" ? here : opened.files.resolve("~", "/");
  const state = new TaskState(start);
  const environment = inTask(opened, { state, workspace: start });
  const shell = (command: string, timeoutMs = LIMIT_MS): Promise<ExecResult> =>
    environment.exec({ command, cwd: state.cwd, timeoutMs, signal: AbortSignal.timeout(LIMIT_MS * 2) });
  const folder = `/tmp/hermes-test-${randomBytes(6).toString("hex")}`;
  const file = `${folder}/a file.txt`;
  const bytes = Buffer.from([0, 255, 10, 200, 13]);
  const checks: readonly (readonly [string, () => Promise<string | undefined>])[] = [
    ["describe", async () => explain(await environment.describe())],
    ["run a command", async () => expect((await shell("echo hi; exit 3")).exitCode, 3)],
    [
      "keep folder and variables",
      async () => {
        await shell(`mkdir -p ${folder} && cd ${folder} && export HERMETIC=yes`);
        return expect((await shell('printf %s "$PWD $HERMETIC"')).output, `${state.cwd} yes`);
      },
    ],
    [
      "write and read a file",
      async () => {
        await environment.files.write(await environment.files.realpath(file), bytes);
        return expect(Buffer.from(await environment.files.read(file)).toString("hex"), bytes.toString("hex"));
      },
    ],
    ["end a command in time", async () => expect((await shell("sleep 60", 300)).exitCode, 124)],
    [
      "clean up",
      async () =>
        expect((await shell(`cd / && rm -r '${folder}'; ls '${folder}' 2>&1 | wc -l`)).output.trim(), "1"),
    ],
  ];
  for (const [what, check] of checks) {
    const began = performance.now();
    const done = await check().then(
      (detail) => ({ ok: true, detail }),
      (error: unknown) => ({ ok: false, detail: describeThrown(error).message }),
    );
    yield { what, ms: Math.round(performance.now() - began), ...done };
  }
}

function expect(seen: unknown, wanted: unknown): undefined {
  if (seen === wanted) return undefined;
  throw new Error(`expected ${JSON.stringify(wanted)}, saw ${JSON.stringify(seen)}`);
}

function explain(description: Awaited<ReturnType<Environment["describe"]>>): string {
  if (!description.ok) throw new Error(`${description.reason ?? "does not work"}; ${description.fix ?? ""}`);
  return Object.entries(description.facts)
    .map(([name, value]) => `${name}: ${value}`)
    .join(", ");
}
