import { plural } from "./format.js";

const TELLING = [
  "command",
  "pattern",
  "path",
  "url",
  "urls",
  "query",
  "question",
  "task",
  "goal",
  "code",
  "title",
  "name",
  "action",
];
/** Arguments that say what is done with it, shown before it. */
const FIRST = ["method", "language", "action"];

/** What a call is about, as a person would say it: the argument that tells most, and what narrows it. */
export function gist(args: unknown): string {
  if (typeof args === "string") return args;
  if (typeof args !== "object" || args === null) return "";
  const given = args as Readonly<Record<string, unknown>>;
  const key = TELLING.find((one) => given[one] !== undefined);
  if (key === "pattern" && typeof given.path === "string" && given.path !== ".")
    return `${given.pattern} in ${given.path}`;
  if (key !== undefined) {
    const before = FIRST.flatMap((one) =>
      one !== key && typeof given[one] === "string" ? [given[one]] : [],
    );
    return [...before, said(given[key])].join(" ");
  }
  return Object.values(given).map(said).join("  ");
}

/** A value in few words: what is large is counted. */
function said(value: unknown): string {
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
    const whole = beginningOf(text);
    if (Object.keys(whole).length > 0) return gist(whole);
    return text
      .replace(/^\{"[\w-]{1,40}":\s*/, "")
      .replaceAll(/[[\]{}"]/g, "")
      .replaceAll(",", ", ");
  }
}

const PAIR = /[{,]\s*"([\w-]{1,40})":\s*(?:"((?:[^"\\]|\\.)*)("?)|(-?[\d.]+|true|false|null))/y;

/** What can be read of arguments that were cut off: the values before the first list or object in them. */
function beginningOf(text: string): Readonly<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  PAIR.lastIndex = 0;
  for (let pair = PAIR.exec(text); pair !== null; pair = PAIR.exec(text)) {
    const [, name = "", inside, end, plain] = pair;
    if (inside === undefined) found[name] = JSON.parse(plain ?? "null");
    else found[name] = `${unescaped(inside)}${end === "" ? "…" : ""}`;
  }
  return found;
}

function unescaped(inside: string): string {
  try {
    return JSON.parse(`"${inside}"`) as string;
  } catch {
    return inside;
  }
}
