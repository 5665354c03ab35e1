import { isRecord } from "../../base/record.js";
import type { JsonSchema } from "../../tool/json-schema.js";
import { compileValidator, type Validator } from "../../tool/validate.js";

/**
 * Clients refuse a result that does not fit the schema that was promised, and one without the promised object. A
 * result can lack it for good reasons: it was too long, a hook replaced it, a secret in it was masked. So the
 * promise is "this, or a word on why not".
 */
export const LEFT_OUT = "hermes_left_out";

const LEFT_OUT_SCHEMA = {
  type: "string",
  description:
    "Set instead of everything else when the object is not given; the text part has what can be shown.",
} as const;

/** The schema to promise; undefined when nothing can be promised that clients understand. */
export function advertisedOutput(output: JsonSchema | undefined): Record<string, unknown> | undefined {
  if (!isPlainObject(output)) return undefined;
  const { required, properties = {}, ...rest } = output;
  const asked = Array.isArray(required) && required.length > 0;
  return {
    ...rest,
    properties: { ...(properties as Record<string, unknown>), [LEFT_OUT]: LEFT_OUT_SCHEMA },
    ...(asked && { anyOf: [{ required }, { required: [LEFT_OUT] }] }),
  };
}

/** Keywords that may ask for more than `properties` and `required` do, or forbid a further property. */
const SAY_MORE = [
  ...["$ref", "$dynamicRef", "anyOf", "oneOf", "allOf", "if", "not", "enum", "const"],
  ...["minProperties", "maxProperties", "propertyNames", "patternProperties", "dependentSchemas"],
];

/** An object schema whose own `required` and `properties` say what must be there. */
function isPlainObject(output: unknown): output is Record<string, unknown> {
  if (!isRecord(output) || output.type !== "object") return false;
  return SAY_MORE.every((keyword) => !(keyword in output));
}

/** The object to send for a tool that promised one: its own if it keeps the promise, else why there is none. */
export class PromisedOutputs {
  /** By the schema itself: what is known of it goes with the tool that brought it. */
  readonly #validators = new WeakMap<object, Validator | "unusable">();

  objectFor(options: {
    readonly output: JsonSchema;
    readonly foreign: boolean;
    readonly structured: Readonly<Record<string, unknown>> | undefined;
    readonly truncated: boolean;
  }): Readonly<Record<string, unknown>> {
    const { output, structured } = options;
    if (structured === undefined) {
      return { [LEFT_OUT]: options.truncated ? "the result is too long" : "the result has no such object" };
    }
    const validator = this.#validatorFor(output, options.foreign);
    const fits = validator !== "unusable" && validator.check(structured);
    return fits ? structured : { [LEFT_OUT]: "the result does not fit the schema" };
  }

  #validatorFor(output: JsonSchema, foreign: boolean): Validator | "unusable" {
    const known = this.#validators.get(output as object);
    if (known !== undefined) return known;
    let made: Validator | "unusable";
    try {
      made = compileValidator(output, { foreign });
    } catch {
      made = "unusable";
    }
    this.#validators.set(output as object, made);
    return made;
  }
}
