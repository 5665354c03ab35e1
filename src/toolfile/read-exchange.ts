import { type ConfigNode, describeNode } from "../config/node.js";
import { type JsonPath, parseJsonPath } from "./json-path.js";
import { Section } from "./section.js";
import type { ResponseSpec, Retries } from "./tool-spec.js";

const DEFAULT_MAX_BYTES = 5_000_000;
const LARGEST_BYTES = 50_000_000;
const RETRIED_STATUSES = [408, 429, 500, 502, 503, 504];
const NO_RETRIES: Retries = {
  max: 0,
  statuses: RETRIED_STATUSES,
  networkErrors: true,
  anyMethod: false,
  delayMs: 500,
};
const STATUS = /^[1-5](?:\d\d|xx)$/i;

/** What becomes of the answer: a path on its own, or a section. */
export function readResponse(tool: Section): ResponseSpec {
  const node = tool.get("response");
  if (node?.kind === "scalar") {
    return { ...plainResponse(), select: readPath(tool, node) };
  }
  if (node === undefined || node.kind !== "map") {
    if (node !== undefined)
      tool.wrong(node, `"response" of ${tool.what} must be a path or a section, not ${describeNode(node)}`);
    return plainResponse();
  }
  const section = new Section({ node, what: `response of ${tool.what}`, problems: tool.problems });
  const format = section.choice("format", ["auto", "json", "text"]) ?? "auto";
  const select = pathAt(section, "select");
  const errorPath = pathAt(section, "error_path");
  const success = section.texts("success");
  const maxBytes = section.number("max_bytes", { min: 1, max: LARGEST_BYTES, whole: true });
  const fields = section.section("fields", `fields of ${section.what}`)?.node.entries.flatMap((entry) => {
    const path = readPath(section, entry.node);
    return path === undefined ? [] : [[entry.name, path] as const];
  });
  section.finish();
  for (const status of success ?? [])
    if (!STATUS.test(status))
      section.wrong(section.get("success"), `${JSON.stringify(status)} is no status`, "write 200 or 2xx");
  if (select !== undefined && fields !== undefined)
    section.wrong(section.get("fields"), `${section.what} has select and fields`, "use one of them");
  const mapped = select === undefined ? (fields === undefined ? undefined : "fields") : "select";
  if (format === "text" && mapped !== undefined)
    section.wrong(section.get(mapped), `"${mapped}" of ${section.what} looks into JSON, but format is text`);
  return {
    format,
    select,
    fields,
    errorPath,
    isSuccess: success === undefined ? isOk : statusTest(success),
    maxBytes: maxBytes ?? DEFAULT_MAX_BYTES,
  };
}

function plainResponse(): ResponseSpec {
  return { format: "auto", isSuccess: isOk, maxBytes: DEFAULT_MAX_BYTES };
}

function isOk(status: number): boolean {
  return status >= 200 && status < 300;
}

function statusTest(success: readonly string[]): (status: number) => boolean {
  const wanted = success.map((one) => one.toLowerCase());
  return (status) => wanted.some((one) => one === `${status}` || one === `${Math.floor(status / 100)}xx`);
}

export function pathAt(section: Section, name: string): JsonPath | undefined {
  const node = section.get(name);
  return node === undefined ? undefined : readPath(section, node);
}

function readPath(section: Section, node: ConfigNode): JsonPath | undefined {
  const text = node.kind === "scalar" && typeof node.value === "string" ? node.value : undefined;
  if (text === undefined) {
    section.wrong(
      node,
      `a path of ${section.what} must be text like $.items[0].name, not ${describeNode(node)}`,
    );
    return undefined;
  }
  const parsed = parseJsonPath(text);
  if (parsed.ok) return parsed.value;
  section.wrong(
    node,
    `the path ${JSON.stringify(text)} of ${section.what} cannot be understood: ${parsed.message}`,
  );
  return undefined;
}

/** `retries: 3`, or a section that says when. */
export function readRetries(tool: Section): Retries {
  const node = tool.get("retries");
  if (node === undefined) return NO_RETRIES;
  if (node.kind === "scalar") {
    const max = tool.number("retries", { min: 0, max: 10, whole: true });
    return max === undefined ? NO_RETRIES : { ...NO_RETRIES, max };
  }
  const section = tool.section("retries", `retries of ${tool.what}`);
  if (section === undefined) return NO_RETRIES;
  const max = section.number("max", { min: 0, max: 10, whole: true }) ?? 2;
  const statuses = section.texts("statuses")?.map(Number) ?? RETRIED_STATUSES;
  if (statuses.some((status) => !Number.isInteger(status) || status < 100 || status > 599))
    section.wrong(section.get("statuses"), `"statuses" of ${section.what} must be HTTP status codes`);
  const networkErrors = section.boolean("network_errors") ?? true;
  const anyMethod = section.boolean("any_method") ?? false;
  const delaySeconds = section.number("delay_seconds", { min: 0, max: 60 }) ?? NO_RETRIES.delayMs / 1000;
  section.finish();
  return { max, statuses, networkErrors, anyMethod, delayMs: delaySeconds * 1000 };
}
