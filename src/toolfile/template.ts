import { didYouMean } from "../config/did-you-mean.js";
import type { ConfigNode } from "../config/node.js";
import type { Place } from "../config/types.js";
import { type JsonPath, parseJsonPath } from "./json-path.js";
import { selectAll } from "./json-select.js";
import type { Problems } from "./problems.js";
import type { Section } from "./section.js";

/** `{{name}}` or `{{name.path[0]}}`: a value of the call, or a part of one. */
export interface Expression {
  readonly source: string;
  readonly name: string;
  readonly path: JsonPath;
  readonly place?: Place | undefined;
}

/** A structure with holes. A text that is nothing but one hole takes the value as it is, with its type. */
export type Template =
  | { readonly kind: "literal"; readonly value: string | number | boolean | null }
  | { readonly kind: "value"; readonly expression: Expression }
  | { readonly kind: "text"; readonly parts: readonly (string | Expression)[] }
  | { readonly kind: "list"; readonly items: readonly Template[] }
  | { readonly kind: "map"; readonly entries: readonly (readonly [name: string, value: Template])[] };

export type Values = Readonly<Record<string, unknown>>;

const HOLE = /\{\{\s*([^{}]*?)\s*\}\}/g;
const NAME = /^[A-Za-z_][A-Za-z0-9_-]*/;

export function readTemplate(node: ConfigNode, problems: Problems): Template {
  if (node.kind === "list")
    return { kind: "list", items: node.items.map((item) => readTemplate(item, problems)) };
  if (node.kind === "map")
    return {
      kind: "map",
      entries: node.entries.map((entry) => [entry.name, readTemplate(entry.node, problems)] as const),
    };
  if (typeof node.value !== "string") return { kind: "literal", value: node.value };
  return readText(node.value, node, problems);
}

export function readText(
  text: string,
  at: { readonly place?: Place | undefined },
  problems: Problems,
): Extract<Template, { kind: "literal" | "value" | "text" }> {
  const parts: (string | Expression)[] = [];
  let end = 0;
  for (const match of text.matchAll(HOLE)) {
    if (match.index > end) parts.push(text.slice(end, match.index));
    end = match.index + match[0].length;
    const expression = readExpression(match[1] ?? "", at, problems);
    if (expression !== undefined) parts.push(expression);
  }
  if (end < text.length) parts.push(text.slice(end));
  if (parts.some((part) => typeof part === "string" && part.includes("{{")))
    problems.add(at, `a "{{" has no matching "}}" in ${JSON.stringify(text.slice(0, 60))}`);
  const [only] = parts;
  if (parts.length === 1 && only !== undefined && typeof only !== "string")
    return { kind: "value", expression: only };
  if (parts.every((part) => typeof part === "string")) return { kind: "literal", value: text };
  return { kind: "text", parts };
}

function readExpression(
  source: string,
  at: { readonly place?: Place | undefined },
  problems: Problems,
): Expression | undefined {
  const name = NAME.exec(source)?.[0];
  if (name === undefined) {
    problems.add(at, `"{{${source}}}" must begin with a name`, "write {{name}} or {{name.part[0]}}");
    return undefined;
  }
  const path = parseJsonPath(`$${source.slice(name.length)}`);
  if (!path.ok) {
    problems.add(at, `"{{${source}}}" cannot be understood: ${path.message}`);
    return undefined;
  }
  return { source, name, path: path.value, place: at.place };
}

/** All holes of a template, in order. */
export function holesOf(template: Template): readonly Expression[] {
  switch (template.kind) {
    case "literal":
      return [];
    case "value":
      return [template.expression];
    case "text":
      return template.parts.filter((part) => typeof part !== "string");
    case "list":
      return template.items.flatMap(holesOf);
    case "map":
      return template.entries.flatMap(([, value]) => holesOf(value));
  }
}

/** The texts of a template that stand in the file, without its holes. */
export function writtenTexts(template: Template): readonly string[] {
  switch (template.kind) {
    case "literal":
      return typeof template.value === "string" ? [template.value] : [];
    case "value":
      return [];
    case "text":
      return template.parts.filter((part) => typeof part === "string");
    case "list":
      return template.items.flatMap(writtenTexts);
    case "map":
      return template.entries.flatMap(([, value]) => writtenTexts(value));
  }
}

/** The value of a hole; undefined when the call has none. */
export function holeValue({ name, path }: Expression, values: Values): unknown {
  const value = Object.hasOwn(values, name) ? values[name] : undefined;
  if (value === undefined || path.segments.length === 0) return value;
  const found = selectAll(path, value);
  return path.singular ? found[0] : found;
}

/** The filled-in structure. What a missing value would have been is left out of maps and lists. */
export function fill(template: Template, values: Values): unknown {
  switch (template.kind) {
    case "literal":
      return template.value;
    case "value":
      return holeValue(template.expression, values);
    case "text":
      return template.parts
        .map((part) => (typeof part === "string" ? part : asText(holeValue(part, values))))
        .join("");
    case "list":
      return template.items.map((item) => fill(item, values)).filter((item) => item !== undefined);
    case "map":
      return Object.fromEntries(
        template.entries
          .map(([name, inner]) => [name, fill(inner, values)] as const)
          .filter(([, value]) => value !== undefined),
      );
  }
}

/** A value inside of a text. */
export function asText(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** The parameters that templates name; what is none is reported where it stands. */
export function checkHoles(
  tool: Section,
  { templates, known }: { readonly templates: readonly Template[]; readonly known: readonly string[] },
): ReadonlySet<string> {
  const holes = templates.flatMap(holesOf);
  for (const hole of holes)
    if (!known.includes(hole.name))
      tool.wrong(
        hole,
        `{{${hole.source}}} of ${tool.what} names no parameter`,
        didYouMean(hole.name, known) ?? "add it to parameters",
      );
  return new Set(holes.map(({ name }) => name));
}
