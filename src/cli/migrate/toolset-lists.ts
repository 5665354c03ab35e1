import { isRecord } from "../../base/record.js";
import { STATIC_TOOLSETS } from "../../registry/toolset-table.js";
import type { Taken } from "./setting-table.js";

/**
 * A list of toolsets, with the names that exist here: an unknown one would keep every session from opening. Of a list
 * of what is allowed that only takes away; of a list of refusals, only what is not there anyway.
 */
export function toolsetList(value: unknown, theirs: Readonly<Record<string, unknown>>): Taken {
  const given = Array.isArray(value) ? value.map(String) : [String(value)];
  const unknown = given.filter((name) => !isKnown(name, theirs));
  if (unknown.length === 0) return { value: given };
  const note = `toolsets that do not exist here are left out: ${unknown.join(", ")}`;
  const known = given.filter((name) => !unknown.includes(name));
  return known.length === 0 ? { leave: note } : { value: known, note };
}

/** Per platform; the preset of a platform is what it has anyway. */
export function platformLists(value: unknown, theirs: Readonly<Record<string, unknown>>): Taken {
  if (!isRecord(value)) return { leave: "it is no section of lists" };
  const notes: string[] = [];
  const lists = Object.entries(value).flatMap(([platform, list]) => {
    if (String(list) === `hermes-${platform}`) return [];
    const taken = toolsetList(list, theirs);
    const note = "leave" in taken ? taken.leave : taken.note;
    if (note !== undefined) notes.push(`${platform}: ${note}`);
    return "value" in taken ? [[platform, taken.value]] : [];
  });
  const said = notes.join("; ");
  if (lists.length === 0) return { leave: said || "every platform has its own preset, as it has here" };
  return { value: Object.fromEntries(lists), ...(said !== "" && { note: said }) };
}

/** `hermes-cli` is everything there; here that is `all`. */
export function sessionToolsets(value: unknown, theirs: Readonly<Record<string, unknown>>): Taken {
  return String(value) === "hermes-cli"
    ? { leave: "it stands for all tools, as here without it" }
    : toolsetList(value, theirs);
}

function isKnown(name: string, { custom_toolsets: custom }: Readonly<Record<string, unknown>>): boolean {
  return (
    name === "all" ||
    name === "*" ||
    STATIC_TOOLSETS.has(name) ||
    (isRecord(custom) && Object.hasOwn(custom, name))
  );
}
