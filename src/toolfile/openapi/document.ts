import { readFile } from "node:fs/promises";
import { errnoOf } from "../../base/errno.js";
import { isRecord } from "../../base/record.js";
import { plainValue } from "../../config/node.js";
import { parseConfigText } from "../../config/parse-yaml.js";
import type { NetworkRules } from "../../net/urls.js";
import { type Failure, failure, ToolError } from "../../tool/errors.js";
import { describeThrown } from "../../tool/thrown.js";

export const DOCUMENT_LIMITS = { maxBytes: 32 * 1024 * 1024, maxNodes: 2_000_000 };
const FETCH_MS = 60_000;

export type Opened =
  | { readonly ok: true; readonly document: unknown; readonly url?: string }
  | { readonly ok: false; readonly problem: Failure };

/** A document from a file or an address, JSON or YAML. Addresses go through the URL guard. */
export async function openDocument(target: string, rules: NetworkRules): Promise<Opened> {
  const isUrl = /^https?:\/\//i.test(target);
  try {
    const got = isUrl
      ? await fetched(target, rules)
      : { text: await readFile(target, "utf8"), url: undefined };
    const parsed = await parseDocument(got.text);
    return parsed.ok && got.url !== undefined ? { ...parsed, url: got.url } : parsed;
  } catch (error) {
    if (ToolError.isInstance(error))
      return { ok: false, problem: failure(error.code, error.message, error.hint) };
    const missing = errnoOf(error) === "ENOENT";
    const why = missing ? "does not exist" : `cannot be read: ${describeThrown(error).message}`;
    return { ok: false, problem: failure("not_found", `${target} ${why}`) };
  }
}

async function fetched(
  url: string,
  rules: NetworkRules,
): Promise<{ readonly text: string; readonly url: string }> {
  const { guardedFetch } = await import("../../net/fetch.js");
  const response = await guardedFetch({
    url,
    headers: { accept: "application/json, application/yaml, */*;q=0.5" },
    timeoutMs: FETCH_MS,
    maxBytes: DOCUMENT_LIMITS.maxBytes,
    rules,
  });
  if (response.ok) return { text: await response.text(), url: response.url };
  await response.close();
  throw new ToolError(`${url} answered with HTTP ${response.status}.`);
}

export async function parseDocument(given: string): Promise<Opened> {
  const text = given.startsWith("\uFEFF") ? given.slice(1) : given;
  if (/^\s*\{/.test(text)) {
    try {
      return { ok: true, document: JSON.parse(text) as unknown };
    } catch {
      // The YAML parser says where the mistake is.
    }
  }
  const parsed = await parseConfigText(text, DOCUMENT_LIMITS);
  if (parsed.ok) return { ok: true, document: merged(plainValue(parsed.root)) };
  const { message, place } = parsed;
  const where = place === undefined ? "" : ` (line ${place.line}, column ${place.column})`;
  return {
    ok: false,
    problem: failure("bad_request", `the document cannot be understood: ${message}${where}`),
  };
}

/** With the merge keys (`<<: *shared`) of older YAML carried out, which many documents use. */
function merged(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(merged);
  if (!isRecord(value)) return value;
  const { "<<": below, ...own } = value;
  const layers = (Array.isArray(below) ? below.toReversed() : [below]).map(merged).filter(isRecord);
  const entries = Object.entries(own).map(([name, inner]) => [name, merged(inner)] as const);
  return Object.fromEntries([...layers.flatMap((layer) => Object.entries(layer)), ...entries]);
}
