import { isRecord } from "../base/record.js";
import { clip } from "./preview.js";
import { followRefs, type SchemaObject } from "./schema-walk.js";

const MAX_CHARS = 800;
const MAX_DEPTH = 2;
const MAX_ALTERNATIVES = 12;

/** One line a model can learn from: `web_search(query: string, max_results?: integer = 10)`. */
export function describeSignature(name: string, parameters: unknown): string {
  const schema = followRefs(parameters, parameters);
  const members = isRecord(schema) ? new Description(parameters).members(schema, 0) : "";
  return clip(`${name}(${members})`, MAX_CHARS);
}

class Description {
  readonly #root: unknown;

  constructor(root: unknown) {
    this.#root = root;
  }

  members(schema: SchemaObject, depth: number): string {
    if (!isRecord(schema.properties)) return "";
    const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
    return Object.entries(schema.properties)
      .map(([key, property]) => {
        const name = /^[\w$-]+$/.test(key) ? key : JSON.stringify(clip(key, 40));
        const fallback =
          isRecord(property) && property.default !== undefined ? ` = ${short(property.default)}` : "";
        return `${name}${required.includes(key) ? "" : "?"}: ${this.#type(property, depth)}${fallback}`;
      })
      .join(", ");
  }

  #type(schema: unknown, depth: number): string {
    const target = followRefs(this.#root, schema);
    if (!isRecord(target)) return target === false ? "never" : "any";
    if ("const" in target) return short(target.const);
    if (Array.isArray(target.enum)) return union(target.enum.map(short));
    const alternatives = Array.isArray(target.anyOf) ? target.anyOf : target.oneOf;
    if (Array.isArray(alternatives)) {
      return depth >= MAX_DEPTH ? "any" : union(alternatives.map((inner) => this.#type(inner, depth + 1)));
    }
    if (Array.isArray(target.type)) {
      return union(target.type.map((type) => this.#type({ ...target, type: String(type) }, depth)));
    }
    if (target.type === "array") {
      const item = isRecord(target.items) && depth < MAX_DEPTH ? this.#type(target.items, depth + 1) : "any";
      return item.includes("|") ? `(${item})[]` : `${item}[]`;
    }
    if (target.type === "object" || isRecord(target.properties)) return this.#object(target, depth);
    return typeof target.type === "string" ? target.type : "any";
  }

  #object(schema: SchemaObject, depth: number): string {
    if (depth >= MAX_DEPTH) return "object";
    if (isRecord(schema.properties) && Object.keys(schema.properties).length > 0) {
      return `{${this.members(schema, depth + 1)}}`;
    }
    if (isRecord(schema.additionalProperties)) {
      return `Record<string, ${this.#type(schema.additionalProperties, depth + 1)}>`;
    }
    return "object";
  }
}

function union(parts: readonly string[]): string {
  const unique = [...new Set(parts)];
  const shown = unique.slice(0, MAX_ALTERNATIVES);
  return shown.join("|") + (unique.length > shown.length ? "|…" : "");
}

function short(value: unknown): string {
  return clip(JSON.stringify(value) ?? "undefined", 40);
}
