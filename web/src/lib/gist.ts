import { plural } from "./format.js";

const TELLING = [
  "command",
  "pattern",
  "path",
  "url",
  "query",
  "question",
  "task",
  "goal",
  "code",
  "name",
  "action",
];

/** The one argument that says what a call is about. */
export function gist(args: unknown): string {
  if (typeof args === "string") return args;
  if (typeof args !== "object" || args === null) return "";
  const given = args as Readonly<Record<string, unknown>>;
  const key = TELLING.find((one) => typeof given[one] === "string");
  if (key === "pattern" && typeof given.path === "string" && given.path !== ".")
    return `${given.pattern} in ${given.path}`;
  if (key !== undefined) return String(given[key]);
  const [first] = Object.values(given);
  return first === undefined ? "" : said(first);
}

/** A value in few words: what is large is counted. */
export function said(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value))
    return value.every((one) => typeof one === "string")
      ? value.join(", ")
      : plural(value.length, "entry", "entries");
  return JSON.stringify(value) ?? "";
}

/** The same of arguments as text, which may be cut. */
export function gistOfText(text: string): string {
  try {
    return gist(JSON.parse(text));
  } catch {
    const [, value] = /^\{"(?:command|path|url|query|pattern|code)":"((?:[^"\\]|\\.)*)/.exec(text) ?? [];
    return value ?? text;
  }
}
