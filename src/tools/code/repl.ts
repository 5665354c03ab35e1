import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import { mark } from "../../tool/marked-text.js";
import { commandFor, refuseNul } from "./execute/language.js";
import { askUnguarded } from "./execute/plain-code.js";
import { REPL_LANGUAGES, replKind } from "./repl/language.js";
import type { ReplResult } from "./repl/run-line.js";

const MARGIN_MS = 20_000;
const LONGEST_SECONDS = 604_800;

export default defineTool({
  name: "repl",
  toolset: "repl",
  emoji: "🔁",
  description:
    "Run code in a Python (default), Node or bash session that keeps variables, imports and folder from call to " +
    "call, also after a timeout. Returns what was printed and the last expression's value.",
  parameters: {
    type: "object",
    properties: {
      code: { type: "string" },
      language: { type: "string", enum: REPL_LANGUAGES },
      session_id: {
        type: "string",
        minLength: 1,
        maxLength: 64,
        description: "For several sessions.",
      },
      reset: { type: "boolean", description: "Begin a new session; with empty code only end it." },
      timeout: {
        type: "number",
        exclusiveMinimum: 0,
        maximum: 86_400,
        description: "Seconds, default 300.",
      },
    },
    required: ["code"],
    additionalProperties: false,
  },
  permissions: ["terminal:execute", "code:execute"],
  everyCallNeeds: ["terminal:execute", "code:execute"],
  effects({ code, language }, { environment }) {
    const { runner } = replKind(language);
    if (code.trim() === "") return [];
    return [
      { action: "terminal:execute", resource: commandFor(runner, code), mode: "execute" },
      {
        action: "code:execute",
        resource: runner,
        mode: "execute",
        ask: environment === "local" ? askUnguarded(runner, code) : undefined,
      },
    ];
  },
  needs: { environment: true },
  tolerant: true,
  timeoutMs: ({ timeout }) => (timeout ?? LONGEST_SECONDS) * 1000 + MARGIN_MS,

  async handler(args, ctx): Promise<ReplResult> {
    const sessionId = args.session_id ?? "main";
    const kind = replKind(args.language);
    refuseNul(args.code);
    if (args.code.trim() === "") {
      if (args.reset !== true) throw nothingToRun();
      const { Kernels } = await import("./execute/kernels.js");
      await ctx.keep(Kernels).end(`repl ${kind.runner} ${sessionId}`);
      return {
        success: true,
        status: "success",
        session_id: sessionId,
        output: "",
        session: "ended",
        sandbox: "none",
      };
    }
    const { runLine } = await import("./repl/run-line.js");
    return runLine(
      { kind, code: args.code, sessionId, reset: args.reset === true, timeoutSeconds: args.timeout },
      ctx,
    );
  },

  present(out) {
    const { success, ...shown } = out;
    const lines = [
      out.output.replace(/\n$/, ""),
      out.result ?? "",
      success || out.error === undefined ? "" : mark.bad(out.error.replace(/\n$/, "")),
      out.session === undefined ? "" : mark.dim(`session ${out.session_id}: ${out.session}`),
    ];
    return { model: [text(JSON.stringify(shown))], human: lines.filter((line) => line !== "").join("\n") };
  },
  examples: [
    {
      title: "Look at data step by step",
      before: [{ name: "repl", arguments: { code: "prices = [3, 5, 8]" } }],
      arguments: { code: "sum(prices) / len(prices)" },
      result: { success: true, session_id: "main", output: "", result: "5.333333333333333" },
      programs: ["python3"],
    },
  ],
});

function nothingToRun(): ToolError {
  return new ToolError("There is no code to run.", {
    code: "invalid_arguments",
    hint: "Give code, or reset: true to end the session.",
  });
}
