import { readGrants } from "./grant-entry.js";
import { readMcpServer } from "./mcp-server.js";
import { type ConfigNode, describeNode, type MapEntry, plainValue } from "./node.js";
import type { ConfigKey } from "./schema.js";
import type { CustomToolset, Place } from "./types.js";

export type Report = (finding: {
  readonly severity: "error" | "warning";
  readonly message: string;
  readonly hint?: string | undefined;
  readonly place?: Place | undefined;
  /** Dotted path the finding is about. */
  readonly at: string;
}) => void;

/** A value that fits the key's type, or undefined after reporting why not. Nothing else may enter a config. */
export function checkValue(
  key: ConfigKey,
  node: ConfigNode,
  report: Report,
): { readonly value: unknown } | undefined {
  const reject = (expected: string): undefined => {
    const got = key.secret ? "something else" : describeNode(node);
    report({
      severity: key.lenient ? "warning" : "error",
      message: `${key.path} must be ${expected}, but it is ${got}`,
      hint: "the value is not used",
      place: node.place,
      at: key.path,
    });
    return undefined;
  };
  const { type } = key;
  switch (type.kind) {
    case "boolean": {
      const flag = node.kind === "scalar" ? readBoolean(node.value) : undefined;
      return flag === undefined ? reject("true or false") : { value: flag };
    }
    case "enum": {
      const choice = node.kind === "scalar" ? readChoice(type, node.value) : undefined;
      return choice === undefined ? reject(`one of ${type.values.join(", ")}`) : { value: choice };
    }
    case "integer":
    case "number":
      return checkNumber({ key, type, node, report, reject });
    case "string": {
      const value = node.kind === "scalar" && node.value !== null ? String(node.value) : undefined;
      if (value === undefined) return reject("a text");
      if (type.like?.pattern.test(value) === false) return reject(type.like.says);
      if (type.of === "time zone" && value !== "" && !isTimeZone(value)) {
        return reject("a time zone, such as Europe/Berlin, or empty");
      }
      return /[\u0000-\u001f]/.test(value) ? reject("a text without control characters") : { value };
    }
    case "list": {
      const value = readList(key, node, report);
      return value === undefined ? reject("a list of texts") : { value };
    }
    case "grants": {
      const value = readGrants(node, report);
      return value === undefined ? reject("a list of texts or grants") : { value };
    }
    case "map":
      if (node.kind !== "map") return reject("a section of names and values");
      return { value: Object.fromEntries(mapEntries({ key, of: type.of, entries: node.entries, report })) };
  }
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}

function checkNumber(check: {
  key: ConfigKey;
  type: { readonly kind: "integer" | "number"; readonly min: number; readonly max: number };
  node: ConfigNode;
  report: Report;
  reject(expected: string): undefined;
}): { readonly value: number } | undefined {
  const { type, node } = check;
  const value = node.kind === "scalar" ? node.value : undefined;
  const range = `between ${type.min} and ${type.max}`;
  const expected = `a ${type.kind === "integer" ? "whole number" : "number"} ${range}`;
  if (typeof value !== "number" || !Number.isFinite(value)) return check.reject(expected);
  if (type.kind === "integer" && !Number.isInteger(value)) return check.reject(expected);
  if (value >= type.min && value <= type.max) return { value };
  if (!check.key.lenient) return check.reject(expected);
  const moved = value < type.min ? type.min : type.max;
  check.report({
    severity: "warning",
    message: `${check.key.path} must be ${range}; ${moved} is used instead of ${value}`,
    place: node.place,
    at: check.key.path,
  });
  return { value: moved };
}

export function readBoolean(value: unknown): boolean | undefined {
  if (typeof value === "boolean") return value;
  const word = String(value).trim().toLowerCase();
  if (["true", "yes", "on", "1"].includes(word)) return true;
  return ["false", "no", "off", "0"].includes(word) ? false : undefined;
}

function readChoice(
  type: { readonly values: readonly string[]; readonly booleans?: { true: string; false: string } },
  value: unknown,
): string | undefined {
  const word = String(value).trim().toLowerCase();
  if (type.values.includes(word)) return word;
  return word === "true" ? type.booleans?.true : word === "false" ? type.booleans?.false : undefined;
}

/** A single text counts as a list of one. Items that are no text are refused one by one. */
function readList(key: ConfigKey, node: ConfigNode, report: Report): string[] | undefined {
  // Beyond this a number was rounded when it was read, and would name somebody else.
  const isNumber = (value: unknown) =>
    key.type.kind === "list" && key.type.numbers === true && Number.isSafeInteger(value);
  if (node.kind === "map") return undefined;
  if (node.kind === "scalar" && typeof node.value !== "string" && !isNumber(node.value)) return undefined;
  const items = node.kind === "list" ? node.items : [node];
  const texts: string[] = [];
  for (const [index, item] of items.entries()) {
    const value = item.kind === "scalar" ? item.value : null;
    // Dropping an entry of a deny list would loosen it: there blanks are a text, and a number is its own spelling.
    const isRefusal = key.project === "unite" && value !== null && value !== "";
    const isText = isNumber(value) || (typeof value === "string" && (isRefusal || value.trim() !== ""));
    const kept = isText || isRefusal;
    if (kept) texts.push(String(value));
    if (isText) continue;
    report({
      severity: kept ? "warning" : "error",
      message: `${key.path}[${index}] must be a text, but it is ${describeNode(item)}`,
      hint: kept ? "it is used as a text; put it in quotes" : "the entry is not used",
      place: item.place ?? node.place,
      at: key.path,
    });
  }
  return [...new Set(texts)];
}

function* mapEntries(map: {
  key: ConfigKey;
  of: "list" | "integer" | "toolset" | "mcp_server" | "anything";
  entries: readonly MapEntry[];
  report: Report;
}): Generator<[string, unknown]> {
  for (const { name, node, place } of map.entries) {
    const path = `${map.key.path}.${name}`;
    if (name === "__proto__" || name.trim() === "") {
      const message = `${map.key.path} has an entry with the unusable name ${JSON.stringify(name)}`;
      map.report({ severity: "error", message, hint: "rename it", place, at: map.key.path });
      continue;
    }
    if (map.of === "anything") {
      yield [name, plainValue(node)];
      continue;
    }
    if (map.of === "toolset") {
      const toolset = readToolset({ path, node, report: map.report });
      if (toolset !== undefined) yield [name, toolset];
      continue;
    }
    if (map.of === "mcp_server") {
      const check = (key: ConfigKey, given: ConfigNode) => checkValue(key, given, map.report);
      const server = readMcpServer({ path, node, report: map.report, check });
      if (server !== undefined) yield [name, server];
      continue;
    }
    const type = map.of === "list" ? ({ kind: "list" } as const) : { kind: map.of, min: 1, max: 1e9 };
    const entry = checkValue({ ...map.key, path, type }, node, map.report);
    if (entry !== undefined) yield [name, entry.value];
  }
}

const TOOLSET_FIELDS = ["description", "tools", "includes"];

function readToolset(entry: { path: string; node: ConfigNode; report: Report }): CustomToolset | undefined {
  const { path, node, report } = entry;
  if (node.kind !== "map") {
    const message = `${path} must be a section with ${TOOLSET_FIELDS.join(", ")}, but it is ${describeNode(node)}`;
    report({ severity: "error", message, hint: "the toolset is not used", place: node.place, at: path });
    return undefined;
  }
  const toolset = { description: "", tools: [] as readonly string[], includes: [] as readonly string[] };
  for (const field of node.entries) {
    const at = `${path}.${field.name}`;
    if (!TOOLSET_FIELDS.includes(field.name)) {
      const hint = `a toolset has ${TOOLSET_FIELDS.join(", ")}`;
      report({ severity: "error", message: `unknown key ${at}`, hint, place: field.place, at });
      continue;
    }
    if (field.node.kind === "scalar" && field.node.value === null) continue;
    const isText = field.name === "description";
    const type = isText ? ({ kind: "string" } as const) : ({ kind: "list" } as const);
    const spec: ConfigKey = { path: at, type, default: "", about: "", project: "never" };
    const checked = checkValue(spec, field.node, report);
    if (checked !== undefined) Object.assign(toolset, { [field.name]: checked.value });
  }
  return toolset;
}
