import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const main = join(root, "dist", "cli", "main.js");

if (!existsSync(main))
  throw new Error("dist/ is missing: run `npm run build`, or the tests through `npm test`");

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly home?: string;
  readonly cwd?: string;
  readonly stdin?: string | Buffer;
  readonly env?: Readonly<Record<string, string>>;
}

const folders: string[] = [];
const running = new Set<ChildProcess>();
let sharedHome: string | undefined;

afterAll(async () => {
  const ended = [...running]
    .filter(({ pid }) => pid !== undefined)
    .map((child) => new Promise((resolve) => child.once("exit", resolve)));
  for (const child of running) child.kill("SIGKILL");
  // What is still being written keeps a folder from being removed.
  await Promise.all(ended);
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

export function tempFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "hermes-cli-")));
  folders.push(folder);
  return folder;
}

/** A home for tests that leave nothing in it another one could notice. */
function plainHome(): string {
  sharedHome ??= tempFolder();
  return sharedHome;
}

/** The built program as a person would start it, with nothing of this process's own settings. */
export function start(args: readonly string[], options: RunOptions = {}): ChildProcess {
  const home = options.home ?? plainHome();
  const child = spawn(process.execPath, [main, ...args], {
    cwd: options.cwd ?? home,
    env: { ...plainEnvironment(home), ...options.env },
    stdio: "pipe",
  });
  running.add(child);
  child.once("exit", () => running.delete(child));
  child.stdin?.on("error", () => undefined);
  return child;
}

export function plainEnvironment(home: string): Record<string, string> {
  return { PATH: process.env.PATH ?? "", HOME: home, HERMES_HOME: home, LANG: "C.UTF-8" };
}

export async function hermes(args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  const child = start(args, options);
  child.stdin?.end(options.stdin ?? "");
  return outcomeOf(child);
}

export function outcomeOf(child: ChildProcess): Promise<Outcome> {
  const texts = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.setEncoding("utf8").on("data", (chunk: string) => {
      texts[name] += chunk;
    });
  }
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, ...texts }));
  });
}

/** The value of `--json`; fails when stdout holds anything else. */
export function json<T = unknown>({ stdout, stderr }: Outcome): T {
  const lines = stdout.split("\n");
  if (lines.length !== 2 || lines[1] !== "")
    throw new Error(`expected one line of JSON, got ${JSON.stringify(stdout)}; stderr: ${stderr}`);
  return JSON.parse(lines[0] ?? "") as T;
}

export async function hermesJson<T = unknown>(args: readonly string[], options: RunOptions = {}): Promise<T> {
  return json<T>(await hermes([...args, "--json"], options));
}

export interface ErrorLine {
  readonly error: { readonly code: string; readonly message: string; readonly hint?: string };
}

/** The error of `--json`: the one and only line on stderr. */
export function errorLine({ stderr }: Outcome): ErrorLine["error"] {
  const lines = stderr.split("\n");
  if (lines.length !== 2 || lines[1] !== "")
    throw new Error(`expected one line on stderr, got ${JSON.stringify(stderr)}`);
  return (JSON.parse(lines[0] ?? "") as ErrorLine).error;
}

export function linesOf(text: string): readonly string[] {
  return text.split("\n").filter((line) => line !== "");
}

export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string,
  { seconds = 15 } = {},
): Promise<void> {
  const deadline = Date.now() + seconds * 1_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`${what} did not happen within ${seconds} s`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
