import { quoteForShell } from "../../base/quote.js";
import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import type { Effect, EffectScope } from "../../tool/effects.js";
import { ToolError } from "../../tool/errors.js";
import { mark } from "../../tool/marked-text.js";
import type { CallContext } from "../../tool/tool.js";
import { absolutePath, locate } from "../files/paths.js";
import { type DebugRun, runToEnd } from "./debug/run.js";
import type { Breakpoint, DebugPlan, Stop } from "./debug/types.js";

const MARGIN_MS = 40_000;

type Language = "python" | "node";

interface DebugAnswer extends DebugRun {
  readonly success: true;
  readonly status: "success";
  readonly language: Language;
  readonly environment: string;
  readonly hint?: string | undefined;
}

export default defineTool({
  name: "code_debug",
  toolset: "debugger",
  emoji: "🐞",
  description:
    "Run a Python or JavaScript (not TypeScript) program under a debugger: tells the stack, local variables and what " +
    "the evaluate expressions give at each breakpoint and uncaught exception; at the timeout, where it hangs.",
  parameters: {
    type: "object",
    properties: {
      program: { type: "string", minLength: 1 },
      language: { type: "string", enum: ["auto", "python", "node"], default: "auto" },
      args: { type: "array", items: { type: "string" }, default: [] },
      breakpoints: {
        type: "array",
        maxItems: 100,
        default: [],
        items: {
          type: "object",
          properties: {
            file: { type: "string" },
            line: { type: "integer", minimum: 1 },
            condition: { type: "string" },
          },
          required: ["line"],
          additionalProperties: false,
        },
      },
      evaluate: {
        type: "array",
        items: { type: "string", minLength: 1 },
        maxItems: 20,
        default: [],
      },
      stop_on_exceptions: {
        type: "string",
        enum: ["uncaught", "all", "none"],
        default: "uncaught",
      },
      max_stops: { type: "integer", minimum: 1, maximum: 100, default: 10 },
      timeout: { type: "number", minimum: 1, maximum: 600, default: 60, description: "Seconds." },
    },
    required: ["program"],
    additionalProperties: false,
  },
  permissions: ["terminal:execute", "code:execute", "file:read"],
  everyCallNeeds: ["terminal:execute", "code:execute"],
  effects: (args, scope) => debugEffects(args, scope),
  tolerant: true,
  timeoutMs: ({ timeout }) => timeout * 1000 + MARGIN_MS,

  async handler(args, ctx): Promise<DebugAnswer> {
    const language = languageOf(args);
    const plan = await planOf(args, ctx);
    const { startPython } = await import("./debug/python.js");
    const { startNode } = await import("./debug/node.js");
    const run = await runToEnd(
      (stop) => (language === "python" ? startPython : startNode)(plan, { ctx, stop }),
      {
        maxStops: args.max_stops,
        timeoutMs: args.timeout * 1000,
        ctx,
      },
    );
    return {
      success: true,
      status: "success",
      ...run,
      language,
      environment: ctx.environment.name,
      hint: hintFor(run),
    };
  },

  present: (out) => ({ model: [text(JSON.stringify(out))], human: humanText(out) }),

  examples: [
    {
      title: "Look into a loop at the moment it goes wrong",
      files: {
        "average.js": [
          "function average(numbers) {",
          "  let sum = 0;",
          "  for (const number of numbers) {",
          "    sum += number;",
          "  }",
          "  return sum / numbers.length;",
          "}",
          'console.log(average([1, 2, "3"]));',
          "",
        ].join("\n"),
      },
      arguments: {
        program: "average.js",
        breakpoints: [{ line: 4, condition: "typeof number !== 'number'" }],
        evaluate: ["sum + number"],
      },
      result: {
        stops: [
          {
            reason: "breakpoint",
            line: 4,
            function: "average",
            locals: { numbers: '[1, 2, "3"]', sum: "3", number: '"3"' },
            evaluations: [{ expression: "sum + number", value: '"33"' }],
          },
        ],
        output: "11\n",
        exit_code: 0,
        ended: "exited",
      },
      programs: ["node"],
    },
  ],
});

interface Arguments {
  readonly program: string;
  readonly language: "auto" | Language;
  readonly args: readonly string[];
  readonly breakpoints: readonly {
    readonly file?: string | undefined;
    readonly line: number;
    readonly condition?: string | undefined;
  }[];
  readonly evaluate: readonly string[];
  readonly stop_on_exceptions: DebugPlan["exceptions"];
}

/** The program as the command that would run it, and the expressions as code that is run by hand. */
function debugEffects(args: Arguments, scope: EffectScope): readonly Effect[] {
  const program = absolutePath(args.program, scope);
  const interpreter = guessed(args) === "python" ? "python3" : "node";
  const words = [interpreter, ...[program, ...args.args].map(quoteForShell)];
  const expressions = [...args.breakpoints.flatMap(({ condition }) => condition ?? []), ...args.evaluate];
  const inline = `${interpreter} ${interpreter === "node" ? "-e" : "-c"} ${quoteForShell(expressions.join("\n"))}`;
  return [
    { action: "terminal:execute", resource: words.join(" "), mode: "execute" },
    ...(expressions.length > 0
      ? ([{ action: "terminal:execute", resource: inline, mode: "execute" }] as const)
      : []),
    { action: "code:execute", resource: program, mode: "execute" },
    { action: "file:read", resource: program, mode: "read" },
  ];
}

const BY_ENDING: Readonly<Record<string, Language>> = {
  py: "python",
  pyw: "python",
  js: "node",
  mjs: "node",
  cjs: "node",
};

function guessed({ program, language }: Pick<Arguments, "program" | "language">): Language | undefined {
  return language === "auto" ? BY_ENDING[endingOf(program)] : language;
}

function endingOf(program: string): string {
  return /\.(\w+)$/.exec(program)?.[1]?.toLowerCase() ?? "";
}

function languageOf(args: Pick<Arguments, "program" | "language">): Language {
  if (/^[cm]?tsx?$/.test(endingOf(args.program))) {
    throw new ToolError("TypeScript programs cannot be debugged as they are.", {
      code: "invalid_arguments",
      hint: "Compile it, and debug the JavaScript file with its line numbers.",
    });
  }
  const language = guessed(args);
  if (language !== undefined) return language;
  throw new ToolError(`The name ${args.program} does not tell its language.`, {
    code: "invalid_arguments",
    hint: "Call again with language: python or node.",
  });
}

async function planOf(args: Arguments, ctx: CallContext): Promise<DebugPlan> {
  const { path, real } = await locate(args.program, ctx);
  const stat = await ctx.environment.files.stat(real);
  if (stat?.type !== "file") {
    throw new ToolError(stat === undefined ? `There is no file ${path}.` : `${path} is not a file.`, {
      code: stat === undefined ? "not_found" : "invalid_arguments",
      hint: "Name the script to run, absolute or relative to the working directory.",
    });
  }
  const place = (file: string | undefined): string =>
    file === undefined ? path : ctx.environment.files.resolve(file, ctx.session.cwd);
  return {
    program: path,
    args: args.args,
    cwd: ctx.session.cwd,
    breakpoints: args.breakpoints.map(
      ({ file, line, condition }): Breakpoint => ({ file: place(file), line, condition }),
    ),
    exceptions: args.stop_on_exceptions,
    evaluate: args.evaluate,
  };
}

function hintFor(run: DebugRun): string | undefined {
  if (run.ended === "timeout")
    return "It did not end in time and was ended; the last stop shows where it was.";
  if (run.ended === "max_stops")
    return "It was ended at max_stops; conditions on breakpoints make stops fewer.";
  const missed = run.breakpoints.filter(({ verified }) => !verified);
  if (missed.length === 0) return undefined;
  const lines = missed.map(({ file, line }) => `${file}:${line}`).join(", ");
  return `No code was loaded at: ${lines}.`;
}

function humanText(out: DebugAnswer): string {
  const parts = out.stops.map((stop, index) => stopText(stop, index + 1));
  if (out.output !== "") parts.push(`${mark.heading("output")}\n${out.output.replace(/\n$/, "")}`);
  const end = {
    exited: `ended with exit code ${out.exit_code}`,
    max_stops: "ended after the last stop that was wanted",
    timeout: "ended because its time was over",
  }[out.ended];
  parts.push(out.exit_code === 0 ? mark.good(end) : mark.warning(end));
  return parts.join("\n\n");
}

function stopText(stop: Stop, number: number): string {
  const why = stop.exception === undefined ? stop.reason : mark.bad(`${stop.reason}: ${stop.exception}`);
  const lines = [`${mark.heading(`${number}.`)} ${why}`];
  for (const frame of stop.stack) {
    lines.push(`  ${mark.path(`${frame.file}:${frame.line}`)} ${mark.strong(frame.function)}`);
    if (frame.source !== undefined) lines.push(`    ${mark.dim(frame.source)}`);
  }
  for (const [name, value] of Object.entries(stop.locals)) lines.push(`  ${name} = ${value}`);
  for (const { expression, value, error } of stop.evaluations) {
    lines.push(`  ${mark.dim(expression)} → ${value ?? mark.bad(error ?? "")}`);
  }
  return lines.join("\n");
}
