import type { Document, Node, Pair } from "yaml";

type Yaml = typeof import("yaml");
type Cut = readonly [start: number, end: number, instead: string];

/**
 * Changes one list of a YAML text and leaves every other byte as it is. Undefined when the text is written in
 * a way that cannot be cut safely; what comes out has been read again and compared with what was meant.
 */
export async function removeFromList(
  text: string,
  key: string,
  indexes: readonly number[],
): Promise<string | undefined> {
  const opened = await openList(text, key);
  if (opened === undefined) return undefined;
  const { yaml, body, pair, doc } = opened;
  const list = asList(doc, key);
  const meant = list.filter((_item, index) => !indexes.includes(index));
  const { value } = pair;
  if (!yaml.isSeq(value)) {
    const cut = yaml.isScalar(value) ? rangeOf(value) : undefined;
    return cut && finish({ ...opened, key, meant, cuts: [[...cut, "[]"]] });
  }
  const cuts = value.flow
    ? flowCuts(value.items as Node[], indexes)
    : blockCuts({ yaml, body, items: value.items as Node[], indexes });
  if (cuts === undefined) return undefined;
  if (meant.length === 0 && !value.flow) cuts.push([afterColon(body, pair), afterColon(body, pair), " []"]);
  return finish({ ...opened, key, meant, cuts });
}

export async function addToList(
  text: string,
  key: string,
  items: readonly unknown[],
): Promise<string | undefined> {
  const opened = await openList(text, key);
  if (opened === undefined) return appendKey(text, key, items);
  const { yaml, body, pair, doc } = opened;
  const meant = [...asList(doc, key), ...items];
  const done = (cuts: Cut[]) => finish({ ...opened, key, meant, cuts });
  const { value } = pair;
  const json = items.map((item) => JSON.stringify(item)).join(", ");
  const range = yaml.isNode(value) ? rangeOf(value) : undefined;
  if (yaml.isScalar(value) && value.value !== null && range !== undefined) {
    return done([[...range, `[${JSON.stringify(value.value)}, ${json}]`]]);
  }
  const block = (indent: string) => blockItems({ yaml, items, indent, eol: lineEndOf(text) });
  if (yaml.isScalar(value) || value === null) {
    const end = lineEnd(body, afterColon(body, pair));
    return done([[end, end, startLine(body, end, text) + block("  ")]]);
  }
  if (!yaml.isSeq(value) || range === undefined) return undefined;
  const last = value.items.at(-1) as Node | undefined;
  if (last === undefined) {
    const end = lineEnd(body, range[1]);
    return done([
      [afterColon(body, pair), range[1], ""],
      [end, end, startLine(body, end, text) + block("  ")],
    ]);
  }
  const lastEnd = endOf(yaml, last);
  if (lastEnd === undefined) return undefined;
  if (value.flow) return done([[lastEnd, lastEnd, `, ${json}`]]);
  const dash = dashBefore(body, last);
  if (dash === undefined) return undefined;
  const end = lineEnd(body, lastEnd);
  return done([[end, end, startLine(body, end, text) + block(body.slice(lineStart(body, dash), dash))]]);
}

interface OpenedList {
  readonly yaml: Yaml;
  /** Without the byte order mark, so that offsets fit. */
  readonly body: string;
  readonly bom: string;
  readonly doc: Document;
  readonly pair: Pair;
}

async function openList(text: string, key: string): Promise<OpenedList | undefined> {
  const yaml = await import("yaml");
  const bom = text.startsWith("\uFEFF") ? "\uFEFF" : "";
  const body = text.slice(bom.length);
  const doc: Document = yaml.parseDocument(body, { uniqueKeys: false });
  if (!yaml.isMap(doc.contents) || doc.errors.length > 0) return undefined;
  const pair = doc.contents.items.find((item) => yaml.isScalar(item.key) && item.key.value === key);
  return pair === undefined ? undefined : { yaml, body, bom, doc, pair };
}

async function appendKey(text: string, key: string, items: readonly unknown[]): Promise<string | undefined> {
  const yaml = await import("yaml");
  const eol = lineEndOf(text);
  const gap = text === "" || text === "\uFEFF" || text.endsWith("\n") ? "" : eol;
  const next = `${text}${gap}${key}:${eol}${blockItems({ yaml, items, indent: "  ", eol })}`;
  const [before, after] = [text, next].map((each) =>
    yaml.parseDocument(each.replace(/^\uFEFF/, ""), { uniqueKeys: false }),
  );
  if (before === undefined || after === undefined || after.errors.length > 0) return undefined;
  const meant = { ...(before.toJS() as object | null), [key]: items };
  return sameData(after.toJS(), meant) ? next : undefined;
}

function finish(edit: OpenedList & { key: string; meant: readonly unknown[]; cuts: Cut[] }) {
  const { yaml, body, bom, doc, key, meant } = edit;
  let next = body;
  for (const [start, end, instead] of edit.cuts.toSorted((a, b) => b[0] - a[0])) {
    next = next.slice(0, start) + instead + next.slice(end);
  }
  const again = yaml.parseDocument(next, { uniqueKeys: false });
  if (again.errors.length > 0) return undefined;
  const wanted = { ...(doc.toJS({ maxAliasCount: 100 }) as object), [key]: meant };
  return sameData(again.toJS({ maxAliasCount: 100 }), wanted) ? bom + next : undefined;
}

function sameData(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function asList(doc: Document, key: string): unknown[] {
  const value = (doc.toJS({ maxAliasCount: 100 }) as Record<string, unknown>)[key];
  if (Array.isArray(value)) return value;
  return value === null || value === undefined ? [] : [value];
}

function blockCuts(list: {
  yaml: Yaml;
  body: string;
  items: readonly Node[];
  indexes: readonly number[];
}): Cut[] | undefined {
  const { yaml, body, items } = list;
  const cuts: Cut[] = [];
  for (const index of list.indexes) {
    const item = items[index];
    const end = item && endOf(yaml, item);
    const dash = item && dashBefore(body, item);
    if (end === undefined || dash === undefined) return undefined;
    cuts.push([lineStart(body, dash), lineEnd(body, end), ""]);
  }
  return cuts;
}

/** Each item goes with the comma after it, the last one with the comma before it. */
function flowCuts(items: readonly Node[], indexes: readonly number[]): Cut[] | undefined {
  const ranges = items.map(rangeOf);
  const cuts: Cut[] = [];
  const kept = items.findLastIndex((_item, index) => !indexes.includes(index));
  for (const index of indexes) {
    const [own, next, previous] = [ranges[index], ranges[index + 1], ranges[index - 1]];
    if (own === undefined) return undefined;
    const start = index > kept && previous !== undefined ? previous[1] : own[0];
    const end = index < kept && next !== undefined ? next[0] : own[1];
    cuts.push([start, end, ""]);
  }
  return cuts;
}

function rangeOf(node: Node): [number, number] | undefined {
  // An anchor stands before the range, and other places may refer to it.
  if (!node.range || ("anchor" in node && node.anchor)) return undefined;
  return [node.range[0], node.range[1]];
}

/** Where the last written value in a node ends; the library's own range goes on over comments. */
function endOf(yaml: Yaml, node: Node): number | undefined {
  if (!yaml.isCollection(node) || node.flow) return rangeOf(node)?.[1];
  const last: unknown = node.items.at(-1);
  const inner = yaml.isPair(last) ? (last.value ?? last.key) : last;
  return yaml.isNode(inner) ? endOf(yaml, inner) : undefined;
}

/** The dash of a list item that begins its line. */
function dashBefore(body: string, item: Node): number | undefined {
  const start = rangeOf(item)?.[0];
  if (start === undefined) return undefined;
  const line = body.slice(lineStart(body, start), start);
  const match = /^([ \t]*)-[ \t]+$/.exec(line);
  return match === null ? undefined : lineStart(body, start) + (match[1] ?? "").length;
}

function afterColon(body: string, pair: Pair): number {
  const keyEnd = (pair.key as Node).range?.[1] ?? 0;
  return body.indexOf(":", keyEnd) + 1;
}

function lineStart(body: string, offset: number): number {
  return body.lastIndexOf("\n", offset - 1) + 1;
}

/** Behind the line break; an offset that already stands behind one stays. */
function lineEnd(body: string, offset: number): number {
  if (offset > 0 && body[offset - 1] === "\n") return offset;
  const found = body.indexOf("\n", offset);
  return found === -1 ? body.length : found + 1;
}

function startLine(body: string, offset: number, text: string): string {
  return offset > 0 && body[offset - 1] !== "\n" ? lineEndOf(text) : "";
}

function lineEndOf(text: string): string {
  return text.includes("\r\n") ? "\r\n" : "\n";
}

function blockItems(list: { yaml: Yaml; items: readonly unknown[]; indent: string; eol: string }): string {
  const lines = list.yaml.stringify(list.items, { lineWidth: 0 }).trimEnd().split("\n");
  return lines.map((line) => `${list.indent}${line}${list.eol}`).join("");
}
