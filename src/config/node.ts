import type { Place } from "./types.js";

/** A config value that remembers where it was written. Values from flags and variables have no place. */
export type ConfigNode = ScalarNode | ListNode | MapNode;

export interface ScalarNode {
  readonly kind: "scalar";
  readonly value: string | number | boolean | null;
  readonly place?: Place | undefined;
}
export interface ListNode {
  readonly kind: "list";
  readonly items: readonly ConfigNode[];
  readonly place?: Place | undefined;
}
export interface MapNode {
  readonly kind: "map";
  readonly entries: readonly MapEntry[];
  readonly place?: Place | undefined;
}
export interface MapEntry {
  readonly name: string;
  readonly node: ConfigNode;
  readonly place?: Place | undefined;
}

export const MAX_DEPTH = 64;

/** A node from a program's value; what YAML cannot say (functions, cycles) becomes null. */
export function nodeFrom(value: unknown, depth = 0): ConfigNode {
  if (depth > MAX_DEPTH) return { kind: "scalar", value: null };
  if (Array.isArray(value)) {
    return { kind: "list", items: value.map((item) => nodeFrom(item, depth + 1)) };
  }
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).map(([name, inner]) => ({
      name,
      node: nodeFrom(inner, depth + 1),
    }));
    return { kind: "map", entries };
  }
  const plain = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  return { kind: "scalar", value: plain ? value : null };
}

/** The plain value; `fromEntries` defines own properties, so a key named __proto__ stays a key. */
export function plainValue(node: ConfigNode): unknown {
  if (node.kind === "list") return node.items.map(plainValue);
  if (node.kind === "map") {
    return Object.fromEntries(node.entries.map((entry) => [entry.name, plainValue(entry.node)]));
  }
  return typeof node.value === "number" && !Number.isFinite(node.value) ? null : node.value;
}

export function describeNode(node: ConfigNode): string {
  if (node.kind === "list") return "a list";
  if (node.kind === "map") return "a section";
  if (node.value === null) return "nothing";
  if (typeof node.value === "string") return `the text ${JSON.stringify(shorten(node.value))}`;
  return `${node.value}`;
}

export function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
