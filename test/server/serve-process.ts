import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { onTestEnd } from "../support/runtime.js";

const repository = fileURLToPath(new URL("../../", import.meta.url));
const EXTERNAL = ["@vscode/ripgrep", "libsql", "playwright-core", "systeminformation", "typescript6"];

/** Node 20 cannot import TypeScript, so the program is bundled, inside node_modules where its packages are found. */
export async function bundleProgram(): Promise<{ readonly script: string; remove(): Promise<void> }> {
  const cache = join(repository, "node_modules/.cache/hermes-tools");
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, "serve-"));
  const bundle = await rolldown({
    input: { main: join(repository, "src/cli/start.ts") },
    platform: "node",
    external: (id) =>
      id.startsWith("node:") || EXTERNAL.some((name) => id === name || id.startsWith(`${name}/`)),
    logLevel: "silent",
  });
  await bundle.write({ dir: folder, format: "esm", entryFileNames: "[name].mjs" });
  await bundle.close();
  return { script: join(folder, "main.mjs"), remove: () => rm(folder, { recursive: true, force: true }) };
}

export interface ServeProcess {
  readonly child: ChildProcess;
  readonly exited: Promise<number | null>;
  stdout(): string;
  stderr(): string;
}

export function startServe(options: {
  readonly script: string;
  readonly home: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}): ServeProcess {
  const child = spawn(process.execPath, [options.script, "serve", ...(options.args ?? [])], {
    cwd: options.home,
    env: {
      PATH: process.env.PATH,
      HOME: options.home,
      HERMES_HOME: options.home,
      NO_COLOR: "1",
      ...options.env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
    stdout += chunk;
  });
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    stderr += chunk;
  });
  const exited = new Promise<number | null>((resolve) => {
    child.on("close", (code) => resolve(code));
  });
  onTestEnd(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  return { child, exited, stdout: () => stdout, stderr: () => stderr };
}
