import { isRecord } from "../base/record.js";
import { asText } from "./template.js";

/** How lists and objects are written into a query, in the words of OpenAPI. */
export type QueryStyle = "form" | "spaceDelimited" | "pipeDelimited" | "deepObject";

export const QUERY_STYLES: readonly QueryStyle[] = ["form", "spaceDelimited", "pipeDelimited", "deepObject"];

const SEPARATORS: Readonly<Record<Exclude<QueryStyle, "deepObject">, string>> = {
  form: ",",
  spaceDelimited: " ",
  pipeDelimited: "|",
};

export type Pair = readonly [name: string, value: string];

/** Name and value pairs of one parameter, not yet encoded. */
export function queryPairs(
  name: string,
  value: unknown,
  {
    style = "form",
    explode = style === "form",
  }: { readonly style?: QueryStyle | undefined; readonly explode?: boolean | undefined },
): readonly Pair[] {
  if (value === undefined || value === null) return [];
  if (style === "deepObject") return deepPairs(name, value);
  if (Array.isArray(value)) {
    if (explode) return value.map((item) => [name, asText(item)] as const);
    return [[name, value.map(asText).join(SEPARATORS[style])]];
  }
  if (!isRecord(value)) return [[name, asText(value)]];
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined && inner !== null);
  if (explode) return entries.map(([key, inner]) => [key, asText(inner)] as const);
  return [[name, entries.flatMap(([key, inner]) => [key, asText(inner)]).join(SEPARATORS[style])]];
}

/** OpenAPI leaves lists open here; `a[]=1` and `a[0][b]=1` is what services that take this form understand. */
function deepPairs(name: string, value: unknown): readonly Pair[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value))
    return value.flatMap((item, index) =>
      deepPairs(typeof item === "object" ? `${name}[${index}]` : `${name}[]`, item),
    );
  if (isRecord(value))
    return Object.entries(value).flatMap(([key, inner]) => deepPairs(`${name}[${key}]`, inner));
  return [[name, asText(value)]];
}
