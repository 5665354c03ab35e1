import { join, relative } from "node:path/posix";
import { isBelow } from "../../../base/path.js";
import { quoteIfNeeded } from "../../../base/quote.js";
import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import { foldersUpwards } from "./find-upwards.js";

const LOOK_MS = 10_000;

/** A program of the project (node_modules/.bin, a virtual environment) or of the machine. */
export async function findTool(
  name: string,
  place: { readonly folder: string; readonly ctx: CallContext },
): Promise<string | undefined> {
  const { files } = place.ctx.environment;
  for (const folder of foldersUpwards(place.folder)) {
    for (const inside of ["node_modules/.bin", ".venv/bin", "venv/bin"]) {
      const path = join(folder, inside, name);
      if ((await files.stat(path))?.type === "file") return path;
    }
  }
  return onPath(name, place.ctx);
}

export async function onPath(name: string, ctx: CallContext): Promise<string | undefined> {
  const { environment, signal, session } = ctx;
  const { output, exitCode } = await environment.exec({
    command: ["sh", "-c", 'command -v -- "$1"', "sh", name],
    cwd: session.cwd,
    timeoutMs: LOOK_MS,
    signal,
    separateStderr: true,
  });
  const path = output.trim();
  return exitCode === 0 && path.startsWith("/") ? path : undefined;
}

export interface Ran {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
  readonly durationMs: number;
}

const MAX_OUTPUT_CHARS = 20_000_000;

/**
 * Runs a program of the project by its argument vector. Which one it is turns out only here, so the policy is
 * asked about the very command line before it runs.
 */
export async function runTool(
  given: readonly string[],
  options: {
    readonly ctx: CallContext;
    readonly cwd: string;
    readonly timeoutMs: number;
    readonly stdin?: string | Uint8Array;
  },
): Promise<Ran> {
  const { ctx, cwd, timeoutMs, stdin } = options;
  const [program = "", ...rest] = given;
  const argv = [nearName(program, cwd), ...rest];
  const resource = argv.map(quoteIfNeeded).join(" ");
  const refused = ctx.refusal({ action: "terminal:execute", resource, mode: "execute", cwd });
  if (refused !== undefined) {
    throw new ToolError(`${resource} may not be run here: ${refused}`, {
      code: "denied",
      hint: "Run it with the terminal tool where somebody can be asked.",
    });
  }
  const ran = await ctx.environment.exec({
    command: argv,
    cwd,
    timeoutMs,
    signal: ctx.signal,
    separateStderr: true,
    maxOutputChars: MAX_OUTPUT_CHARS,
    stdin,
  });
  if (ran.timedOut) {
    throw new ToolError(`${resource} took longer than ${timeoutMs / 1000} s and was ended.`, {
      code: "timeout",
      hint: "Name a smaller part, or raise timeout.",
    });
  }
  ctx.signal.throwIfAborted();
  return { stdout: ran.output, stderr: ran.stderr, exitCode: ran.exitCode, durationMs: ran.durationMs };
}

/** A program of the project by its name from where it is started, as a person would type it. */
export function nearName(program: string, cwd: string): string {
  return isBelow(program, cwd) ? `./${relative(cwd, program)}` : program;
}
