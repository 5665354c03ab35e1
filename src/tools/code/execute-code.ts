import { defineTool } from "../../tool/define.js";
import type { Effect } from "../../tool/effects.js";
import { ToolError } from "../../tool/errors.js";
import { commandFor, languageOf, refuseNul, runnerOf, SPELLINGS } from "./execute/language.js";
import { askUnguarded } from "./execute/plain-code.js";
import { type CodeResult, presentCode } from "./execute/result.js";
import { codeSettings, NEVER_INSIDE } from "./execute/settings.js";

/** Time to end what the code has started and to collect its output. */
const MARGIN_MS = 20_000;
/** Used where neither the call nor the configuration is known yet; the handler keeps the real time. */
const LONGEST_SECONDS = 604_800;

const DESCRIPTION =
  "Run a script that may call tools; only what it prints comes back. For many steps, loops or filtering large " +
  "results. Python (default): `from hermes_tools import NAME`; functions return values and raise ToolError. " +
  "JavaScript and TypeScript (ES modules): `await hermes.NAME({...})`.";

export default defineTool({
  name: "execute_code",
  aliases: ["code_execute"],
  toolset: "code_execution",
  emoji: "🐍",
  description: `${DESCRIPTION} Functions, with the arguments of the tools: those of the session that scripts may call.`,
  parameters: {
    type: "object",
    properties: {
      code: { type: "string", minLength: 1 },
      language: { type: "string", enum: SPELLINGS },
      sandbox: {
        type: "string",
        enum: ["quickjs"],
        description:
          "JavaScript without files, network or modules, quick to start: `await tools.NAME({...})` calls any tool; " +
          "searchTools(words) and describeTool(name) find them.",
      },
      timeout: {
        type: "number",
        exclusiveMinimum: 0,
        maximum: 86_400,
        description: "Seconds, default 300.",
      },
      stdin: { type: "string" },
      mode: {
        type: "string",
        enum: ["project", "strict"],
        description: "project: working folder and its virtual environment. strict: empty temporary folder.",
      },
      kernel: { type: "boolean", description: "Keep variables for the next kernel call." },
      reset: { type: "boolean" },
    },
    required: ["code"],
    additionalProperties: false,
  },
  permissions: ["terminal:execute", "code:execute"],
  everyCallNeeds: ["code:execute"],
  effects({ code, language, sandbox }, { environment }) {
    const meant = languageOf(language);
    const runs: Effect = { action: "code:execute", resource: meant, mode: "execute" };
    if (sandbox === "quickjs") return [runs];
    const runner = runnerOf(meant);
    const ask = environment === "local" ? askUnguarded(runner, code) : undefined;
    const command = commandFor(runner, code);
    return [
      { action: "terminal:execute", resource: command, mode: "execute" },
      { ...runs, ask },
    ];
  },
  needs: { environment: true },
  tolerant: true,
  timeoutMs: ({ timeout }) => (timeout ?? LONGEST_SECONDS) * 1000 + MARGIN_MS,
  dynamicSchemaOverrides(view) {
    const { tools } = codeSettings(view.settings ?? {});
    const there = [...view.names].filter(
      (name) => (tools.includes("all") || tools.includes(name)) && !NEVER_INSIDE.includes(name),
    );
    const list = there.length === 0 ? "none in this session" : there.sort().join(", ");
    return { description: `${DESCRIPTION} Functions, with the arguments of the tools: ${list}.` };
  },

  async handler(args, ctx): Promise<CodeResult> {
    const settings = codeSettings(ctx.settings);
    const language = languageOf(args.language);
    const timeoutSeconds = args.timeout ?? settings.timeout;
    refuseNul(args.code);
    if (args.reset === true && args.kernel !== true)
      throw misused("reset is only for code that runs with kernel: true.");
    if (args.sandbox === "quickjs") {
      if (language === "python") throw misused('sandbox: "quickjs" runs JavaScript, not Python.');
      if (args.kernel === true) throw misused('sandbox: "quickjs" keeps no kernel.');
      const { runCodeMode } = await import("./execute/run-quickjs.js");
      return runCodeMode({ code: args.code, language, timeoutSeconds, settings }, ctx);
    }
    const request = {
      runner: runnerOf(language),
      code: args.code,
      stdin: args.stdin ?? "",
      mode: settings.mode === "strict" ? "strict" : (args.mode ?? settings.mode),
      timeoutSeconds,
      settings,
    } as const;
    if (args.kernel === true) {
      const { runInKernel } = await import("./execute/run-kernel.js");
      return runInKernel({ ...request, language, reset: args.reset === true }, ctx);
    }
    const { runScript } = await import("./execute/run-script.js");
    if (language !== "typescript") return runScript(request, ctx);
    const { withoutTypes } = await import("./execute/node-cell.js");
    return runScript({ ...request, code: withoutTypes(args.code) }, ctx);
  },

  present: presentCode,
  examples: [
    {
      title: "Count the lines of all text files with one call",
      files: { "a.txt": "one\ntwo\n", "b.txt": "three\n" },
      arguments: {
        code: [
          "from hermes_tools import search_files, read_file",
          "total = 0",
          'for name in search_files("*.txt", target="files")["files"]:',
          '    total += read_file(name)["total_lines"]',
          'print("lines:", total)',
        ].join("\n"),
      },
      result: { success: true, status: "success", output: "lines: 3\n", exit_code: 0, tool_calls_made: 3 },
      programs: ["python3"],
    },
    {
      title: "Keep a variable from call to call",
      before: [{ name: "execute_code", arguments: { code: "seen = [1, 2]", kernel: true } }],
      arguments: { code: "seen.append(3)\nsum(seen)", kernel: true },
      result: { status: "success", result: "6", kernel: "kept" },
      programs: ["python3"],
    },
  ],
});

function misused(message: string): ToolError {
  return new ToolError(message, { code: "invalid_arguments", hint: "Change or leave out that argument." });
}
