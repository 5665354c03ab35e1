import type { Setting } from "../../api/types.js";

export type Kind = "boolean" | "enum" | "number" | "text" | "list" | "json" | "secret";

export function kindOf({ schema, secret }: Setting): Kind {
  if (secret === true) return "secret";
  if (schema.type === "boolean") return "boolean";
  if (Array.isArray(schema.enum)) return "enum";
  if (schema.type === "integer" || schema.type === "number") return "number";
  if (schema.type === "string") return "text";
  const items = schema.items as { readonly type?: unknown } | undefined;
  return schema.type === "array" && items?.type === "string" ? "list" : "json";
}

export function choicesOf({ schema }: Setting): readonly string[] {
  return Array.isArray(schema.enum) ? schema.enum.map(String) : [];
}

/** What stands in the field. */
export function textOf(kind: Kind, value: unknown): string {
  if (kind === "secret") return "";
  if (value === null || value === undefined) return "";
  if (kind === "list") return Array.isArray(value) ? value.map(String).join("\n") : String(value);
  if (kind === "json") return JSON.stringify(value, null, 2);
  return String(value);
}

/** What is sent; undefined with a problem when the text is none. */
export function readValue(
  kind: Kind,
  text: string,
): { readonly value: unknown } | { readonly problem: string } {
  switch (kind) {
    case "boolean":
      return { value: text === "true" };
    case "number": {
      const value = Number(text);
      return text.trim() === "" || !Number.isFinite(value) ? { problem: "Give a number." } : { value };
    }
    case "list":
      return {
        value: text
          .split("\n")
          .map((line) => line.trim())
          .filter((line) => line !== ""),
      };
    case "json":
      try {
        return { value: JSON.parse(text) as unknown };
      } catch (error) {
        return { problem: `This is no JSON: ${error instanceof Error ? error.message : String(error)}` };
      }
    case "enum":
    case "text":
    case "secret":
      return { value: text };
  }
}

export function groupOf(key: string): string {
  return key.includes(".") ? (key.split(".")[0] ?? key) : "general";
}

export function shortText(value: unknown): string {
  if (value === "" || value === null || value === undefined) return "empty";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
