import { homedir } from "node:os";
import { resolve } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { quoteIfNeeded } from "../../base/quote.js";
import type { ExecResult } from "../../env/environment.js";
import type { Effect, EffectScope } from "../../tool/effects.js";
import { ToolError } from "../../tool/errors.js";
import type { AnyTool, CallContext, Refined } from "../../tool/tool.js";
import { select } from "../../toolfile/json-select.js";
import { asText, fill, holesOf, holeValue, type Template, type Values } from "../../toolfile/template.js";
import type { ToolHost } from "../../toolfile/tool-host.js";
import type { ArgumentGroup, CommandSpec } from "../../toolfile/tool-spec.js";
import { parseExactJson } from "./exact-json.js";

/** Time to end the process tree and collect the output after the tool's own limit. */
const MARGIN_MS = 15_000;
const DEFAULT_OUTPUT_CHARS = 50_000;
/** JSON must be whole to be read. */
const JSON_OUTPUT_CHARS = 5_000_000;
const LONGEST_COMPLAINT = 2_000;

type CommandParts = Pick<
  AnyTool,
  | "permissions"
  | "effects"
  | "refine"
  | "requiresEnv"
  | "checkFn"
  | "needs"
  | "tolerant"
  | "timeoutMs"
  | "handler"
>;

const NEEDS_ENVIRONMENT = { environment: true };

export function commandTool(spec: CommandSpec, host: ToolHost): CommandParts {
  const variables = [...new Set(spec.env.flatMap(([, from]) => ("env" in from ? [from.env] : [])))];
  return {
    permissions: ["terminal:execute"],
    effects: (args: Values, scope) => [effectOf(spec, args, scope)],
    refine: refineFor(spec),
    needs: NEEDS_ENVIRONMENT,
    ...(variables.length > 0 && { requiresEnv: variables, checkFn: host.checkFor(variables) }),
    tolerant: true,
    timeoutMs: spec.timeoutSeconds * 1000 + MARGIN_MS,
    handler: (args: Values, ctx: CallContext) => execute({ spec, args, ctx, host }),
  };
}

function refineFor(spec: CommandSpec): (args: unknown) => Refined<Values> {
  return (args) => {
    try {
      argumentsOf(spec, args as Values);
      return { ok: true, value: args as Values };
    } catch (error) {
      if (!(error instanceof UnusableArgument)) throw error;
      return { ok: false, issues: [{ path: `/${error.parameter}`, message: error.message }] };
    }
  };
}

/** What goes in may be code too (`bash` without arguments), so whoever judges the command sees it. */
function effectOf(spec: CommandSpec, args: Values, { cwd, home = homedir() }: EffectScope): Effect {
  const folder = textOf(spec.cwd, args);
  return {
    action: "terminal:execute",
    resource: commandLine(argumentsOf(spec, args), textOf(spec.stdin, args)),
    mode: "execute",
    cwd: folder === undefined ? undefined : resolve(cwd, folder.replace(/^~(?=\/|$)/, home)),
  };
}

function textOf(template: CommandSpec["cwd"], args: Values): string | undefined {
  const value = template === undefined ? undefined : fill(template, args);
  return value === undefined || value === null ? undefined : asText(value);
}

async function execute(call: {
  readonly spec: CommandSpec;
  readonly args: Values;
  readonly ctx: CallContext;
  readonly host: ToolHost;
}): Promise<unknown> {
  const { spec, args, ctx, host } = call;
  const vector = argumentsOf(spec, args);
  const stdin = textOf(spec.stdin, args);
  const folder = textOf(spec.cwd, args);
  const result = await ctx.environment.exec({
    command: vector,
    cwd: folder === undefined ? ctx.session.cwd : ctx.environment.files.resolve(folder, ctx.session.cwd),
    env: environmentOf(spec, host),
    stdin,
    timeoutMs: spec.timeoutSeconds * 1000,
    signal: ctx.signal,
    maxOutputChars: spec.parse === "json" ? JSON_OUTPUT_CHARS : outputLimit(ctx),
    separateStderr: true,
    onChunk: (chunk) => ctx.progress({ chunk }),
  });
  checkEnd(result, spec, vector[0] ?? "");
  return outputOf(result, spec);
}

function environmentOf(spec: CommandSpec, host: ToolHost): Readonly<Record<string, string>> {
  return Object.fromEntries(
    spec.env.map(([name, from]) => [name, "env" in from ? (host.variable(from.env) ?? "") : from.value]),
  );
}

function outputLimit({ settings }: CallContext): number {
  const asked = settings.max_output_chars;
  return typeof asked === "number" && asked > 0 ? asked : DEFAULT_OUTPUT_CHARS;
}

function checkEnd(result: ExecResult, spec: CommandSpec, program: string): void {
  if (result.cancelled) throw new ToolError("Cancelled; the command was ended.", { code: "cancelled" });
  if (result.timedOut)
    throw new ToolError(`${program} did not end within ${spec.timeoutSeconds} s and was stopped.`, {
      code: "timeout",
      hint: "Ask for less, or raise timeout_seconds in the tool's file.",
    });
  if (spec.successExitCodes.includes(result.exitCode)) return;
  const said = stripVTControlCharacters(result.stderr.trim() || result.output.trim()).slice(
    -LONGEST_COMPLAINT,
  );
  const missing = result.exitCode === 127;
  throw new ToolError(
    `${program} ended with exit code ${result.exitCode}${said === "" ? "." : `: ${said}`}`,
    {
      details: { exit_code: result.exitCode },
      hint: missing ? `Is ${program} installed in this environment?` : undefined,
    },
  );
}

function outputOf(result: ExecResult, spec: CommandSpec): unknown {
  const output = stripVTControlCharacters(result.output);
  if (spec.parse === "text") return output;
  if (spec.parse === "lines") {
    const lines = output.split(/\r?\n/);
    if (lines.at(-1) === "") lines.pop();
    return { lines, truncated: result.truncated || undefined };
  }
  let value: unknown;
  try {
    value = parseExactJson(output);
  } catch {
    throw new ToolError("The output was to be JSON, but it is not.", {
      details: { begins: output.slice(0, 200), truncated: result.truncated },
    });
  }
  if (spec.select === undefined) return value;
  const found = select(spec.select, value);
  if (found === undefined) throw new ToolError(`The output has nothing at ${spec.select.text}.`);
  return found;
}

/** An argument that a program would not take as what it is. */
export class UnusableArgument extends Error {
  readonly parameter: string;

  constructor(parameter: string, why: string) {
    super(why);
    this.parameter = parameter;
  }
}

/**
 * The argument vector of one call. A value never becomes more or fewer arguments than the file says: a text is a
 * part of one argument, and only a list that stands alone gives one argument per item. Throws `UnusableArgument`.
 */
export function argumentsOf(spec: CommandSpec, args: Values): readonly string[] {
  const vector: string[] = [];
  let onlyOperands = false;
  for (const group of spec.command) {
    if (isLeftOut(group, args)) continue;
    for (const template of group) {
      const words = wordsOf(template, args);
      for (const word of words) {
        if (template.kind !== "literal") check(word, { spec, template, args, onlyOperands });
        vector.push(word);
      }
      if (template.kind === "literal" && template.value === "--") onlyOperands = true;
    }
  }
  return vector;
}

/** Without a value there is no argument, and nothing of what belongs to it. */
function isLeftOut(group: ArgumentGroup, args: Values): boolean {
  return group
    .flatMap(holesOf)
    .some((hole) => holeValue(hole, args) === undefined || holeValue(hole, args) === null);
}

function wordsOf(template: Template, args: Values): readonly string[] {
  if (template.kind === "literal") return [String(template.value)];
  if (template.kind === "value") {
    const value = holeValue(template.expression, args);
    return Array.isArray(value) ? value.map(asText) : [asText(value)];
  }
  if (template.kind !== "text") return [];
  return [
    template.parts.map((part) => (typeof part === "string" ? part : asText(holeValue(part, args)))).join(""),
  ];
}

function check(
  word: string,
  at: {
    readonly spec: CommandSpec;
    readonly template: Template;
    readonly args: Values;
    readonly onlyOperands: boolean;
  },
): void {
  if (word.includes("\0")) {
    const guilty = holesOf(at.template).find((hole) => asText(holeValue(hole, at.args)).includes("\0"));
    throw new UnusableArgument(
      guilty?.name ?? "",
      "it holds a NUL character, which cannot be passed to a program",
    );
  }
  const parameter = beginner(at.template, at.args);
  if (!word.startsWith("-") || parameter === undefined || at.onlyOperands) return;
  if (at.spec.parameters.find(({ name }) => name === parameter)?.allowDash === true) return;
  throw new UnusableArgument(
    parameter,
    'it begins with "-" and the program would take it for an option; the tool\'s file can allow it with ' +
      'allow_dash: true, or put "--" before it',
  );
}

/** The parameter that decides how a word begins; none when that stands in the file. */
function beginner(template: Template, args: Values): string | undefined {
  if (template.kind === "value") return template.expression.name;
  if (template.kind !== "text") return undefined;
  const [first] = template.parts;
  if (first === undefined || typeof first === "string") return undefined;
  const filled = template.parts.find(
    (part) => typeof part === "string" || asText(holeValue(part, args)) !== "",
  );
  return filled === undefined || typeof filled === "string" ? first.name : filled.name;
}

/** The vector as a line that a shell would read as exactly these arguments, for those who judge and show it. */
export function commandLine(vector: readonly string[], stdin?: string): string {
  const line = vector.map(quoteIfNeeded).join(" ");
  return stdin === undefined || stdin === "" ? line : `${line} <<< ${quoteIfNeeded(stdin)}`;
}
