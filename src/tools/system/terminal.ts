import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import { READY_PARAMETER, readyWaitMs, startBackground } from "./background.js";
import { commandEffects } from "./command-effects.js";
import { runInForeground } from "./foreground-run.js";
import { presentTerminal, type TerminalOutput } from "./terminal-output.js";
import { WIDENING_PATTERN } from "./widen.js";

export type { TerminalOutput } from "./terminal-output.js";

const DEFAULT_TIMEOUT_S = 180;
const MAX_FOREGROUND_S = 600;
/** Time the environment may need after the limit to end the process tree and collect the output. */
const CLEANUP_MARGIN_MS = 15_000;

export default defineTool({
  name: "terminal",
  toolset: "terminal",
  emoji: "💻",
  description:
    "Run a shell command with bash and return its combined output and exit code. Each call is a fresh shell that " +
    "begins in the folder and with the exported variables that the one before it left. Standard input is empty " +
    "and there is no terminal: use non-interactive options, or pty: true for a program that needs one; when that " +
    "waits for input the answer says so and the process tool types into it. Commands must end by themselves: no " +
    "`&`, nohup or development servers; those run with background: true and are followed with the process tool. " +
    "Prefer the file tools for reading, searching and editing files.",
  parameters: {
    type: "object",
    properties: {
      command: { type: "string", minLength: 1, description: "Command line for bash." },
      background: {
        type: "boolean",
        description: "Start it and answer at once with a session_id for the process tool.",
      },
      timeout: {
        type: "integer",
        minimum: 1,
        description: `In the foreground: seconds until the command and everything it started is ended; ${DEFAULT_TIMEOUT_S} when left out, at most ${MAX_FOREGROUND_S}.`,
      },
      workdir: {
        type: "string",
        description: "Folder to run in; relative to the session's working directory, which is the default.",
      },
      pty: {
        type: "boolean",
        description: "Give it a terminal, for programs that ask questions or draw on the screen.",
      },
      notify_on_complete: {
        type: "boolean",
        description: "With background: tell when it has ended.",
      },
      watch_patterns: {
        type: "array",
        items: { type: "string", minLength: 1 },
        maxItems: 16,
        description:
          "With background: tell when a line of its output matches one of these patterns (RE2); not together with notify_on_complete.",
      },
      ready: READY_PARAMETER,
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
  examples: [
    {
      title: "Count the lines of a file",
      files: { "poem.txt": "roses are red\nviolets are blue\n" },
      arguments: { command: "wc -l < poem.txt" },
      result: { output: "2\n", exit_code: 0 },
    },
    {
      title: "A change of folder lasts from call to call",
      files: { "sub/here.txt": "found\n" },
      before: [{ name: "terminal", arguments: { command: "cd sub" } }],
      arguments: { command: "cat here.txt" },
      result: { output: "found\n", exit_code: 0 },
    },
  ],
  effects: commandEffects,
  needs: { environment: true },
  tolerant: true,
  timeoutMs: ({ timeout, background, ready }) =>
    (background === true ? readyWaitMs({ ready }) : (timeout ?? MAX_FOREGROUND_S) * 1000) + CLEANUP_MARGIN_MS,

  async handler(args, ctx): Promise<TerminalOutput> {
    if (args.background === true) return startBackground(args, ctx);
    const timeout = args.timeout ?? positive(ctx.settings.terminal_timeout) ?? DEFAULT_TIMEOUT_S;
    const longest = positive(ctx.settings.max_foreground_timeout) ?? MAX_FOREGROUND_S;
    if (timeout > longest) {
      throw new ToolError(`A command in the foreground may take at most ${longest} s, not ${timeout} s.`, {
        code: "invalid_arguments",
        hint: "Use a smaller timeout, split the work, or call again with background: true.",
      });
    }
    for (const name of ["notify_on_complete", "watch_patterns", "ready"] as const) {
      const given = args[name];
      if (given === undefined || given === false || (Array.isArray(given) && given.length === 0)) continue;
      throw new ToolError(`${name} is only for commands that run with background: true.`, {
        code: "invalid_arguments",
        hint: `Add background: true, or leave out ${name}.`,
      });
    }
    return runInForeground({ ...args, timeout }, ctx);
  },

  present: presentTerminal,
});

function positive(value: unknown): number | undefined {
  return typeof value === "number" && value > 0 ? value : undefined;
}
