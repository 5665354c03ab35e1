import type { LineCounter, Node as YamlNode } from "yaml";
import { messageOf } from "../base/errno.js";
import { type ConfigNode, MAX_DEPTH, type MapEntry, type MapNode } from "./node.js";
import type { Place } from "./types.js";

/** `partial` is what could still be made out of a broken file, for finding the restrictions in it. */
export type ParsedFile =
  | { readonly ok: true; readonly root: MapNode }
  | {
      readonly ok: false;
      readonly message: string;
      readonly place?: Place | undefined;
      readonly partial?: MapNode | undefined;
    };

/** How much a file may hold; made for settings, other files may say otherwise. */
export interface ParseLimits {
  readonly maxBytes: number;
  readonly maxNodes: number;
}

const SETTINGS_LIMITS: ParseLimits = { maxBytes: 128 * 1024, maxNodes: 50_000 };
const MAX_BRACKETS = 500;

const EMPTY: MapNode = { kind: "map", entries: [] };

/** Never throws: whatever the bytes are, the answer is a tree or the reason why there is none. */
export async function parseConfigText(
  source: string | Uint8Array,
  limits: ParseLimits = SETTINGS_LIMITS,
): Promise<ParsedFile> {
  if (source.length > limits.maxBytes) {
    return { ok: false, message: `the file is larger than ${limits.maxBytes / 1024} KiB` };
  }
  const decoded = decode(source);
  if (decoded === undefined) return { ok: false, message: "the file is not UTF-8 text" };
  const control = decoded.search(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/);
  if (control !== -1) {
    return { ok: false, message: "the file contains control characters", place: placeAt(decoded, control) };
  }
  const tooDeep = findDeepBracket(decoded);
  if (tooDeep !== -1) {
    return { ok: false, message: "brackets are nested too deeply", place: placeAt(decoded, tooDeep) };
  }
  try {
    return await compose(decoded, limits);
  } catch (error) {
    const reason = messageOf(error);
    return { ok: false, message: `the file could not be parsed: ${reason.split("\n", 1)[0]}` };
  }
}

async function compose(text: string, limits: ParseLimits): Promise<ParsedFile> {
  const yaml = await import("yaml");
  const lines = new yaml.LineCounter();
  const doc = withoutStacks(() =>
    yaml.parseDocument(text, {
      lineCounter: lines,
      prettyErrors: false,
      logLevel: "error",
      // The library compares each key with all others; the walker does it with a set.
      uniqueKeys: false,
    }),
  );
  const walker = new Walker({ yaml, lines, maxNodes: limits.maxNodes });
  const root = doc.contents === null ? EMPTY : walker.walk(doc.contents, 0);
  const syntax = doc.errors[0];
  const trouble =
    syntax === undefined
      ? walker.trouble
      : { message: plainSyntaxMessage(syntax.code, syntax.message), place: walker.placeOf(syntax.pos[0]) };
  if (trouble !== undefined) {
    return { ok: false, ...trouble, partial: root.kind === "map" ? root : undefined };
  }
  if (root.kind === "map") return { ok: true, root };
  if (root.kind === "scalar" && root.value === null) return { ok: true, root: EMPTY };
  const found = root.kind === "list" ? "a list" : "a single value";
  return {
    ok: false,
    message: `the file must be a map of settings, but it is ${found}`,
    place: root.place,
  };
}

// Junk can hold an error per character, and nearly all the time goes into their stack traces.
function withoutStacks<Result>(work: () => Result): Result {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return work();
  } finally {
    Error.stackTraceLimit = limit;
  }
}

type Yaml = typeof import("yaml");

/** Turns the library's tree into ours, opening aliases under one budget so that a bomb stays small. */
class Walker {
  trouble: { message: string; place?: Place | undefined } | undefined;
  #seen = 0;
  #openAliases = 0;
  // Collected on the way: the library's own look-up walks the whole document for every alias.
  readonly #anchors = new Map<string, unknown>();

  private readonly yaml: Yaml;
  private readonly lines: LineCounter;
  private readonly maxNodes: number;

  constructor(parts: { readonly yaml: Yaml; readonly lines: LineCounter; readonly maxNodes: number }) {
    this.yaml = parts.yaml;
    this.lines = parts.lines;
    this.maxNodes = parts.maxNodes;
  }

  placeOf(offset: number): Place {
    const position = this.lines.linePos(offset);
    return { line: Math.max(1, position.line), column: Math.max(1, position.col) };
  }

  walk(node: unknown, depth: number): ConfigNode {
    const { yaml } = this;
    const place = this.#place(node);
    const nothing: ConfigNode = { kind: "scalar", value: null, ...place };
    this.#seen++;
    if (this.#seen > this.maxNodes || depth > MAX_DEPTH) {
      const what = depth > MAX_DEPTH ? "values are nested too deeply" : "aliases expand to too many values";
      this.#fail(what, place.place);
      return nothing;
    }
    if (yaml.isAlias(node)) {
      const target = this.#anchors.get(node.source);
      if (target === undefined) {
        this.#fail(`the alias *${node.source} has no anchor before it`, place.place);
        return nothing;
      }
      this.#openAliases++;
      const opened = this.walk(target, depth + 1);
      this.#openAliases--;
      return { ...opened, ...place };
    }
    // Inside an opened alias the anchors have been seen already, in their own place.
    if (yaml.isNode(node) && node.anchor && this.#openAliases === 0) this.#anchors.set(node.anchor, node);
    if (yaml.isSeq(node)) {
      const items: ConfigNode[] = [];
      for (const item of node.items) {
        if (this.#seen > this.maxNodes) break;
        items.push(this.walk(item, depth + 1));
      }
      return { kind: "list", items, ...place };
    }
    if (yaml.isMap(node)) {
      const entries: MapEntry[] = [];
      const names = new Set<string>();
      for (const pair of node.items) {
        if (this.#seen > this.maxNodes) break;
        const keyPlace = this.#place(pair.key);
        const name = this.#keyName(pair.key, keyPlace.place);
        if (name === undefined) continue;
        if (names.has(name)) this.#fail("the same setting is written twice in one section", keyPlace.place);
        names.add(name);
        entries.push({ name, node: this.walk(pair.value, depth + 1), ...keyPlace });
      }
      return { kind: "map", entries, ...place };
    }
    if (!yaml.isScalar(node)) return nothing;
    return { kind: "scalar", value: scalarValue(node.value), ...place };
  }

  #keyName(key: unknown, place: Place | undefined): string | undefined {
    if (this.yaml.isScalar(key)) {
      // A merge key carries a symbol; its source spelling is what the person wrote.
      return typeof key.value === "symbol" ? (key.source ?? "<<") : String(key.value);
    }
    this.#fail("a setting name must be plain text", place);
    return undefined;
  }

  #place(node: unknown): { place?: Place | undefined } {
    const offset = this.yaml.isNode(node) ? (node as YamlNode).range?.[0] : undefined;
    return offset === undefined ? {} : { place: this.placeOf(offset) };
  }

  #fail(message: string, place: Place | undefined): void {
    this.trouble ??= place === undefined ? { message } : { message, place };
  }
}

function scalarValue(value: unknown): string | number | boolean | null {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  if (typeof value === "bigint") return Number(value);
  return value === null || value === undefined ? null : String(value);
}

function plainSyntaxMessage(code: string, message: string): string {
  if (code === "TAB_AS_INDENT") return "tabs cannot be used for indentation";
  if (code === "MULTIPLE_DOCS") return "the file holds more than one YAML document";
  if (code === "RESOURCE_EXHAUSTION") return "values are nested too deeply";
  return `YAML syntax: ${message.split("\n", 1)[0]}`;
}

function decode(source: string | Uint8Array): string | undefined {
  if (typeof source === "string") return source.startsWith("\uFEFF") ? source.slice(1) : source;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(source);
  } catch {
    return undefined;
  }
}

// The YAML parser needs quadratic time for deep flow nesting; no honest file comes near this bound.
function findDeepBracket(text: string): number {
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === 0x5b || code === 0x7b) depth++;
    else if ((code === 0x5d || code === 0x7d) && depth > 0) depth--;
    if (depth > MAX_BRACKETS) return index;
  }
  return -1;
}

function placeAt(text: string, offset: number): Place {
  const before = text.slice(0, offset).split("\n");
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}
