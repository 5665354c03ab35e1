import { parseEnv } from "node:util";
import { type DotenvEntry, dotenvEntries, withoutBom } from "../../../config/dotenv.js";

const PLAIN_VALUE = /^[A-Za-z0-9_.:/+=@%,~-]*$/;
const QUOTES = ["'", '"', "`"];

export function readDotenvText(text: string): Readonly<Record<string, string>> {
  const values: Record<string, string> = {};
  for (const [name, value] of Object.entries(parseEnv(withoutBom(text)))) {
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
