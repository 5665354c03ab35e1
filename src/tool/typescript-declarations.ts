import { isRecord } from "../base/record.js";
import { clip } from "./preview.js";
import { followRefs, type SchemaObject } from "./schema-walk.js";
import { describeSignature } from "./signature.js";
import type { NestedTool } from "./tool.js";

const MAX_DEPTH = 6;
const MAX_MEMBERS = 60;
const MAX_ALTERNATIVES = 24;
const MAX_LITERAL_CHARS = 60;
const MAX_TYPE_CHARS = 6_000;
const DEFAULT_DESCRIPTION_CHARS = 300;
const MEMBER_NOTE_CHARS = 120;

export interface DeclarationOptions {
  /** Characters of a tool's description that are told. */
  readonly maxDescriptionChars?: number;
  /** Characters in all; with more tools than fit, only their names are listed. */
  readonly maxChars?: number;
}

/**
 * TypeScript that says what scripts can call: `declare const tools: { read_file(args: {...}): Promise<...> }`.
 * Schemas may come from anywhere, so whatever they hold, the text is a valid declaration of bounded size.
 */
export function declarationsOf(tools: readonly NestedTool[], options: DeclarationOptions = {}): string {
  const { maxDescriptionChars = DEFAULT_DESCRIPTION_CHARS, maxChars = Number.POSITIVE_INFINITY } = options;
  let text = "declare const tools: {\n";
  for (const tool of tools) {
    text += declaration(tool, maxDescriptionChars);
    if (text.length > maxChars) return namesOnly(tools, maxChars);
  }
  return `${text}};\n`;
}

function declaration(tool: NestedTool, maxDescriptionChars: number): string {
  const args = new TypeText(tool.parameters);
  const given = args.of(tool.parameters);
  const result = tool.output === undefined ? "any" : new TypeText(tool.output).of(tool.output);
  const optional = args.allOptional(tool.parameters) ? "?" : "";
  const note = comment(clip(tool.description.trim(), maxDescriptionChars), "  ");
  return `${note}  ${propertyName(tool.name)}(args${optional}: ${given}): Promise<${result}>;\n`;
}

/**
 * One line of TypeScript a model can call by: `create_issue(args: { title: string; body?: string })`. Parameters
 * are explained as far as there is room.
 */
export function compactSignature(tool: Pick<NestedTool, "name" | "parameters">, maxChars: number): string {
  for (const noteChars of [80, 40, 0]) {
    const args = new TypeText(tool.parameters, noteChars);
    const given = args.of(tool.parameters);
    const optional = args.allOptional(tool.parameters) ? "?" : "";
    const line = `${propertyName(tool.name)}(args${optional}: ${given})`;
    if (line.length <= maxChars) return line;
  }
  // One for the sign that says something was cut.
  return clip(describeSignature(tool.name, tool.parameters), maxChars - 1);
}

/** Names by the words they begin with, which is how servers and domains name their tools. */
function namesOnly(tools: readonly NestedTool[], maxChars: number): string {
  const groups = new Map<string, string[]>();
  for (const { name } of tools) {
    const [first = ""] = name.split(/[_.-]/);
    const group = first === "mcp" ? (/^mcp[_.-]+[^_.-]*/.exec(name)?.[0] ?? first) : first;
    groups.set(group, [...(groups.get(group) ?? []), name]);
  }
  const head = `// ${tools.length} tools; searchTools(words) finds them, describeTool(name) tells their types.\n`;
  let text = head;
  for (const [group, names] of [...groups].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const line = `// ${oneLine(names.length === 1 ? (names[0] ?? "") : `${group}: ${names.join(" ")}`)}\n`;
    if (text.length + line.length > maxChars - 100) return groupSizes(groups, { head, maxChars });
    text += line;
  }
  return `${text}declare const tools: { [name: string]: (args?: object) => Promise<any> };\n`;
}

function groupSizes(
  groups: ReadonlyMap<string, readonly string[]>,
  { head, maxChars }: { head: string; maxChars: number },
): string {
  const sizes = [...groups]
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([group, names]) => `${oneLine(clip(group, 60))} (${names.length})`);
  const line = clip(sizes.join(", "), Math.max(0, maxChars - head.length - 110));
  return `${head}// ${line}\ndeclare const tools: { [name: string]: (args?: object) => Promise<any> };\n`;
}

/** Writes schemas as types. References are followed within their own root. */
class TypeText {
  readonly #root: unknown;
  readonly #noteChars: number;
  #chars = 0;

  /** `noteChars`: how much is told about each parameter; 0 leaves such notes out. */
  constructor(root: unknown, noteChars = MEMBER_NOTE_CHARS) {
    this.#root = root;
    this.#noteChars = noteChars;
  }

  of(schema: unknown): string {
    return this.#type(schema, 0);
  }

  allOptional(schema: unknown): boolean {
    const target = followRefs(this.#root, schema);
    return isRecord(target) && (!Array.isArray(target.required) || target.required.length === 0);
  }

  #type(schema: unknown, depth: number): string {
    const target = followRefs(this.#root, schema);
    if (target === false) return "never";
    if (!isRecord(target) || depth > MAX_DEPTH || this.#chars > MAX_TYPE_CHARS) return "unknown";
    const text = this.#written(target, depth);
    this.#chars += text.length;
    return target.nullable === true && text !== "unknown" ? union([text, "null"]) : text;
  }

  #written(schema: SchemaObject, depth: number): string {
    if ("const" in schema) return literal(schema.const);
    if (Array.isArray(schema.enum))
      return union(schema.enum.slice(0, MAX_ALTERNATIVES + 1).map(literal), schema.enum.length);
    for (const key of ["anyOf", "oneOf"]) {
      const list = schema[key];
      if (Array.isArray(list) && list.length > 0) return this.#alternatives(schema, { list, depth });
    }
    if (Array.isArray(schema.allOf) && schema.allOf.length > 0)
      return this.#all(schema, { list: schema.allOf, depth });
    if (Array.isArray(schema.type)) {
      return union(
        schema.type.map((type) => this.#ofType({ schema, type, depth })),
        schema.type.length,
      );
    }
    return this.#ofType({ schema, type: schema.type, depth });
  }

  #alternatives(schema: SchemaObject, { list, depth }: { list: readonly unknown[]; depth: number }): string {
    const shown = list.slice(0, MAX_ALTERNATIVES + 1).map((inner) => this.#type(inner, depth + 1));
    const choice = union(shown, list.length);
    if (!isRecord(schema.properties)) return choice;
    return choice === "unknown"
      ? this.#object(schema, depth)
      : `${this.#object(schema, depth)} & (${choice})`;
  }

  #all(schema: SchemaObject, { list, depth }: { list: readonly unknown[]; depth: number }): string {
    const own = isRecord(schema.properties) ? [this.#object(schema, depth)] : [];
    const parts = [...own, ...list.slice(0, MAX_ALTERNATIVES).map((inner) => this.#type(inner, depth + 1))];
    const known = [...new Set(parts)].filter((part) => part !== "unknown");
    return known.length === 0 ? "unknown" : known.map(bracketed).join(" & ");
  }

  #ofType({ schema, type, depth }: { schema: SchemaObject; type: unknown; depth: number }): string {
    switch (type) {
      case "string":
      case "number":
      case "boolean":
      case "null":
        return type;
      case "integer":
        return "number";
      case "array":
        return this.#array(schema, depth);
      case "object":
        return this.#object(schema, depth);
      default:
        if (isRecord(schema.properties)) return this.#object(schema, depth);
        return isRecord(schema.items) ? this.#array(schema, depth) : "unknown";
    }
  }

  #array(schema: SchemaObject, depth: number): string {
    const places = Array.isArray(schema.prefixItems) ? schema.prefixItems : schema.items;
    if (Array.isArray(places)) {
      const shown = places.slice(0, MAX_ALTERNATIVES).map((place) => this.#type(place, depth + 1));
      const open =
        places.length > shown.length || (schema.items !== false && schema.additionalItems !== false);
      return `[${[...shown, ...(open ? ["...unknown[]"] : [])].join(", ")}]`;
    }
    return places === undefined ? "unknown[]" : `${bracketed(this.#type(places, depth + 1))}[]`;
  }

  #object(schema: SchemaObject, depth: number): string {
    const properties = isRecord(schema.properties) ? Object.entries(schema.properties) : [];
    const rest = schema.additionalProperties;
    const open = rest === undefined || rest === true ? "unknown" : this.#type(rest, depth + 1);
    if (properties.length === 0) {
      if (rest === false && !isRecord(schema.patternProperties)) return "{}";
      return `Record<string, ${open === "never" ? "unknown" : open}>`;
    }
    if (depth >= MAX_DEPTH) return "object";
    const required = new Set<unknown>(Array.isArray(schema.required) ? schema.required : []);
    const members = properties
      .slice(0, MAX_MEMBERS)
      .map(([key, value]) => this.#member({ key, value, required, depth }));
    if (properties.length > MAX_MEMBERS) members.push(`/* … ${properties.length - MAX_MEMBERS} more */`);
    // An index signature must suit every member as well, which only `unknown` does.
    if (isRecord(rest) || rest === true) members.push("[key: string]: unknown");
    return `{ ${members.join("; ")} }`;
  }

  #member(parts: { key: string; value: unknown; required: ReadonlySet<unknown>; depth: number }): string {
    const { key, value, required, depth } = parts;
    const target = followRefs(this.#root, value);
    const about =
      isRecord(target) && depth === 0 && this.#noteChars > 0 ? memberNote(target, this.#noteChars) : "";
    return `${about}${propertyName(key)}${required.has(key) ? "" : "?"}: ${this.#type(value, depth + 1)}`;
  }
}

function memberNote({ description, default: fallback }: SchemaObject, noteChars: number): string {
  const said = typeof description === "string" ? clip(oneLine(description.trim()), noteChars) : "";
  const standard =
    fallback === undefined ? "" : `default ${clip(oneLine(JSON.stringify(fallback) ?? ""), 40)}`;
  const text = [said, standard].filter((part) => part !== "").join("; ");
  return text === "" ? "" : `/** ${withoutEnd(text)} */ `;
}

function union(parts: readonly string[], total = parts.length): string {
  const unique = [...new Set(parts)];
  if (unique.length === 0) return "never";
  if (unique.includes("unknown")) return "unknown";
  const kept = unique.slice(0, MAX_ALTERNATIVES).map((part) => (part.includes("&") ? bracketed(part) : part));
  // What is left out still has to be allowed; `(string & {})` keeps the literals readable beside it.
  if (total > MAX_ALTERNATIVES)
    kept.push(kept.every((part) => part.startsWith('"')) ? "(string & {})" : "unknown");
  return kept.join(" | ");
}

function bracketed(type: string): string {
  return /[|&]/.test(type) ? `(${type})` : type;
}

function literal(value: unknown): string {
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "number";
  if (typeof value === "string") return value.length <= MAX_LITERAL_CHARS ? quoted(value) : "string";
  return "unknown";
}

/** JSON allows the two line separators in strings; comments and some readers of TypeScript do not. */
function quoted(text: string): string {
  return JSON.stringify(text).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}

function propertyName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name);
}

function comment(text: string, indent: string): string {
  if (text === "") return "";
  const lines = withoutEnd(text).split(/[\r\n\u2028\u2029]+/);
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line.trimEnd()}\n`).join("")}${indent} */\n`;
}

function oneLine(text: string): string {
  return text.replace(/[\s\u2028\u2029]+/g, " ");
}

function withoutEnd(text: string): string {
  return text.replaceAll("*/", "*\u200b/").replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, "");
}
