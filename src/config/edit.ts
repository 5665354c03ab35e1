import type { Document } from "yaml";
import { replaceFile } from "../base/atomic-write.js";
import { messageOf } from "../base/errno.js";
import { type Failure, failure } from "../tool/errors.js";
import { checkValue } from "./check-value.js";
import { confirmWritten } from "./confirmed-files.js";
import { isForbiddenInDotenv, upsertDotenv } from "./dotenv.js";
import { type EditResult, locked, readOrEmpty, refused, unknownKey } from "./edit-result.js";
import { readLayer } from "./layer.js";
import { nodeFrom } from "./node.js";
import { parseConfigText } from "./parse-yaml.js";
import { hermesPaths } from "./paths.js";
import { nodeFromText } from "./read-text.js";
import { type ConfigKey, envName, resolveKey } from "./schema.js";

/** Text is read by the key's type (`a,b` for lists); other values are checked as they are. */
export async function setConfigValue(change: {
  readonly home: string;
  readonly key: string;
  readonly value: unknown;
}): Promise<EditResult> {
  const { home, key: path, value } = change;
  if (looksLikeSecretName(path)) return writeSecret({ home, name: path, value });
  const target = resolveKey(path);
  if (target === undefined) return unknownKey(path);
  if (target.key.secret) return writeSecret({ home, name: envName(target.key), value });
  const inside = target.inside.length > 0;
  const parsed = inside
    ? { ok: true as const, value: typeof value === "string" ? looseText(value) : value }
    : parseValue(target.key, value);
  if (!parsed.ok) return parsed;
  return editFile(home, path, (doc) => doc.setIn(path.split("."), parsed.value));
}

/** Adds entries to a list, leaving what is there; entries already present are not repeated. */
export async function appendConfigValue(change: {
  readonly home: string;
  readonly key: string;
  readonly items: readonly string[];
}): Promise<EditResult> {
  return changeList(change, (current) => [...new Set([...current, ...change.items])]);
}

export async function removeConfigValue(change: {
  readonly home: string;
  readonly key: string;
  readonly items: readonly string[];
}): Promise<EditResult> {
  return changeList(change, (current) => current.filter((item) => !change.items.includes(item)));
}

/** Takes the key out of the home config.yaml, so that the default or a lower file counts again. */
export async function unsetConfigValue(change: {
  readonly home: string;
  readonly key: string;
}): Promise<EditResult> {
  if (resolveKey(change.key) === undefined) return unknownKey(change.key);
  return editFile(change.home, change.key, (doc) => doc.deleteIn(change.key.split(".")));
}

async function changeList(
  change: { readonly home: string; readonly key: string },
  edit: (current: readonly string[]) => string[],
): Promise<EditResult> {
  const target = resolveKey(change.key);
  if (target === undefined) return unknownKey(change.key);
  const isList = target.key.type.kind === "list" && target.inside.length === 0;
  if (!isList) {
    return refused("invalid_arguments", `${change.key} is not a list`, "use hermes config set");
  }
  const parts = change.key.split(".");
  return editFile(change.home, change.key, (doc) => {
    const written = doc.toJS({ maxAliasCount: 100 }) as unknown;
    const entries = readLayer(asMapNode(written), () => {});
    const current = (entries.get(change.key)?.value ?? []) as readonly string[];
    const next = edit(current);
    const node = doc.getIn(parts, true);
    const added = next.filter((item) => !current.includes(item));
    if (next.length === current.length + added.length && isSequence(node)) {
      // Adding to the list that is there keeps the comments between its entries.
      for (const item of added) doc.addIn(parts, item);
    } else if (isSequence(node)) {
      for (let index = node.items.length - 1; index >= 0; index--) {
        const item = doc.getIn([...parts, index]);
        if (!next.includes(String(item))) doc.deleteIn([...parts, index]);
      }
    } else if (next.length > 0 || node !== undefined) doc.setIn(parts, next);
  });
}

function isSequence(node: unknown): node is { items: unknown[] } {
  return typeof node === "object" && node !== null && "items" in node && Array.isArray(node.items);
}

function asMapNode(value: unknown) {
  const node = nodeFrom(value);
  return node.kind === "map" ? node : { kind: "map" as const, entries: [] };
}

async function editFile(home: string, key: string, edit: (doc: Document) => void): Promise<EditResult> {
  const file = hermesPaths(home).config;
  return locked(file, async () => {
    const text = readOrEmpty(file);
    const before = await parseConfigText(text);
    if (!before.ok) {
      const where = before.place ? `${file}:${before.place.line}:${before.place.column}` : file;
      return refused("bad_request", `${where}: ${before.message}`, "fix the file first; nothing was written");
    }
    const opened = await openForEdit(text, key.split("."));
    try {
      edit(opened.doc);
    } catch (error) {
      const reason = messageOf(error);
      return refused(
        "invalid_arguments",
        `${key} cannot be changed in ${file}: ${reason}`,
        "edit it by hand",
      );
    }
    const next = (await spliceScalar(opened, key.split("."))) ?? renderEdited(opened);
    const complaint = await firstComplaint(next, key);
    if (complaint !== undefined) {
      return refused("invalid_arguments", complaint, `${file} was not changed`);
    }
    if (next !== text) {
      await replaceFile({ path: file, data: next, mode: text === "" ? 0o600 : undefined });
      await confirmWritten(home, file, next);
    }
    return { ok: true, file, key, changed: next !== text };
  });
}

/** Only what concerns the key that was set: an old mistake elsewhere must not block new edits. */
async function firstComplaint(text: string, key: string): Promise<string | undefined> {
  const parsed = await parseConfigText(text);
  if (!parsed.ok) return `the result would not be readable: ${parsed.message}`;
  let complaint: string | undefined;
  readLayer(parsed.root, (finding) => {
    const concerns =
      finding.at === key || key.startsWith(`${finding.at}.`) || finding.at.startsWith(`${key}.`);
    if (concerns && finding.severity === "error") complaint ??= finding.message;
  });
  return complaint;
}

function parseValue(
  key: ConfigKey,
  value: unknown,
): { readonly ok: true; readonly value: unknown } | ({ readonly ok: false } & Failure) {
  let complaint: string | undefined;
  const node = typeof value === "string" ? nodeFromText(key, value) : nodeFrom(value);
  const checked = checkValue(key, node, (finding) => {
    complaint ??= finding.message;
  });
  if (checked !== undefined && complaint === undefined) return { ok: true, value: checked.value };
  const message = complaint ?? `${key.path} cannot take this value`;
  return { ok: false, ...failure("invalid_arguments", message, "nothing was written") };
}

/** Inside free maps there is no type to go by: numbers, booleans and JSON are recognised, the rest is text. */
function looseText(text: string): unknown {
  if (!/^\s*(?:[[{"\d-]|true\s*$|false\s*$|null\s*$)/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

interface OpenedYaml {
  readonly doc: Document;
  readonly text: string;
}

/** A document whose sections on the way to `path` exist, so that a value can be set there. */
async function openForEdit(text: string, path: readonly string[]): Promise<OpenedYaml> {
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
async function spliceScalar({ doc, text }: OpenedYaml, path: readonly string[]): Promise<string | undefined> {
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
function renderEdited({ doc, text: original }: OpenedYaml): string {
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

/** Secrets live in the home .env, readable by its owner only, never in config.yaml. */
export async function writeSecret(secret: {
  home: string;
  name: string;
  value: unknown;
}): Promise<EditResult> {
  const { name } = secret;
  const file = hermesPaths(secret.home).dotenv;
  if (typeof secret.value !== "string" || secret.value.trim() === "") {
    return refused("invalid_arguments", `${name} must be a text that is not empty`, "nothing was written");
  }
  if (isForbiddenInDotenv(name)) {
    return refused("denied", `${name} may not be set in .env`, "set it in the environment of the process");
  }
  const value = secret.value;
  return locked(file, async () => {
    const text = readOrEmpty(file);
    const next = upsertDotenv(text, name, value);
    if (next === undefined) {
      const hint = "it mixes quotes or line breaks in a way .env cannot hold; nothing was written";
      return refused("invalid_arguments", `the value of ${name} cannot be written to .env`, hint);
    }
    await replaceFile({ path: file, data: next, mode: 0o600 });
    return { ok: true, file, key: name, changed: next !== text };
  });
}

function looksLikeSecretName(key: string): boolean {
  return /^[A-Z][A-Z0-9_]*_(KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|AUTH|PAT)$/.test(key);
}
