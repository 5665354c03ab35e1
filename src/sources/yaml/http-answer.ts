import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ToolError } from "../../tool/errors.js";
import { isRecord } from "../../tool/schema-walk.js";
import type { Answer } from "./http-send.js";
import { select, selectAll, TooManyValues } from "./json-select.js";
import type { ResponseSpec } from "./tool-spec.js";

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
  const complaint = response.errorPath === undefined ? undefined : complaintAt(content, response);
  if (complaint !== undefined)
    throw new ToolError(`The service reported an error: ${complaint}`, { details: { status } });
  if (bytes.length === 0) return { status };
  if (content === undefined) {
    const path = join(cacheDir, `answer-${randomBytes(8).toString("hex")}.bin`);
    await mkdir(cacheDir, { recursive: true });
    await writeFile(path, bytes, { mode: 0o600, flag: "wx" });
    return { status, content_type: contentType, bytes: bytes.length, saved_to: path };
  }
  return mapped(content.value, response);
}

/** JSON where it is said or looks like it, else text; nothing when the bytes are neither. */
function contentOf(
  { contentType, bytes }: Answer,
  { format }: ResponseSpec,
): { readonly value: unknown } | undefined {
  const text = textOf(bytes, contentType, format);
  if (text === undefined) return undefined;
  if (format === "text") return { value: text };
  const declared = format === "json" || JSON_TYPE.test(contentType);
  if (!declared && !(contentType === "" && /^\s*[[{]/.test(text))) return { value: text };
  try {
    return { value: JSON.parse(withExactNumbers(text)) as unknown };
  } catch {
    if (format !== "json") return { value: text };
    throw new ToolError("The answer was to be JSON, but it is not.", {
      details: { content_type: contentType, begins: text.slice(0, 200) },
    });
  }
}

const TEXT_OR_LONG_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d{16,}(?![\d.eE])/g;

/** Numbers that JavaScript would round (the ids of many services) become texts, digit by digit as they came. */
function withExactNumbers(json: string): string {
  return json.replace(TEXT_OR_LONG_NUMBER, (found) =>
    found.startsWith('"') || Number.isSafeInteger(Number(found)) ? found : `"${found}"`,
  );
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
  try {
    if (response.fields !== undefined)
      return Object.fromEntries(
        response.fields.map(([name, path]) => [name, select(path, value) ?? null] as const),
      );
    if (response.select === undefined) return value;
    const found = select(response.select, value);
    if (found !== undefined) return found;
  } catch (error) {
    if (error instanceof TooManyValues) throw new ToolError(`The answer cannot be mapped: ${error.message}.`);
    throw error;
  }
  throw new ToolError(`The answer has nothing at ${response.select?.text ?? "$"}.`, {
    hint: "The service may answer in another form than the tool's file says.",
    details: { holds: shapeOf(value) },
  });
}

function shapeOf(value: unknown): string {
  if (isRecord(value))
    return `an object with ${Object.keys(value).slice(0, 20).join(", ") || "nothing in it"}`;
  return Array.isArray(value) ? `a list of ${value.length}` : typeof value;
}

function complaintAt(
  content: { readonly value: unknown } | undefined,
  { errorPath }: ResponseSpec,
): string | undefined {
  if (content === undefined || errorPath === undefined) return undefined;
  const found = selectAll(errorPath, content.value).filter(
    (value) => value !== null && value !== undefined && value !== "" && value !== false,
  );
  if (found.length === 0) return undefined;
  return found
    .map((value) => (typeof value === "string" ? value : JSON.stringify(value)))
    .join("; ")
    .slice(0, LONGEST_COMPLAINT);
}

const HINTS: Readonly<Record<number, string>> = {
  401: "The credentials were not accepted: check the environment variables of its auth section.",
  403: "The credentials are known but may not do this.",
  404: "Check the arguments: what they name does not exist there.",
  429: "The service limits how often it may be asked; wait before trying again.",
};

function refusedBy(
  { status, statusText }: Answer,
  content: { readonly value: unknown } | undefined,
  response: ResponseSpec,
): ToolError {
  const body = content?.value;
  const said =
    complaintAt(content, response) ??
    (typeof body === "string" ? body : body === undefined ? "" : JSON.stringify(body));
  const hint = HINTS[status];
  const name = `HTTP ${status}${statusText === "" ? "" : ` ${statusText}`}`;
  return new ToolError(said.trim() === "" ? name : `${name}: ${said.trim().slice(0, LONGEST_COMPLAINT)}`, {
    details: { status },
    ...(hint !== undefined && { hint }),
  });
}
