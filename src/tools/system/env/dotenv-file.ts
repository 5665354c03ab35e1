import { sha256 } from "../../../base/hash.js";
import { type DotenvEntry, dotenvEntries, parseDotenv, withoutBom } from "../../../config/dotenv.js";
import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import { refuseDevice } from "../../files/path-guard.js";
import { type Location, locate } from "../../files/paths.js";

const MAX_BYTES = 1024 * 1024;
/** A new file of variables is for its owner only. */
const PRIVATE = 0o600;

export interface DotenvFile {
  readonly path: string;
  readonly exists: boolean;
  readonly values: Readonly<Record<string, string>>;
}

export async function openDotenv(file: string, ctx: CallContext): Promise<DotenvFile> {
  const location = await locate(file, ctx);
  const bytes = await readBytes(location, ctx);
  return {
    path: location.path,
    exists: bytes !== undefined,
    values: bytes === undefined ? {} : readDotenvText(textOf(bytes, location)),
  };
}

/** Sets or, with an undefined value, removes one name; the rest of the file stays as it is. */
export async function changeDotenv(
  change: { readonly file: string; readonly key: string; readonly value: string | undefined },
  ctx: CallContext,
): Promise<{ readonly path: string; readonly changed: boolean; readonly created: boolean }> {
  const location = await locate(change.file, ctx);
  refuseDevice(location);
  const bytes = await readBytes(location, ctx);
  const before = bytes === undefined ? "" : textOf(bytes, location);
  const { key, value } = change;
  const after = value === undefined ? unsetInDotenv(before, key) : setInDotenv(before, key, value);
  if (after === undefined) throw cannotSpell(change, location);
  if (after === before && (bytes !== undefined || value === undefined)) {
    return { path: location.path, changed: false, created: false };
  }
  const { created } = await ctx.environment.files.write(location.real, Buffer.from(after, "utf8"), {
    expected: { sha256: bytes === undefined ? undefined : sha256(bytes) },
    mode: bytes === undefined ? PRIVATE : undefined,
  });
  return { path: location.path, changed: true, created };
}

async function readBytes({ path, real }: Location, ctx: CallContext): Promise<Uint8Array | undefined> {
  const stat = await ctx.environment.files.stat(real);
  if (stat === undefined) return undefined;
  if (stat.type !== "file" || stat.size > MAX_BYTES) {
    throw new ToolError(
      stat.type === "file"
        ? `${path} is larger than ${MAX_BYTES} bytes, which no file of variables is.`
        : `${path} is not a file.`,
      { code: "invalid_arguments", hint: "Name a file of NAME=value lines." },
    );
  }
  return ctx.environment.files.read(real, { real: true });
}

function textOf(bytes: Uint8Array, { path }: Location): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ToolError(`${path} is not UTF-8 text.`, {
      code: "invalid_arguments",
      hint: "Name a file of NAME=value lines in UTF-8.",
    });
  }
}

function cannotSpell(
  change: { readonly value: string | undefined; readonly key: string },
  { path }: Location,
) {
  const why =
    change.value === undefined
      ? "other values of the file would change with it"
      : "no quoting of such a file can hold this value";
  return new ToolError(`${change.key} cannot be changed in ${path}: ${why}.`, {
    code: "invalid_arguments",
    hint:
      change.value === undefined
        ? "Look at the quotes in that file and mend them first."
        : "Leave out one of the three kinds of quotes, or line ends, or encode the value.",
  });
}

const PLAIN_VALUE = /^[A-Za-z0-9_.:/+=@%,~-]*$/;
const QUOTES = ["'", '"', "`"];

function readDotenvText(text: string): Readonly<Record<string, string>> {
  const values: Record<string, string> = {};
  for (const [name, value] of Object.entries(parseDotenv(text))) {
    if (value !== undefined) values[name] = value;
  }
  return values;
}

/** The text with one value changed or added and every other byte as it was; undefined if no spelling can hold it. */
export function setInDotenv(text: string, key: string, value: string): string | undefined {
  const existing = entryOf(text, key);
  const spelled = spellings(value, existing && quoteIn(text, existing));
  const candidates = [
    ...(existing === undefined ? [] : spelled.map((each) => replaced(text, existing, each))),
    // Where the line there cannot be read as it is meant, a later one counts.
    ...spelled.map((each) => appended(text, key, each)),
  ];
  return candidates.find((after) => isOnlyChange({ before: text, after, key, value }));
}

/** The text without the lines that set this name; undefined if that would change other values. */
export function unsetInDotenv(text: string, key: string): string | undefined {
  let next = text;
  // A name may be set twice; the last one counts, so removing only that one would bring the other back.
  for (let entry = entryOf(next, key); entry !== undefined; entry = entryOf(next, key)) {
    const lineEnd = next.indexOf("\n", entry.end);
    next = next.slice(0, entry.start) + (lineEnd === -1 ? "" : next.slice(lineEnd + 1));
  }
  return isOnlyChange({ before: text, after: next, key, value: undefined }) ? next : undefined;
}

/** Positions are those of the given text, with its byte order mark. */
function entryOf(text: string, key: string): DotenvEntry | undefined {
  const body = withoutBom(text);
  const mark = text.length - body.length;
  const entry = dotenvEntries(body).findLast(({ name }) => name === key);
  return entry && { ...entry, start: entry.start + mark, end: entry.end + mark };
}

function quoteIn(text: string, entry: DotenvEntry): string | undefined {
  const last = text.charAt(entry.end - 1);
  return QUOTES.includes(last) ? last : undefined;
}

function replaced(text: string, { start, end, name }: DotenvEntry, spelled: string): string {
  const lead = /^[ \t]*(?:export[ \t]+)?/.exec(text.slice(start, end))?.[0] ?? "";
  const gap = text.charAt(end) === "#" ? " " : "";
  return `${text.slice(0, start)}${lead}${name}=${spelled}${gap}${text.slice(end)}`;
}

function appended(text: string, key: string, spelled: string): string {
  const newline = text.includes("\r\n") ? "\r\n" : "\n";
  const gap = text === "" || text.endsWith("\n") ? "" : newline;
  return `${text}${gap}${key}=${spelled}${newline}`;
}

/** Quotes that were there stay; otherwise none where none are needed. */
function spellings(value: string, quote: string | undefined): string[] {
  const quoted = [...(quote === undefined ? [] : [quote]), ...QUOTES]
    .filter((each) => !value.includes(each))
    .map((each) => each + value + each);
  if (!PLAIN_VALUE.test(value)) return quoted;
  return quote === undefined ? [value, ...quoted] : [...quoted, value];
}

/** The reader is the judge: the new value arrives exactly, and no other one changes. */
function isOnlyChange(change: {
  readonly before: string;
  readonly after: string;
  readonly key: string;
  readonly value: string | undefined;
}): boolean {
  const { key, value } = change;
  const before = readDotenvText(change.before);
  const after = readDotenvText(change.after);
  if ((Object.hasOwn(after, key) ? after[key] : undefined) !== value) return false;
  return Object.keys({ ...before, ...after }).every((name) => name === key || before[name] === after[name]);
}
