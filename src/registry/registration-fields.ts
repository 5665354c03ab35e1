import { didYouMean } from "../config/did-you-mean.js";
import { TOOL_FIELDS } from "../tool/tool-fields.js";

/** Fields of a registration record that a tool value has not. */
const RECORD_FIELDS = new Set([...TOOL_FIELDS, "schema", "override", "isAsync"]);

/** The spelling of the source documents, as it was in Python. */
const SNAKE_CASE: Readonly<Record<string, string>> = {
  check_fn: "checkFn",
  is_async: "isAsync",
  requires_env: "requiresEnv",
  max_result_size_chars: "maxResultSizeChars",
  dynamic_schema_overrides: "dynamicSchemaOverrides",
  timeout_seconds: "timeoutMs",
};

/** The record in our spelling: itself unless it is written in the other one. What is no field is refused. */
export function inOurSpelling<Given extends { readonly name: string }>(given: Given): Given {
  let other: Record<string, unknown> | undefined;
  for (const field of Object.keys(given)) {
    if (RECORD_FIELDS.has(field)) continue;
    const ours = SNAKE_CASE[field];
    if (ours === undefined) throw new TypeError(unknownField(given.name, field));
    other ??= { ...given };
    const value: unknown = other[field];
    delete other[field];
    other[ours] = field === "timeout_seconds" && typeof value === "number" ? value * 1000 : value;
  }
  return other === undefined ? given : (other as unknown as Given);
}

function unknownField(tool: string, field: string): string {
  const meant = didYouMean(field, RECORD_FIELDS) ?? `there are ${[...RECORD_FIELDS].join(", ")}`;
  return `Tool ${tool} cannot be registered: "${field}" is no field of a registration; ${meant}.`;
}
