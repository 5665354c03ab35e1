import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isRecord } from "../../base/record.js";
import { ToolError } from "../../tool/errors.js";
import { select, selectAll } from "../../toolfile/json-select.js";
import type { ResponseSpec } from "../../toolfile/tool-spec.js";
import { parseExactJson } from "./exact-json.js";
import type { Answer } from "./http-send.js";

const LONGEST_COMPLAINT = 1_000;
const JSON_TYPE = /^(?:application|text)\/(?:[\w.+-]*\+)?json\b/i;
const TEXT_TYPE =
  /^(?:text\/|application\/(?:[\w.+-]*\+)?(?:xml|javascript|x-www-form-urlencoded|yaml|x-ndjson))/i;

/** The result of a call, or the error that the service reported. */
export async function resultOf(
  answer: Answer,
  { response, cacheDir }: { readonly response: ResponseSpec; readonly cacheDir: string },
): Promise<unknown> {
  const { status, contentType, bytes } = answer;
  const content = contentOf(answer, response);
  if (!response.isSuccess(status)) throw refusedBy(answer, content, response);
  const complaint = complaintAt(content, response);
  if (complaint !== undefined)
    throw new ToolError(`The service reported an error: ${complaint}`, { details: { status } });
  if (bytes.length === 0) return { status };
  const mustBeJson = response.format === "json" || isMapped(response);
  if (mustBeJson && content?.isJson !== true)
    throw new ToolError("The answer was to be JSON, but it is not.", {
      hint: "The service may answer in another form than the tool's file says.",
      details: { content_type: contentType, begins: (content?.text ?? "").slice(0, 200) },
    });
  if (content !== undefined) return mapped(content.value, response);
  const path = join(cacheDir, `answer-${randomBytes(8).toString("hex")}.bin`);
  await mkdir(cacheDir, { recursive: true });
  await writeFile(path, bytes, { mode: 0o600, flag: "wx" });
  return { status, content_type: contentType, bytes: bytes.length, saved_to: path };
}

function isMapped({ select: path, fields }: ResponseSpec): boolean {
  return path !== undefined || fields !== undefined;
}

interface Content {
  readonly text: string;
  readonly value: unknown;
  readonly isJson: boolean;
}

/** JSON where it is said, wanted or looks like it, else text; nothing when the bytes are neither. */
function contentOf({ contentType, bytes }: Answer, response: ResponseSpec): Content | undefined {
  const { format } = response;
  const text = textOf(bytes, contentType, format);
  if (text === undefined) return undefined;
  const plain = { text, value: text, isJson: false };
  // Services send JSON under all sorts of names; whoever names a path expects it.
  const isExpected = format === "json" || JSON_TYPE.test(contentType) || isMapped(response);
  const mayBe = (contentType === "" || response.errorPath !== undefined) && /^\s*[[{]/.test(text);
  if (format === "text" || !(isExpected || mayBe)) return plain;
  try {
    return { text, value: parseExactJson(text), isJson: true };
  } catch {
    return plain;
  }
}

function textOf(bytes: Buffer, contentType: string, format: ResponseSpec["format"]): string | undefined {
  const charset = /charset\s*=\s*"?([\w.:-]+)/i.exec(contentType)?.[1] ?? "utf-8";
  const declared = format !== "auto" || TEXT_TYPE.test(contentType) || JSON_TYPE.test(contentType);
  try {
    return new TextDecoder(charset, { fatal: !declared }).decode(bytes);
  } catch {
    return declared ? bytes.toString("utf8") : undefined;
  }
}

function mapped(value: unknown, response: ResponseSpec): unknown {
  if (response.fields !== undefined)
    return Object.fromEntries(
      response.fields.map(([name, path]) => [name, select(path, value) ?? null] as const),
    );
  const { select: path } = response;
  if (path === undefined) return value;
  const found = select(path, value);
  if (found !== undefined) return found;
  throw new ToolError(`The answer has nothing at ${path.text}.`, {
    hint: "The service may answer in another form than the tool's file says.",
    details: { holds: shapeOf(value) },
  });
}

function shapeOf(value: unknown): string {
  if (isRecord(value))
    return `an object with ${Object.keys(value).slice(0, 20).join(", ") || "nothing in it"}`;
  return Array.isArray(value) ? `a list of ${value.length}` : typeof value;
}

/** What the service complains of. Many send an empty list, an empty object or 0 when there is nothing. */
function complaintAt(content: Content | undefined, { errorPath }: ResponseSpec): string | undefined {
  if (content === undefined || errorPath === undefined) return undefined;
  const found = selectAll(errorPath, content.value).filter((value) => !isNothing(value));
  if (found.length === 0) return undefined;
  return found
    .map((value) => (typeof value === "string" ? value : compact(value, content)))
    .join("; ")
    .slice(0, LONGEST_COMPLAINT);
}

function isNothing(value: unknown): boolean {
  return typeof value === "object" && value !== null ? Object.keys(value).length === 0 : !value;
}

function compact(value: unknown, { text }: Content): string {
  try {
    return JSON.stringify(value);
  } catch {
    // Nested too deeply to be written; as it came, it can still be shown.
    return text;
  }
}

const HINTS: Readonly<Record<number, string>> = {
  401: "The credentials were not accepted: check the environment variables of its auth section.",
  403: "The credentials are known but may not do this.",
  404: "Check the arguments: what they name does not exist there.",
  429: "The service limits how often it may be asked; wait before trying again.",
};

function refusedBy(
  { status, statusText }: Answer,
  content: Content | undefined,
  response: ResponseSpec,
): ToolError {
  const whole = content === undefined ? "" : content.isJson ? compact(content.value, content) : content.text;
  const said = (complaintAt(content, response) ?? whole).trim().slice(0, LONGEST_COMPLAINT);
  const name = `HTTP ${status}${statusText === "" ? "" : ` ${statusText}`}`;
  return new ToolError(said === "" ? name : `${name}: ${said}`, {
    details: { status },
    hint: HINTS[status],
  });
}
