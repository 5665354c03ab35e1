import type { JsonSchema } from "./json-schema.js";
import type { Refined } from "./tool.js";

/** The part of the Standard Schema contract (zod, valibot, arktype …) that is read here. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly jsonSchema?: { readonly input: (options: { target: string }) => Record<string, unknown> };
  };
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | {
      readonly issues: readonly {
        readonly message: string;
        readonly path?: readonly unknown[] | undefined;
      }[];
    };

export function isStandardSchema(value: unknown): value is StandardSchema {
  return (typeof value === "object" || typeof value === "function") && value !== null && "~standard" in value;
}

/** The JSON Schema a model is shown for a Standard Schema. */
export function jsonSchemaOf(schema: StandardSchema): JsonSchema {
  const { vendor, jsonSchema } = schema["~standard"];
  if (jsonSchema === undefined) {
    const advice =
      vendor === "valibot"
        ? 'wrap it: toStandardJsonSchema(schema) from "@valibot/to-json-schema"'
        : "use a version of the library that implements Standard JSON Schema, or pass a JSON Schema literal";
    throw new TypeError(
      `The ${vendor} schema cannot describe itself as JSON Schema, which a model needs; ${advice}.`,
    );
  }
  return jsonSchema.input({ target: "draft-07" });
}

/** Runs the schema's own validation: refinements and transforms that JSON Schema cannot express. */
export function refineWith<Output>(schema: StandardSchema<unknown, Output>) {
  const settle = (result: StandardResult<Output>): Refined<Output> =>
    result.issues === undefined
      ? { ok: true, value: result.value }
      : {
          ok: false,
          issues: result.issues.map((issue) => ({ path: pointer(issue.path), message: issue.message })),
        };
  return (args: unknown): Refined<Output> | Promise<Refined<Output>> => {
    const result = schema["~standard"].validate(args);
    return result instanceof Promise ? result.then(settle) : settle(result);
  };
}

function pointer(path: readonly unknown[] | undefined): string {
  return (path ?? [])
    .map((segment) => {
      const key = typeof segment === "object" && segment !== null && "key" in segment ? segment.key : segment;
      return `/${String(key)}`;
    })
    .join("");
}
