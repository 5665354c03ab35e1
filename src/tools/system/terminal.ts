import { homedir } from "node:os";
import { resolve as resolvePath } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import { exitNote } from "./exit-notes.js";
import { foregroundRefusal } from "./foreground.js";
import { denialNote, WIDENING_PATTERN, wideningEffects, wideningOf } from "./widen.js";

const DEFAULT_TIMEOUT_S = 180;
const MAX_FOREGROUND_S = 600;
const DEFAULT_OUTPUT_CHARS = 50_000;
/** Time the environment may need after the limit to end the process tree and collect the output. */
const CLEANUP_MARGIN_MS = 15_000;
const WORKDIR = /^[\p{L}\p{M}\p{N}/\\:_\-.~ +@=,]+$/u;

export interface TerminalOutput {
  readonly output: string;
  readonly exit_code: number;
  /** Only when the command did not end with 0. */
  readonly error?: string;
  readonly exit_note?: string;
  readonly duration_ms: number;
  readonly truncated: boolean;
  /** Where the shell stood when it ended. */
  readonly cwd: string;
  readonly environment: string;
  /** Processes the command left behind: pid and program. */
  readonly still_running?: readonly string[];
  /** What the sandbox has probably refused, and how to ask for it. */
  readonly sandbox_note?: string;
  /** Programs that were still running when the command ended; they ended with the sandbox. */
  readonly ended_with_command?: readonly string[];
}

export default defineTool({
  name: "terminal",
  toolset: "terminal",
  emoji: "💻",
  description:
    "Run a shell command with bash and return its combined output and exit code. Each call is a fresh shell " +
    "in the session's working directory; standard input is empty and there is no terminal, so use " +
    "non-interactive options. Commands must end by themselves: no `&`, nohup or development servers. " +
    "Prefer the file tools for reading, searching and editing files.",
  parameters: {
    type: "object",
    properties: {
      command: { type: "string", minLength: 1, description: "Command line for bash." },
      timeout: {
        type: "integer",
        minimum: 1,
        description: `Seconds until the command and everything it started is ended; ${DEFAULT_TIMEOUT_S} when left out, at most ${MAX_FOREGROUND_S}.`,
      },
      workdir: {
        type: "string",
        description: "Folder to run in; relative to the session's working directory, which is the default.",
      },
      widen: {
        type: "array",
        items: { type: "string", pattern: WIDENING_PATTERN },
        description:
          'Only after a result said that the sandbox refused something: "network", "write:/absolute/path" or "off", for this call.',
      },
    },
    required: ["command"],
    additionalProperties: false,
  },
  permissions: ["terminal:execute"],
  effects: ({ command, workdir, widen }, { cwd, home = homedir() }) => [
    {
      action: "terminal:execute",
      resource: command,
      mode: "execute",
      ...(workdir && { cwd: resolvePath(cwd, workdir.replace(/^~(?=\/|$)/, home)) }),
    },
    ...wideningEffects(widen),
  ],
  needs: { programs: ["bash"], fix: "install bash and put it on PATH" },
  tolerant: true,
  timeoutMs: ({ timeout }) => (timeout ?? MAX_FOREGROUND_S) * 1000 + CLEANUP_MARGIN_MS,

  async handler({ command, timeout: asked, workdir, widen }, ctx): Promise<TerminalOutput> {
    const timeout = asked ?? positive(ctx.settings.terminal_timeout) ?? DEFAULT_TIMEOUT_S;
    const longest = positive(ctx.settings.max_foreground_timeout) ?? MAX_FOREGROUND_S;
    if (timeout > longest) {
      throw new ToolError(`A command in the foreground may take at most ${longest} s, not ${timeout} s.`, {
        code: "invalid_arguments",
        hint: "Use a smaller timeout, split the work, or run it as a background process.",
      });
    }
    const refusal = foregroundRefusal(command);
    if (refusal !== undefined) throw new ToolError(refusal.message, refusal);
    const cwd = workingDirectory(workdir, (path) => ctx.environment.files.resolve(path, ctx.session.cwd));
    const sandbox = wideningOf(widen);
    const result = await ctx.environment.exec({
      command,
      cwd: cwd ?? ctx.session.cwd,
      timeoutMs: timeout * 1000,
      signal: ctx.signal,
      maxOutputChars: positive(ctx.settings.max_output_chars) ?? DEFAULT_OUTPUT_CHARS,
      onChunk: (chunk) => ctx.progress({ chunk }),
      ...(sandbox !== undefined && { sandbox }),
    });
    const error = result.timedOut
      ? `Timed out after ${timeout} s; the command and everything it started was ended.`
      : result.cancelled
        ? "Cancelled; the command and everything it started was ended."
        : result.exitCode === 0
          ? undefined
          : `The command ended with exit code ${result.exitCode}.`;
    const note = result.timedOut || result.cancelled ? undefined : exitNote(command, result.exitCode);
    const denial = denialNote(result.sandbox);
    return {
      output: stripVTControlCharacters(result.output),
      exit_code: result.exitCode,
      ...(error === undefined ? {} : { error }),
      ...(note === undefined ? {} : { exit_note: note }),
      duration_ms: result.durationMs,
      truncated: result.truncated,
      cwd: result.cwd ?? cwd ?? ctx.session.cwd,
      environment: ctx.environment.name,
      ...(result.stillRunning !== undefined && {
        still_running: result.stillRunning.map(({ pid, command: program }) => `${pid} (${program})`),
      }),
      ...(denial !== undefined && { sandbox_note: denial }),
      ...(result.sandbox?.ended !== undefined && { ended_with_command: result.sandbox.ended }),
    };
  },

  present(out) {
    const lines = [out.output.replace(/\n$/, "")];
    if (out.error !== undefined) lines.push(out.exit_note ? `${out.error} (${out.exit_note})` : out.error);
    if (out.still_running !== undefined) lines.push(`still running: ${out.still_running.join(", ")}`);
    if (out.sandbox_note !== undefined) lines.push(out.sandbox_note);
    if (out.ended_with_command !== undefined) {
      lines.push(`ended with the command: ${out.ended_with_command.join(", ")}`);
    }
    return { model: [text(JSON.stringify(out))], human: lines.filter((line) => line !== "").join("\n") };
  },
});

function workingDirectory(
  workdir: string | undefined,
  resolve: (path: string) => string,
): string | undefined {
  if (workdir === undefined || workdir === "") return undefined;
  if (WORKDIR.test(workdir)) return resolve(workdir);
  throw new ToolError(
    `The working directory ${JSON.stringify(workdir)} holds characters that are not accepted.`,
    {
      code: "invalid_arguments",
      hint: "Use letters, digits, spaces and / \\ : _ - . ~ + @ = , only.",
    },
  );
}

function positive(value: unknown): number | undefined {
  return typeof value === "number" && value > 0 ? value : undefined;
}
