import { checkValue, type Report } from "./check-value.js";
import { nearest } from "./did-you-mean.js";
import { entryName, readGrant } from "./grant-entry.js";
import { type ConfigNode, type MapEntry, type MapNode, nodeFrom } from "./node.js";
import { restrict, strictest } from "./restrict.js";
import { CONFIG_KEYS, type ConfigKey, findKey } from "./schema.js";
import type { ConfigSource, Place } from "./types.js";

export interface LayerEntry {
  readonly value: unknown;
  readonly place?: Place | undefined;
  /** Where each entry of a map or item of a list stands. */
  readonly inside?: ReadonlyMap<string, Place>;
  /** Environment variable or flag. */
  readonly name?: string;
}

/** The valid settings of one source, by key path. */
export interface Layer {
  readonly source: ConfigSource;
  readonly file?: string | undefined;
  readonly entries: ReadonlyMap<string, LayerEntry>;
  readonly lastGood?: boolean | undefined;
  /** The layer may only make the settings below it stricter, whatever it says. */
  readonly onlyRestricts?: boolean;
}

const SECTIONS: ReadonlySet<string> = new Set(
  CONFIG_KEYS.flatMap((key) => {
    const parts = key.path.split(".");
    return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join("."));
  }),
);

/** Reads the settings of a whole file. Unknown keys and wrong values are reported and left out. */
export function readLayer(root: MapNode, report: Report): Map<string, LayerEntry> {
  const entries = new Map<string, LayerEntry>();
  readSection({ prefix: "", root, entries, report });
  return entries;
}

interface Reading {
  readonly prefix: string;
  readonly root: MapNode;
  readonly entries: Map<string, LayerEntry>;
  readonly report: Report;
}

function readSection(reading: Reading): void {
  for (const entry of reading.root.entries) {
    const path = reading.prefix + entry.name;
    const key = findKey(path);
    if (key !== undefined) readKey(key, entry, reading);
    else if (!SECTIONS.has(path)) reportUnknown(path, entry, reading);
    else if (entry.node.kind === "map") {
      readSection({ ...reading, prefix: `${path}.`, root: entry.node });
    } else readShorthand(path, entry, reading);
  }
}

function readKey(key: ConfigKey, entry: MapEntry, reading: Reading): void {
  const { node } = entry;
  const place = entry.place ?? node.place;
  const empty = node.kind === "scalar" && node.value === null;
  if (empty) {
    const message = `${key.path} has no value`;
    const hint = "write a value or remove the line";
    reading.report({ severity: "warning", message, hint, place: entry.place, at: key.path });
  }
  const checked = empty ? undefined : checkValue(key, node, reading.report);
  if (checked !== undefined) {
    // Only a broken file can name a key twice; the stricter of both counts.
    const earlier = reading.entries.get(key.path);
    const value = earlier === undefined ? checked.value : restrict(key, earlier.value, checked.value).value;
    reading.entries.set(key.path, { value, inside: placesOf(key, node), place });
  } else if (key.policy && typeof key.project === "object") {
    // A rule was meant here but cannot be read, so it may have been the strictest.
    reading.entries.set(key.path, { value: strictest(key), place });
  }
}

function placesOf(key: ConfigKey, node: ConfigNode): Map<string, Place> {
  const places = new Map<string, Place>();
  const named =
    node.kind === "map"
      ? node.entries
      : node.kind === "list"
        ? node.items.map((item) => ({
            name: key.type.kind === "grants" ? grantName(item) : scalarName(item),
            place: item.place,
          }))
        : [];
  for (const { name, place } of named) if (place !== undefined) places.set(name, place);
  return places;
}

function scalarName(item: ConfigNode): string {
  return item.kind === "scalar" ? String(item.value) : "";
}

function grantName(item: ConfigNode): string {
  const entry = readGrant(item, { at: "", report: () => {} });
  return entry === undefined ? "" : entryName(entry);
}

function readShorthand(section: string, entry: MapEntry, reading: Reading): void {
  const { node } = entry;
  if (node.kind === "scalar" && node.value === null) return;
  const key: ConfigKey | undefined = CONFIG_KEYS.find(
    (candidate: ConfigKey) => candidate.shorthand?.section === section,
  );
  if (key?.shorthand === undefined) {
    const message = `${section} is a section of settings, but it holds a value of its own`;
    const hint = `indent its settings below "${section}:"`;
    reading.report({ severity: "error", message, hint, place: node.place ?? entry.place, at: section });
    return;
  }
  const word = node.kind === "scalar" ? node.value : undefined;
  const meant = word === true ? key.shorthand.true : word === false ? key.shorthand.false : undefined;
  const value: ConfigNode =
    meant === undefined ? node : { ...nodeFrom(meant), ...(node.place ? { place: node.place } : {}) };
  readKey(key, { ...entry, node: value }, reading);
}

function reportUnknown(path: string, entry: MapEntry, reading: Reading): void {
  const hint = suggestKey(path);
  const shown = JSON.stringify(path.length > 80 ? `${path.slice(0, 77)}...` : path).slice(1, -1);
  reading.report({
    severity: "error",
    message: `unknown key ${shown}`,
    hint: hint ?? "remove it, or see docs/configuration.md for the known keys",
    place: entry.place,
    at: path,
  });
}

const KNOWN_PATHS = [...CONFIG_KEYS.map((key) => key.path), ...SECTIONS];

/** `did you mean …?` for a misspelt key path. */
export function suggestKey(path: string): string | undefined {
  const [first, ...others] = meantPaths(path).map((name) => `"${name}"`);
  if (first === undefined) return undefined;
  return `did you mean ${[first, ...others].join(" or ")}?`;
}

/** What a misspelt path was probably meant to be: a neighbour, a near path, or the same ending elsewhere. */
function meantPaths(path: string): string[] {
  const cut = path.lastIndexOf(".") + 1;
  const [section, last] = [path.slice(0, cut), path.slice(cut)];
  const neighbours = KNOWN_PATHS.filter((known) => known.startsWith(section))
    .map((known) => known.slice(cut))
    .filter((known) => !known.includes("."));
  const [neighbour] = nearest(last, neighbours, 1);
  if (neighbour !== undefined) return [section + neighbour];
  const near = nearest(path, KNOWN_PATHS);
  return near.length > 0 ? near : KNOWN_PATHS.filter((known) => known.endsWith(`.${last}`)).slice(0, 3);
}

/** Grants only ever loosen: without them there is more to ask, and nothing forbidden is missing. */
function isRule(key: ConfigKey): boolean {
  return key.policy === true && key.type.kind !== "grants";
}

/** Whether a rule may have been meant by what is wrong at this path, and is now missing. */
export function mayHideRule(path: string): boolean {
  const key = findKey(path);
  // A rule with an order has already been replaced by its strict end.
  if (key !== undefined) return isRule(key) && typeof key.project !== "object";
  const meant = SECTIONS.has(path) ? [path] : meantPaths(path);
  return (CONFIG_KEYS as readonly ConfigKey[]).some(
    (candidate) =>
      isRule(candidate) &&
      meant.some((name) => candidate.path === name || candidate.path.startsWith(`${name}.`)),
  );
}
