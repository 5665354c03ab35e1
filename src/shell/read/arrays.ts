import { UNKNOWN } from "../types.js";
import type { Value } from "./state.js";

/** Arrays: lists of items, with names of their own where they are not simply counted from zero. */

export interface ArrayItem {
  /** Absent for items that are counted. */
  readonly key?: string;
  readonly text: string;
}

/** Longer arrays are stood for by their beginning and one item nobody knows. */
const MOST_ITEMS = 256;

/** True when further items would change nothing that is known about it. */
export function isFull({ items = [], keys }: Value): boolean {
  return keys === undefined && items.length > MOST_ITEMS;
}

export function arrayOf(given: readonly ArrayItem[]): Value {
  const shown = given.length > MOST_ITEMS ? [...given.slice(0, MOST_ITEMS), { text: UNKNOWN }] : given;
  const keys = keysOf(shown);
  if (keys === undefined) return { text: shown[0]?.text ?? "", items: shown.map((item) => item.text) };
  const placed = inOrder(shown.map(({ text }, index) => ({ text, key: keys[index] ?? "" })));
  return {
    text: placed[0]?.text ?? "",
    items: placed.map((item) => item.text),
    keys: placed.map((item) => item.key),
  };
}

/** A counted item comes behind the one before it. */
function keysOf(items: readonly ArrayItem[]): readonly string[] | undefined {
  if (items.every((item, index) => item.key === undefined || item.key === String(index))) return undefined;
  let last = -1;
  return items.map(({ key }) => {
    const position = key === undefined ? last + 1 : Number(key);
    if (Number.isSafeInteger(position)) last = position;
    return key ?? String(position);
  });
}

export function itemsOf(value: Value | undefined): readonly ArrayItem[] {
  const { items, keys, text = "" } = value ?? {};
  if (items === undefined) return text === "" ? [] : [{ text, key: "0" }];
  return items.map((item, index) => ({ text: item, key: keys?.[index] ?? String(index) }));
}

/** `a[key]=text`. */
export function withItem(value: Value | undefined, key: string, text: string): Value {
  const items: ArrayItem[] = [...itemsOf(value)];
  const at = items.findIndex((item) => item.key === key);
  if (at >= 0) items[at] = { key, text };
  else items.push({ key, text });
  return arrayOf(items);
}

/** Numbered items stand in the order of their numbers, whenever they were given. */
function inOrder(items: { key: string; text: string }[]): typeof items {
  if (!items.every((item) => /^\d{1,9}$/.test(item.key))) return items;
  return items.sort((one, other) => Number(one.key) - Number(other.key));
}

/** `${a[key]}`; undefined when nobody can tell which item is meant. */
export function itemAt({ items = [], keys }: Value, key: string): string | undefined {
  if (keys !== undefined) {
    const at = keys.indexOf(key);
    if (at >= 0) return items[at];
    return key.includes(UNKNOWN) || keys.some((known) => known.includes(UNKNOWN)) ? undefined : "";
  }
  return /^-?\d{1,6}$/.test(key) ? (items.at(Number(key)) ?? "") : undefined;
}
