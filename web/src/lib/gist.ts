const TELLING = [
  "command",
  "path",
  "url",
  "query",
  "pattern",
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
  if (key !== undefined) return String(given[key]);
  const text = JSON.stringify(args);
  return text === "{}" ? "" : text;
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
