import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import { UNTOLD } from "../../tool/json-schema.js";
import type { CallContext } from "../../tool/tool.js";
import { READY_PARAMETER, readyWaitMs, startBackground } from "./background.js";
import { commandEffects } from "./command-effects.js";
import {
  closeInput,
  handOff,
  kill,
  listProcesses,
  type ProcessAnswer,
  pollProcess,
  resize,
  showLog,
  showScreen,
  typeInto,
  waitFor,
} from "./process-actions.js";
import { processEffect, typedEffects } from "./typed-input.js";
import { WIDENING_PATTERN } from "./widen.js";

const ACTIONS = [
  "list",
  "poll",
  "log",
  "wait",
  "kill",
  "write",
  "submit",
  "close",
  "handoff",
  "screen",
  "resize",
  "start",
  "stop",
] as const;
type Action = (typeof ACTIONS)[number];

const LONGEST_WAIT_S = 600;
const MARGIN_MS = 20_000;

export default defineTool({
  name: "process",
  aliases: ["process_manager", "process_manage"],
  toolset: "terminal",
  emoji: "⚙️",
  description:
    "Follow and steer what terminal started in the background or left waiting for input. poll: status and last " +
    "output. log: lines of output. write: type data as it is. submit: data and a new line. close: end of input. " +
    "screen: what its terminal shows. handoff: let it outlive this session. start: run a command in the " +
    "background, with all that terminal takes. Keys in data: <enter>, <tab>, <esc>, <up>, <ctrl-c>.",
  parameters: {
    type: "object",
    properties: {
      action: { type: "string", enum: ACTIONS },
      session_id: { type: "string" },
      data: { type: "string" },
      timeout: { type: "number", minimum: 1, description: "Of wait: seconds, default 180." },
      offset: {
        type: "integer",
        minimum: 0,
        description: "First line of log, from 0; default: the last.",
      },
      limit: { type: "integer", minimum: 1, maximum: 5_000, default: 200 },
      columns: { type: "integer", minimum: 1, maximum: 1_000 },
      rows: { type: "integer", minimum: 1, maximum: 1_000 },
      command: {
        type: "string",
        minLength: 1,
        description: "Of start.",
      },
      // For start, too; the definition of terminal, which is always beside this one, tells of them.
      workdir: { type: "string", [UNTOLD]: true },
      pty: { type: "boolean", [UNTOLD]: true },
      notify_on_complete: { type: "boolean", [UNTOLD]: true },
      watch_patterns: {
        type: "array",
        items: { type: "string", minLength: 1 },
        maxItems: 16,
        [UNTOLD]: true,
      },
      ready: { ...READY_PARAMETER, [UNTOLD]: true },
      widen: { type: "array", items: { type: "string", pattern: WIDENING_PATTERN }, [UNTOLD]: true },
    },
    required: ["action"],
    additionalProperties: false,
  },
  examples: [
    {
      title: "See what runs in the background",
      before: [{ name: "terminal", arguments: { command: "sleep 0.2; echo built", background: true } }],
      arguments: { action: "list" },
      result: { processes: [{ command: "sleep 0.2; echo built", environment: "local" }] },
    },
  ],
  permissions: ["terminal:execute", "process:write"],
  effects({ action, session_id = "", data = "", ...args }, scope) {
    switch (action) {
      case "start":
        return args.command === undefined ? [] : commandEffects({ ...args, command: args.command }, scope);
      case "write":
      case "submit":
        return typedEffects({ process: session_id, data, submit: action === "submit" }, scope);
      case "kill":
      case "stop":
      case "close":
      case "handoff":
      case "resize":
        return [processEffect(session_id)];
      default:
        return [];
    }
  },
  tolerant: true,
  timeoutMs: ({ action, timeout, ready }) => MARGIN_MS + longestWork({ action, timeout, ready }),

  async handler(args, ctx): Promise<ProcessAnswer> {
    const { action } = args;
    if (action === "list") return listProcesses(ctx);
    if (action === "start")
      return startBackground({ ...args, command: required(args.command, "command", action) }, ctx);
    const process = ctx.processes.get(required(args.session_id, "session_id", action, ctx));
    switch (action) {
      case "poll":
        return seen(await pollProcess(process), ctx);
      case "log":
        return showLog(process, args);
      case "wait":
        return seen(await waitFor(process, { timeout: args.timeout, ctx }), ctx);
      case "kill":
      case "stop":
        return seen(await kill(process), ctx);
      case "write":
      case "submit":
        return typeInto(process, { data: args.data ?? "", submit: action === "submit", ctx });
      case "close":
        return closeInput(process);
      case "handoff":
        return handOff(process);
      case "screen":
        return showScreen(process);
      case "resize":
        return resize(process, args);
    }
  },

  present: (out) => ({ model: [text(JSON.stringify(out))], human: humanText(out) }),
});

/** An answer that tells of the end makes a notice of it needless. */
function seen<Answer extends ProcessAnswer>(answer: Answer, { processes }: CallContext): Answer {
  if ("session_id" in answer && answer.session_id !== undefined && answer.status !== "running")
    processes.seenEnd(answer.session_id);
  return answer;
}

function longestWork(call: {
  readonly action: Action;
  readonly timeout?: number | undefined;
  readonly ready?: Parameters<typeof readyWaitMs>[0]["ready"];
}): number {
  if (call.action === "wait") return Math.min(call.timeout ?? LONGEST_WAIT_S, LONGEST_WAIT_S) * 1000;
  return call.action === "start" ? readyWaitMs({ ready: call.ready }) : 0;
}

function required(value: string | undefined, field: string, action: Action, ctx?: CallContext): string {
  if (value !== undefined && value !== "") return value;
  const ids = ctx?.processes.list().map(({ id }) => id) ?? [];
  throw new ToolError(`The action ${action} needs ${field}.`, {
    code: "invalid_arguments",
    hint: ids.length === 0 ? `Give ${field}.` : `There are: ${ids.slice(0, 8).join(", ")}.`,
  });
}

function humanText(out: ProcessAnswer): string {
  if ("processes" in out) {
    if (out.processes.length === 0) return "no background processes";
    return out.processes.map((one) => `${one.session_id}  ${one.status}  ${one.command}`).join("\n");
  }
  const shown = ("screen" in out ? out.screen : undefined) ?? out.output ?? "";
  return [shown.replace(/\n$/, ""), `${out.session_id ?? ""} ${out.status ?? ""}`.trim()]
    .filter(Boolean)
    .join("\n");
}
