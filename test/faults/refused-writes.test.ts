// @needs gcc /usr/include/stdio.h
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { report } from "./figures.js";
import { type Faulty, makeFaulty, type Refusal } from "./shim/faulty.js";
import { FULL, faultHome, type RuntimeProcess, startRuntime } from "./support.js";

interface Step {
  readonly name: string;
  readonly ok: boolean;
  readonly error?: string;
  readonly notices?: readonly string[];
}

interface Fault {
  readonly calls: Refusal["calls"];
  readonly error: Refusal["error"];
  /** What a person is told in the end. */
  readonly named: RegExp;
}

const FULL_DISK: Fault = { calls: ["writes", "syncs"], error: "ENOSPC", named: /ENOSPC|full|space/i };
const OTHERS: readonly Fault[] = [
  { calls: ["writes", "syncs"], error: "EIO", named: /EIO|i\/o error|disk/i },
  { calls: ["reads"], error: "EIO", named: /EIO|i\/o error|disk/i },
  {
    calls: ["opens"],
    error: "EACCES",
    named: /EACCES|permission|not allowed|unable to open|cannot be opened/i,
  },
  { calls: ["opens", "names"], error: "EROFS", named: /EROFS|read-?only|unable to open|cannot be opened/i },
  { calls: ["opens"], error: "EMFILE", named: /EMFILE|too many (?:open )?files/i },
];

/** A run ends untouched long before; it is a bound for a loop that would not end. */
const MOST = 2_000;
/** In the short form only every so many-th call is refused. */
const STRIDE = FULL ? 1 : 40;

const found: string[] = [];

test("a disk that is full at any write: told, nothing torn, and with space again all is well", async () => {
  const played = await playAll(FULL_DISK, [1, 40]);
  const started = FULL ? await startAll(FULL_DISK) : { trials: 0, refused: 0 };
  report({
    id: "K1",
    what: "disk full at the n-th write of a session (once, and for 40 writes) and of a start, for every n",
    trials: played.trials + started.trials,
    seen: `${played.trials} in the session, ${started.trials} at the start: ${found.length} crashes, torn files or errors without a cause`,
    goal: "0; works again without a restart",
    pass: found.length === 0 && played.trials > 0,
  });
}, 900_000);

test("EIO, EACCES, a read-only disk and no more descriptors at any call", async () => {
  found.length = 0;
  let trials = 0;
  for (const fault of FULL ? OTHERS : OTHERS.slice(-1))
    trials += (await playAll(fault, FULL ? [1, 40] : [1])).trials;
  report({
    id: "K2",
    what: "EIO, EACCES, EROFS, EMFILE at the n-th call, for every n",
    trials,
    seen: `${found.length} crashes, torn files or errors without a cause`,
    goal: "0; works again without a restart",
    pass: found.length === 0 && trials > 0,
  });
}, 1_800_000);

/** One process for all n: that is what working again without a restart means. */
async function playAll(fault: Fault, counts: readonly number[]): Promise<{ trials: number }> {
  const { home, faulty } = place();
  const runtime = await startRuntime(home, { script: "./children/script.mjs", env: faulty.env });
  onTestFinished(() => runtime.kill());
  await runtime.answer();
  let turn = 0;
  const play = async () => {
    turn += 1;
    runtime.send({ turn });
    return ((await runtime.answer()) as unknown as { steps: readonly Step[] }).steps;
  };
  for (const step of await play()) expect(step).toMatchObject({ ok: true });
  let trials = 0;
  for (const count of counts) {
    for (let from = 1; from < MOST; from += STRIDE) {
      faulty.refuse({ calls: fault.calls, error: fault.error, from, count });
      const where = `${fault.error} at ${fault.calls.join("/")} ${from} (${count})`;
      const steps = await answered(runtime, play, where);
      const { refused } = faulty.relent();
      if (refused === 0) break;
      trials += 1;
      judge(steps, { fault, where });
      checkFiles(home, where);
      const again = await play();
      if (again.some(({ ok }) => !ok)) found.push(`${where}, afterwards: ${JSON.stringify(again)}`);
    }
  }
  await runtime.close();
  if (found.length > 0) console.error(found.slice(0, 10).join("\n"));
  return { trials };
}

/** The same while a runtime starts: it starts, or says why not; the next one does. */
async function startAll(fault: Fault): Promise<{ trials: number }> {
  let trials = 0;
  for (let from = 1; from < MOST; from += 1) {
    const { home, faulty } = place();
    faulty.refuse({ calls: fault.calls, error: fault.error, from, count: 1 });
    const where = `${fault.error} at ${from} of a start`;
    const first = await startRuntime(home, { script: "./children/script.mjs", env: faulty.env });
    onTestFinished(() => first.kill());
    const said = await first.answer().then(
      () => undefined,
      (error: unknown) => String(error),
    );
    const { refused } = faulty.relent();
    await first.close();
    if (said !== undefined && !fault.named.test(said)) found.push(`${where}: ${said}`);
    const next = await startRuntime(home, { script: "./children/script.mjs" });
    onTestFinished(() => next.kill());
    await next.answer().catch((error: unknown) => found.push(`${where}, the next start: ${error}`));
    await next.close();
    if (refused === 0) break;
    trials += 1;
  }
  return { trials };
}

function place(): { readonly home: string; readonly faulty: Faulty } {
  const { home: folder, remove } = faultHome();
  onTestFinished(remove);
  const home = join(folder, "home");
  mkdirSync(join(home, "work"), { recursive: true });
  writeFileSync(join(home, "config.yaml"), readFileSync(join(folder, "config.yaml")));
  writeFileSync(join(home, "work", "steady.txt"), "steady\n");
  const faulty = makeFaulty(home);
  onTestFinished(() => faulty.remove());
  return { home, faulty };
}

async function answered(
  runtime: RuntimeProcess,
  play: () => Promise<readonly Step[]>,
  where: string,
): Promise<readonly Step[]> {
  const late = new Promise<never>((_, reject) =>
    setTimeout(() => reject(new Error(`${where}: no answer within 60 s`)), 60_000).unref(),
  );
  return Promise.race([play(), late]).catch((error: unknown) => {
    throw new Error(`${where}: ${error} (${runtime.pid})`);
  });
}

function judge(
  steps: readonly Step[],
  { fault, where }: { readonly fault: Fault; readonly where: string },
): void {
  for (const { name, ok, error } of steps)
    if (!ok && !fault.named.test(error ?? "")) found.push(`${where}: ${name}: ${error}`);
}

/** Whole old or whole new. */
function checkFiles(home: string, where: string): void {
  const text = readFileSync(join(home, "work", "kept.txt"), "utf8");
  const [first = ""] = text.split(";", 1);
  if (text !== `${first};`.repeat(3_000)) found.push(`${where}: kept.txt is torn (${text.length} bytes)`);
  if (readFileSync(join(home, "work", "steady.txt"), "utf8") !== "steady\n")
    found.push(`${where}: steady.txt changed`);
}
