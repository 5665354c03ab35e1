import { ToolError } from "../tool/errors.js";

/** Set by the client from the URL and the body; a different value would contradict what is really sent. */
const MANAGED = new Set(
  "host content-length transfer-encoding connection keep-alive upgrade te trailer expect proxy-connection".split(
    " ",
  ),
);
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** Checked headers with defaults added. Names are made lower case; a repeated name is refused. */
export function requestHeaders(given: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const headers = new Map<string, string>();
  for (const [name, value] of Object.entries(given)) {
    const lower = name.toLowerCase();
    if (!NAME.test(name)) throw refuse(name, "it is not a valid header name");
    if (/[^\t\x20-\x7e\x80-\xff]/.test(value)) {
      throw refuse(name, "its value holds a line break or another character that cannot be sent");
    }
    if (MANAGED.has(lower)) throw refuse(name, "it is set by the client itself");
    if (headers.has(lower)) throw refuse(name, "it is given twice");
    headers.set(lower, value);
  }
  if (!headers.has("user-agent")) headers.set("user-agent", "hermes-tools");
  return Object.fromEntries(headers);
}

function refuse(name: string, why: string): ToolError {
  return new ToolError(`The header ${JSON.stringify(name)} cannot be used: ${why}.`, {
    code: "invalid_arguments",
    hint: "Correct or leave out this header.",
  });
}
