import { isAbsolute } from "node:path";
import type { Report } from "./check-value.js";
import { didYouMean } from "./did-you-mean.js";
import { type ConfigNode, describeNode, type MapNode, shorten } from "./node.js";
import type { AllowlistEntry, GrantEntry } from "./types.js";
import { isTooWide } from "./wide-pattern.js";

const SUBJECTS = ["command", "pattern", "rule"] as const;
const FIELDS = [...SUBJECTS, "scope", "added", "expires", "max_uses", "origin"] as const;
const KEY = "command_allowlist";

/** The entries that can be used. Each of the others is reported where it stands and covers nothing. */
export function readGrants(node: ConfigNode, report: Report): AllowlistEntry[] | undefined {
  if (node.kind === "map" || (node.kind === "scalar" && typeof node.value !== "string")) return undefined;
  const items = node.kind === "list" ? node.items : [node];
  const entries = new Map<string, AllowlistEntry>();
  for (const [index, item] of items.entries()) {
    const entry = readGrant(item, { at: `${KEY}[${index}]`, report });
    if (entry !== undefined) entries.set(entryName(entry), entry);
  }
  return [...entries.values()];
}

/** The name an entry goes by where places are looked up: its text, or all its fields in a fixed order. */
export function entryName(entry: AllowlistEntry): string {
  return typeof entry === "string" ? entry : JSON.stringify(entry);
}

interface Reading {
  readonly at: string;
  readonly report: Report;
}

export function readGrant(item: ConfigNode, reading: Reading): AllowlistEntry | undefined {
  if (item.kind === "map") return readMap(item, reading);
  const text = item.kind === "scalar" ? item.value : undefined;
  if (typeof text !== "string" || text.trim() === "") {
    return refuse(item, reading, `must be a text or a grant, but it is ${describeNode(item)}`);
  }
  warnIfWide(text, item, reading);
  return text;
}

function readMap(map: MapNode, reading: Reading): GrantEntry | undefined {
  const found = new Map<string, string | number>();
  for (const { name, node, place } of map.entries) {
    if (!FIELDS.some((field) => field === name)) {
      reading.report({
        severity: "error",
        message: `unknown key ${JSON.stringify(shorten(name))} in ${reading.at}`,
        hint: `${didYouMean(name, FIELDS, 1) ?? `a grant has ${FIELDS.join(", ")}`}; the entry is not used`,
        place: place ?? map.place,
        at: KEY,
      });
      return undefined;
    }
    const value = node.kind === "scalar" ? node.value : undefined;
    const wrong = wrongField(name, value);
    if (wrong !== undefined) {
      return refuse(node, reading, `${wrong}, but it is ${describeNode(node)}`, `.${name}`);
    }
    found.set(name, name === "max_uses" ? Number(value) : String(value));
  }
  const subjects = SUBJECTS.filter((subject) => found.has(subject));
  if (subjects.length !== 1) {
    return refuse(map, reading, `must have exactly one of ${SUBJECTS.join(", ")}`);
  }
  const pattern = found.get("pattern");
  if (pattern !== undefined) warnIfWide(String(pattern), map, reading);
  const ordered = FIELDS.flatMap((field) => (found.has(field) ? [[field, found.get(field)]] : []));
  return Object.fromEntries(ordered) as GrantEntry;
}

function wrongField(name: string, value: unknown): string | undefined {
  if (name === "max_uses") {
    return Number.isSafeInteger(value) && Number(value) > 0 ? undefined : "must be a whole number above 0";
  }
  if (name === "added" || name === "expires") {
    const isDate = typeof value === "string" && momentOf(value) !== undefined;
    return isDate ? undefined : "must be a date such as 2030-12-31 or 2030-12-31T18:00:00Z";
  }
  if (typeof value !== "string" || value.trim() === "") return "must be a text";
  if (name !== "scope") return undefined;
  return isAbsolute(value) || /^~(?:\/|$)/.test(value) || /^environment:\S+$/.test(value)
    ? undefined
    : 'must be a folder (absolute, or below ~) or "environment:NAME"';
}

const DATE = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/;

/** A date alone means its first moment in UTC; a time without a zone is UTC too, so that a file means the same everywhere. */
export function momentOf(text: string): number | undefined {
  const written = text.trim();
  if (!DATE.test(written)) return undefined;
  const iso = written.replace(" ", "T");
  const moment = Date.parse(/T/.test(iso) && !/(?:Z|[+-]\d{2}:?\d{2})$/.test(iso) ? `${iso}Z` : iso);
  return Number.isNaN(moment) ? undefined : moment;
}

function warnIfWide(pattern: string, node: ConfigNode, { at, report }: Reading): void {
  if (!isTooWide(pattern)) return;
  report({
    severity: "warning",
    message: `${at} ${JSON.stringify(shorten(pattern))} would let anything through, so it approves nothing dangerous`,
    hint: "write out the command, or as much of it as stays the same",
    place: node.place,
    at: KEY,
  });
}

function refuse(node: ConfigNode, reading: Reading, what: string, field = ""): undefined {
  reading.report({
    severity: "error",
    message: `${reading.at}${field} ${what}`,
    hint: "the entry is not used",
    place: node.place,
    at: KEY,
  });
  return undefined;
}
