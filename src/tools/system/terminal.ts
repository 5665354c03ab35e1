import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import { READY_PARAMETER, READY_TIMEOUT_S, readyWaitMs, startBackground } from "./background.js";
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
    "Run a bash command; returns combined output and exit code. Folder and exported variables last from call to " +
    "call. There is no input and no terminal: use non-interactive options, or pty. Run what does not end by itself " +
    "with background: true (no `&` or nohup) and follow it with the process tool. To " +
    "read, search or edit files use the file tools.",
  parameters: {
    type: "object",
    properties: {
      command: { type: "string", minLength: 1 },
      background: {
        type: "boolean",
        description: "Answer at once with a session_id for process.",
      },
      timeout: {
        type: "integer",
        minimum: 1,
        description: `Seconds, default ${DEFAULT_TIMEOUT_S}, at most ${MAX_FOREGROUND_S}; not for background.`,
      },
      workdir: { type: "string" },
      pty: {
        type: "boolean",
        description: "A terminal, for programs that ask or draw; type with process.",
      },
      notify_on_complete: { type: "boolean" },
      watch_patterns: {
        type: "array",
        items: { type: "string", minLength: 1 },
        maxItems: 16,
        description: "With background: tell when output matches (RE2).",
      },
      ready: {
        ...READY_PARAMETER,
        description:
          "With background: wait until all given is true: it listens on port, output matches pattern (RE2), it has " +
          `run for alive_seconds. timeout: seconds, default ${READY_TIMEOUT_S}.`,
      },
      widen: {
        type: "array",
        items: { type: "string", pattern: WIDENING_PATTERN },
        description: "Only after the boundary refused something: network, write:/path, read:/path or off.",
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
  changesThroughEnvironment: true,
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
