import type { Document } from "yaml";

export interface OpenedYaml {
  readonly doc: Document;
  readonly text: string;
}

/** A document whose sections on the way to `path` exist, so that a value can be set there. */
export async function openForEdit(text: string, path: readonly string[]): Promise<OpenedYaml> {
  const { isScalar, parseDocument } = await import("yaml");
  const doc: Document = parseDocument(text.replace(/^\uFEFF/, ""), { uniqueKeys: false });
  const isEmpty = doc.toJS() === null;
  if (isEmpty) doc.contents = doc.createNode({});
  // `approvals:` with nothing below it is a null, which cannot hold settings.
  for (let length = 1; length < path.length; length++) {
    const section = path.slice(0, length);
    const node = doc.getIn(section, true);
    if (!isScalar(node) || node.value !== null) continue;
    const empty = doc.createNode({});
    if (node.comment) empty.commentBefore = node.comment;
    doc.setIn(section, empty);
  }
  return { doc, text };
}

/**
 * The original text with just one plain value exchanged, so that even the spacing around comments stays;
 * undefined when the edit was more than that. Call it after the edit: the edited document is the judge.
 */
export async function spliceScalar(
  { doc, text }: OpenedYaml,
  path: readonly string[],
): Promise<string | undefined> {
  const { isScalar, parseDocument, stringify } = await import("yaml");
  const bom = text.startsWith("\uFEFF") ? "\uFEFF" : "";
  const source = text.slice(bom.length);
  const node = parseDocument(source, { uniqueKeys: false }).getIn(path, true);
  const value = doc.getIn(path);
  if (!isScalar(node) || !node.range || node.anchor || typeof value === "object") return undefined;
  const [start, end] = node.range;
  if (start === end || source.slice(start, end).includes("\n")) return undefined;
  const next = source.slice(0, start) + stringify(value, { lineWidth: 0 }).trimEnd() + source.slice(end);
  const parsed = parseDocument(next, { uniqueKeys: false });
  const same = parsed.errors.length === 0 && JSON.stringify(parsed.toJS()) === JSON.stringify(doc.toJS());
  return same ? bom + next : undefined;
}

/** The document as text, in the manner of the original: its indentation, line ends and byte order mark. */
export function renderEdited({ doc, text: original }: OpenedYaml): string {
  const hasBom = original.startsWith("\uFEFF");
  const text = hasBom ? original.slice(1) : original;
  const rendered = doc.toString({
    lineWidth: 0,
    indent: usualIndent(text),
    indentSeq: !/^( *)[^\s#-][^\n]*:[ \t]*(?:#[^\n]*)?\r?\n\1- /m.test(text),
    flowCollectionPadding: /[{[] /.test(text),
  });
  const lines = text.includes("\r\n") ? rendered.replace(/\r?\n/g, "\r\n") : rendered;
  return hasBom ? `\uFEFF${lines}` : lines;
}

function usualIndent(text: string): number {
  const first = /^[^\s#][^\n]*:[ \t]*(?:#[^\n]*)?\r?\n( +)[^\s#-]/m.exec(text)?.[1];
  return Math.min(8, first?.length ?? 2);
}
