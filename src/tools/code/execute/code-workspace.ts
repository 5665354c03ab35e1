import type { Confine, Environment } from "../../../env/environment.js";
import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import type { InterpreterStart } from "./interpreter.js";
import type { Runner } from "./language.js";
import { type CodeSettings, passedThrough } from "./settings.js";

export type Mode = CodeSettings["mode"];

/** Where a script runs and what it may touch. */
export interface CodeWorkspace {
  readonly start: InterpreterStart;
  /** Removes the temporary folder, if there was one. */
  close(): Promise<void>;
}

const MAKE_FOLDER = 'exec mktemp -d "$' + '{TMPDIR:-/tmp}/hermes-code-XXXXXXXX"';
const SHORT_MS = 20_000;

export async function openCodeWorkspace(
  ctx: CallContext,
  wanted: { readonly runner: Runner; readonly mode: Mode; readonly settings: CodeSettings },
): Promise<CodeWorkspace> {
  const { environment, session } = ctx;
  const { runner, mode, settings } = wanted;
  const folder = mode === "strict" ? await temporaryFolder(environment) : undefined;
  const { workspace } = session;
  return {
    start: {
      runner,
      environment,
      cwd: folder ?? session.cwd,
      projects: folder === undefined ? [...new Set([session.cwd, workspace])] : [],
      confine: confineFor(settings, folder ?? workspace),
      passthrough: passedThrough(ctx.settings),
    },
    async close() {
      if (folder !== undefined) await removeFolder(environment, folder);
    },
  };
}

function confineFor(settings: CodeSettings, writable: string): Confine | undefined {
  if (settings.sandbox === "off") return undefined;
  return {
    mode: settings.sandbox,
    network: settings.network,
    writable: [writable],
    memoryBytes: settings.memory_mb * 1024 * 1024,
    processes: settings.max_processes,
  };
}

/** What shut the script in, in words. */
export function sandboxWords(
  environment: Environment,
  confinedBy: string | undefined,
  settings: CodeSettings,
): string {
  if (confinedBy !== undefined) return confinedBy;
  if (environment.kind !== "local") return `the environment ${environment.name}`;
  return settings.sandbox === "off"
    ? "none (code_execution.sandbox is off)"
    : "none (no sandbox works on this machine; `hermes doctor` says why)";
}

async function temporaryFolder(environment: Environment): Promise<string> {
  const made = await environment.exec({
    command: ["sh", "-c", MAKE_FOLDER],
    cwd: "/",
    timeoutMs: SHORT_MS,
    signal: new AbortController().signal,
    separateStderr: true,
  });
  const folder = made.output.trim();
  if (made.exitCode === 0 && folder.startsWith("/")) return folder;
  throw new ToolError(
    `No temporary folder could be made in the environment ${environment.name}: ${made.stderr.trim()}`,
    {
      code: "unavailable",
      hint: "Use mode project, or make room there.",
    },
  );
}

async function removeFolder(environment: Environment, folder: string): Promise<void> {
  const command = ["rm", "-rf", "--", folder];
  const options = { timeoutMs: SHORT_MS, signal: new AbortController().signal };
  await environment.exec({ command, cwd: "/", ...options }).catch(() => undefined);
}
