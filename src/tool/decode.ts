import { messageOf } from "../base/errno.js";
import { isRecord } from "../base/record.js";
import { coerce } from "./coerce.js";
import { type DefaultsPlan, planDefaults } from "./defaults.js";
import { type Failure, failure } from "./errors.js";
import { explainIssues } from "./explain-issues.js";
import type { JsonSchema } from "./json-schema.js";
import { type ParsedArguments, parseArguments } from "./parse-arguments.js";
import { describeSignature } from "./signature.js";
import { compileValidator, fitsPart, type Validator } from "./validate.js";

export { describeSignature } from "./signature.js";

export interface DecodeTarget {
  readonly name: string;
  readonly parameters: JsonSchema;
  /** The schema comes from outside: its patterns run in linear time, whatever they say. */
  readonly foreign?: boolean;
}

export type Decoded =
  | { readonly ok: true; readonly args: Record<string, unknown>; readonly repairs: readonly string[] }
  | { readonly ok: false; readonly failure: Failure };

export interface Decoder {
  /** Never throws and never changes what it is given; `args` is a copy that nobody else holds. */
  decode(raw: unknown): Decoded;
}

interface Compiled {
  readonly target: DecodeTarget;
  readonly validator: Validator;
  readonly defaults: DefaultsPlan | undefined;
}

type Fitting = { readonly args: Record<string, unknown>; readonly repairs: readonly string[] };

/** Keys under which some models send the arguments once more. */
const WRAPPER_KEYS: ReadonlySet<string> = new Set("arguments args parameters params input kwargs".split(" "));
const NO_REPAIRS: readonly string[] = [];

export function createDecoder(target: DecodeTarget): Decoder {
  // Compiling costs a hundred times a check, and most tools of a session are never called.
  let compiled: Compiled | undefined;
  return {
    decode(raw) {
      try {
        compiled ??= compile(target);
      } catch (error) {
        return { ok: false, failure: brokenSchema(target, error) };
      }
      try {
        return decodeWith(compiled, raw);
      } catch (error) {
        // Getters and proxies may throw, and schemas may send the validator round in circles.
        const why = messageOf(error);
        return refuse(target, `they could not be read: ${why.slice(0, 200)}`);
      }
    },
  };
}

function compile(target: DecodeTarget): Compiled {
  const { parameters } = target;
  const foreign = target.foreign === true;
  return {
    target,
    validator: compileValidator(parameters, { foreign }),
    defaults: planDefaults(parameters, (part, value) => fitsPart({ root: parameters, part, value, foreign })),
  };
}

function decodeWith(compiled: Compiled, raw: unknown): Decoded {
  const { target, validator } = compiled;
  const parsed = parseArguments(raw);
  if (parsed.kind === "refused") return refuse(target, parsed.reason);
  if (parsed.kind === "object" && validator.check(parsed.value)) {
    return finish(compiled, { args: parsed.value, repairs: parsed.repairs });
  }
  if (parsed.kind === "nothing") {
    // Nothing sent and nothing needed is a call without arguments; anything else would be an invented {}.
    if (validator.check({})) return finish(compiled, { args: {}, repairs: NO_REPAIRS });
    const missing = explainIssues(validator.issues({}), {});
    return refuse(target, `expected a JSON object, got ${parsed.got}; ${missing}`);
  }
  const fitting = repairValue(compiled, parsed);
  if ("problem" in fitting) {
    const [note] = parsed.repairs;
    const prefix = note === undefined ? "" : `the text was not valid JSON as sent (${note}), and `;
    return refuse(target, prefix + fitting.problem);
  }
  return finish(compiled, { args: fitting.args, repairs: [...parsed.repairs, ...fitting.repairs] });
}

function repairValue(
  { validator, target }: Compiled,
  parsed: Extract<ParsedArguments, { kind: "object" }>,
): Fitting | { readonly problem: string } {
  const attempt = (value: unknown): (Fitting & { readonly ok: boolean }) | undefined => {
    if (!isRecord(value)) return undefined;
    const coerced = coerce({ schema: target.parameters, value, issues: validator.issues(value) });
    if (!isRecord(coerced.value)) return undefined;
    return { args: coerced.value, repairs: coerced.repairs, ok: validator.check(coerced.value) };
  };
  const direct = attempt(parsed.value);
  if (direct?.ok) return direct;
  const unwrapped = unwrap(target.parameters, parsed.value);
  if (unwrapped !== undefined) {
    const inner = attempt(unwrapped.value);
    if (inner?.ok) return { args: inner.args, repairs: [`${unwrapped.key}: unwrapped`, ...inner.repairs] };
  }
  const closest = direct?.args ?? parsed.value;
  return { problem: explainIssues(validator.issues(closest), closest) };
}

function unwrap(
  schema: JsonSchema,
  value: Record<string, unknown>,
): { readonly key: string; readonly value: unknown } | undefined {
  const keys = Object.keys(value);
  const [key] = keys;
  if (key === undefined || keys.length > 1 || !WRAPPER_KEYS.has(key)) return undefined;
  if (isRecord(schema.properties) && Object.hasOwn(schema.properties, key)) return undefined;
  const inner = value[key];
  if (typeof inner !== "string") return { key, value: inner };
  const parsed = parseArguments(inner);
  return parsed.kind === "object" ? { key, value: parsed.value } : undefined;
}

function finish({ defaults, validator }: Compiled, { args, repairs }: Fitting): Decoded {
  if (defaults === undefined) return { ok: true, args, repairs };
  if (!defaults.mayInvalidate) {
    defaults.fill(args);
    return { ok: true, args, repairs };
  }
  const filled = structuredClone(args);
  defaults.fill(filled);
  return { ok: true, args: validator.check(filled) ? filled : args, repairs };
}

function refuse(target: DecodeTarget, problem: string): Decoded {
  const signature = describeSignature(target.name, target.parameters);
  return {
    ok: false,
    failure: failure(
      "invalid_arguments",
      `Invalid arguments for ${target.name}: ${problem}. Signature: ${signature}`,
      "Correct the arguments and call again; nothing was run.",
    ),
  };
}

function brokenSchema(target: DecodeTarget, error: unknown): Failure {
  const why = messageOf(error);
  return failure(
    "unavailable",
    `The parameter schema of ${target.name} cannot be used: ${why.slice(0, 300)}`,
    "This is a defect of the tool, not of the arguments; report it to whoever provides the tool.",
  );
}
