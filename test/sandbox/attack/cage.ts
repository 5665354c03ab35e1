import { spawn, spawnSync } from "node:child_process";
import { chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import type { AttackRow, RowResult, Setting, WardenOrder } from "./protocol.js";

/** Nobody on any machine: what leaves every cage is still nobody. */
const NOBODY = 61_234;
const LIMITS = ["--nproc=2000", "--fsize=67108864", "--data=3221225472", "--core=0", "--nofile=8192"];

/** A folder that two bundled programs lie in and that throwaway machines are made in. */
export interface Cage {
  readonly base: string;
  run(
    rows: readonly AttackRow[],
    setting: Setting & { readonly timeoutMs: number },
  ): Promise<readonly RowResult[]>;
  /** Any program in the outer cage, to see that it holds. */
  probe(script: string): { readonly status: number | null; readonly output: string };
  close(): void;
}

/** Why rows cannot be run here; undefined when they can. */
export function noCage(): string | undefined {
  const base = realpathSync(tmpdir());
  const machine = "--ro-bind / / --proc /proc --dev /dev".split(" ");
  const inner = [
    "bwrap",
    "--unshare-all",
    ...machine,
    "bwrap",
    "--unshare-user",
    "--ro-bind",
    "/",
    "/",
    "true",
  ];
  const { status, stderr } = spawnSync(...command(base, inner), { encoding: "utf8" });
  return status === 0 ? undefined : `[ci-cannot] namespaces cannot be nested here: ${stderr.trim()}`;
}

/**
 * Everything is read-only but one folder; no network, no other process, no rights, limits on memory, processes and
 * files. Started by root, it all belongs to a user that owns nothing.
 */
function command(base: string, inside: readonly string[]): [string, string[]] {
  const outer = [
    ...["bwrap", "--unshare-all", "--die-with-parent", "--new-session"],
    ...["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/run"],
    ...["--bind", base, base, "--setenv", "HOME", base, "--setenv", "TMPDIR", base, "--chdir", "/"],
    ...inside,
  ];
  const limited = ["prlimit", ...LIMITS, ...outer];
  const asNobody = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups", "--no-new-privs"];
  const whole = process.getuid?.() === 0 ? ["setpriv", ...asNobody, ...limited] : limited;
  const [program = "", ...rest] = whole;
  return [program, rest];
}

export async function openCage(): Promise<Cage> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "hermes-cage-")));
  if (process.getuid?.() === 0) chownSync(base, NOBODY, NOBODY);
  await bundle(base);
  let count = 0;
  return {
    base,
    async run(rows, setting) {
      const folder = join(base, `run-${++count}`);
      mkdirSync(folder);
      if (process.getuid?.() === 0) chownSync(folder, NOBODY, NOBODY);
      const order: WardenOrder = { ...setting, base: folder, programs: join(base, "programs"), rows };
      const file = join(base, `order-${count}.json`);
      writeFileSync(file, JSON.stringify(order));
      return results(...command(base, ["node", join(base, "programs/warden.mjs"), file]));
    },
    probe(script) {
      const { status, stdout, stderr } = spawnSync(...command(base, ["bash", "-c", script]), {
        encoding: "utf8",
      });
      return { status, output: stdout + stderr };
    },
    close: () => rmSync(base, { recursive: true, force: true, maxRetries: 5 }),
  };
}

async function bundle(base: string): Promise<void> {
  for (const name of ["warden", "neighbour", "runner"]) {
    const made = await rolldown({
      input: fileURLToPath(new URL(`./${name}.ts`, import.meta.url)),
      platform: "node",
      external: (id) => id.startsWith("node:") || id.startsWith("@lydell/"),
    });
    await made.write({ file: join(base, "programs", `${name}.mjs`), format: "esm", codeSplitting: false });
    await made.close();
  }
}

async function results(program: string, args: string[]): Promise<readonly RowResult[]> {
  const warden = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  const found: RowResult[] = [];
  let problem = "";
  warden.stderr.on("data", (bytes) => {
    problem = `${problem}${bytes}`.slice(-4_000);
  });
  const ended = new Promise<number | null>((done) => warden.once("close", done));
  for await (const line of createInterface({ input: warden.stdout })) found.push(JSON.parse(line));
  const status = await ended;
  if (status !== 0) throw new Error(`The warden ended with ${status} after ${found.length} rows: ${problem}`);
  return found;
}
