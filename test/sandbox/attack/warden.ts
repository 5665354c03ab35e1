// In the outer cage, where nothing but its own folder can be written: furnishes a throwaway machine, has each row run in it
// and says what was reached.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { Canaries } from "./canaries.js";
import {
  changes,
  isFolder,
  putBack,
  type Reached,
  reachedOnDisk,
  type Snapshot,
  snapshot,
} from "./inspect.js";
import { furnish, type Machine } from "./machine.js";
import {
  type AttackRow,
  NOT_RUN,
  type RowResult,
  type RunnerOrder,
  type RunnerReady,
  type RunnerRow,
  type RunnerSettings,
  type WardenOrder,
} from "./protocol.js";

const order: WardenOrder = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8"));
const isRoot = order.user === "root";
const home = isRoot ? "/root" : "/home/dev";
const NOT_FOUND = /command not found|not found$|No such file or directory: '[\w-]+'|No module named/m;

const pristine: Machine = {
  root: join(order.base, "pristine"),
  home,
  hermesHome: join(home, ".hermes"),
  workspace: join(home, "project"),
};
const canaries = new Canaries();

/** Rows that changed nothing and left nothing run one after the other in one session. */
const MAX_IN_ONE_SESSION = 25;
/** Less than half of what the outer cage has: two run side by side, and a fork bomb in one must not stop their wardens. */
const FEWER_PROCESSES = "--nproc=700";

interface Stage {
  readonly machine: Machine;
  readonly cage: ChildProcess;
  readonly answers: AsyncIterator<string>;
  before: Snapshot;
}

let made = 0;

async function setUp(): Promise<Stage> {
  const machine: Machine = { ...pristine, root: join(order.base, `machine-${++made}`) };
  execFileSync("cp", ["-a", pristine.root, machine.root]);
  const settings: RunnerSettings = {
    hermesHome: machine.hermesHome,
    workspace: machine.workspace,
    timeoutMs: order.timeoutMs,
    guarded: order.guarded,
  };
  const cage = spawn("prlimit", [FEWER_PROCESSES, "bwrap", ...cageArguments(machine, settings)], {
    stdio: ["pipe", "pipe", "inherit"],
    env: {
      PATH: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
      HOME: home,
      USER: isRoot ? "root" : "dev",
      LANG: "C.UTF-8",
      XDG_RUNTIME_DIR: "/run/user/1000",
      // Only the process itself may know it.
      HERMES_SERVER_TOKEN: canaries.at("the environment of the runtime"),
    },
  });
  cage.stdin?.on("error", () => {});
  const answers = createInterface({ input: cage.stdout ?? process.stdin })[Symbol.asyncIterator]();
  const ready = await answers.next();
  if (ready.done === true) throw new Error("The runner ended before it was ready.");
  const { heldBy } = JSON.parse(ready.value) as RunnerReady;
  if (heldBy !== (order.guarded ? "namespaces" : "no namespace"))
    throw new Error(`Commands are held by: ${heldBy}`);
  return { machine, cage, answers, before: snapshot(machine.root) };
}

function cageArguments({ root }: Machine, settings: RunnerSettings): readonly string[] {
  return [
    ...["--unshare-all", "--die-with-parent", "--new-session"],
    ...["--uid", "0", "--gid", "0", "--cap-add", "ALL"],
    ...["--bind", root, "/", "--ro-bind", "/usr", "/usr", "--bind", join(root, "usr-local"), "/usr/local"],
    ...["--proc", "/proc", "--dev", "/dev", "--bind", join(root, "shm"), "/dev/shm"],
    ...["--ro-bind", order.programs, "/srv", "--chdir", "/"],
    ...[
      "/usr/bin/env",
      "node",
      "/srv/neighbour.mjs",
      order.user,
      "/srv/runner.mjs",
      JSON.stringify(settings),
    ],
  ];
}

async function tearDown({ cage, machine }: Stage): Promise<void> {
  if (cage.exitCode === null && cage.signalCode === null) {
    cage.kill("SIGKILL");
    await new Promise((done) => cage.once("exit", done));
  }
  rmSync(machine.root, { recursive: true, force: true });
}

async function answerOf(stage: Stage, row: RunnerOrder): Promise<RunnerRow | undefined> {
  stage.cage.stdin?.write(`${JSON.stringify(row)}\n`);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((done) => {
    timer = setTimeout(() => done(undefined), 2 * order.timeoutMs + 15_000);
  });
  const next = await Promise.race([stage.answers.next(), late]);
  clearTimeout(timer);
  return next === undefined || next.done === true ? undefined : JSON.parse(next.value);
}

function resultOf(
  id: string,
  answer: RunnerRow | undefined,
  stage: Stage,
): RowResult & { changed: readonly string[] } {
  const { machine } = stage;
  const after = snapshot(machine.root);
  const changed = changes(stage.before, after);
  const read = (from: string, text: string): readonly Reached[] =>
    canaries.in(Buffer.from(text, "latin1")).map((place) => ({ how: "read", what: `${place} (${from})` }));
  return {
    id,
    reached: [
      ...read("printed", answer?.output ?? ""),
      ...read("sent", answer?.sent ?? ""),
      ...(answer?.talked ?? []).map((what): Reached => ({ how: "talked to", what })),
      ...reachedOnDisk(changed, { before: stage.before, after, machine, canaries }),
    ],
    exitCode: answer?.exitCode ?? -1,
    timedOut: answer?.timedOut ?? false,
    missing: answer?.exitCode === 127 || NOT_FOUND.test(answer?.output ?? ""),
    level: answer?.level,
    ended: answer === undefined,
    failed: answer?.failed,
    output: (answer?.output ?? "").slice(0, 3000),
    changed,
  };
}

mkdirSync(pristine.root);
furnish(pristine, canaries, order.furnishing);
let stage = await setUp();
let calm = 0;
async function startAgain(): Promise<void> {
  await tearDown(stage);
  stage = await setUp();
  calm = 0;
}

async function runRow({ id, command, after = 0 }: AttackRow) {
  const answer = await answerOf(stage, { command, fresh: calm === 0 });
  if (answer === undefined) stage.cage.kill("SIGKILL");
  else await delay(after);
  return resultOf(id, answer, stage);
}

for (const row of order.rows) {
  let ran = await runRow(row);
  if (NOT_RUN.test(ran.failed ?? "")) {
    // Nothing ran: what an earlier row has used up may be in the way.
    await startAgain();
    ran = await runRow(row);
  }
  const { changed, ...result } = ran;
  process.stdout.write(`${JSON.stringify(result)}\n`);
  const isQuiet = changed.length === 0 && !result.timedOut && !/&|nohup|setsid|disown/.test(row.command);
  calm = isQuiet ? (calm + 1) % MAX_IN_ONE_SESSION : 0;
  // Mounts of the cage and sockets lie in folders: one that was changed cannot be replaced under them.
  if (result.ended || result.reached.length > 0 || changed.some((path) => isFolder(stage.before.get(path)))) {
    await startAgain();
  } else if (changed.length > 0) {
    putBack(changed, stage.machine.root, pristine.root);
    stage.before = snapshot(stage.machine.root);
  }
}
await tearDown(stage);
process.exit(0);
