import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../../base/record.js";
import { appendConfigValue, setConfigValue } from "../../config/edit.js";
import type { EditResult } from "../../config/edit-result.js";
import { readLayer } from "../../config/layer.js";
import { nodeFrom } from "../../config/node.js";
import { findKey } from "../../config/schema.js";
import { SETTING_TABLE, type SettingRow, type Taken } from "./setting-table.js";
import { failed, type Homes, kept, migrated, type Step, skipped } from "./step.js";

export type Tree = Readonly<Record<string, unknown>>;

/** Sections that a file of their own reads, and what is no setting. */
const ELSEWHERE = ["mcp_servers", "command_allowlist", "model.api_key", "_config_version"];

export function planSettings(homes: Homes, config: { readonly theirs: Tree; readonly ours: Tree }): Step[] {
  const theirs = spelledOut(config.theirs);
  const planned = new Set<string>();
  const steps = SETTING_TABLE.flatMap((row) => {
    const value = valueAt(theirs, row.from);
    if (value === undefined || value === null || value === "") return [];
    if (planned.has(row.to))
      return [kept({ kind: "setting", name: row.from, to: row.to, reason: "another key has said it" })];
    const step = planOne({ row, value, homes, theirs, ours: config.ours });
    if (step.apply !== undefined) planned.add(row.to);
    return [step];
  });
  return [...steps, ...withoutCounterpart(theirs)];
}

/** A section that is one word long means one of its keys. */
function spelledOut(theirs: Tree): Tree {
  const { model, tools } = theirs;
  const search = isRecord(tools) ? tools.tool_search : undefined;
  const enabled = search === true ? "auto" : search === false ? "off" : search;
  return {
    ...theirs,
    ...(typeof model === "string" && { model: { provider: "auto", default: model } }),
    ...(isRecord(model) && { model: { provider: "auto", ...model } }),
    ...(isRecord(tools) && typeof enabled === "string" && { tools: { ...tools, tool_search: { enabled } } }),
  };
}

function planOne({
  row,
  value,
  homes: { home },
  theirs,
  ours,
}: {
  readonly row: SettingRow;
  readonly value: unknown;
  readonly homes: Homes;
  readonly theirs: Tree;
  readonly ours: Tree;
}): Step {
  const { from, to } = row;
  const item = { kind: "setting", name: from, to } as const;
  const taken = fitting(to, row.take?.(value, theirs) ?? { value });
  if ("leave" in taken) return skipped({ ...item, reason: taken.leave });
  const here = valueAt(ours, to);
  if (row.adds === true) {
    const wanted = (Array.isArray(taken.value) ? taken.value : [taken.value]).map(String);
    const missing = wanted.filter((entry) => !(Array.isArray(here) && here.includes(entry)));
    if (missing.length === 0) return kept({ ...item, reason: "all of it is here already" });
    return migrated({ ...item, reason: taken.note }, async () =>
      checked(await appendConfigValue({ home, key: to, items: missing })),
    );
  }
  if (here !== undefined) {
    const isSame = isDeepStrictEqual(here, taken.value);
    return kept({
      ...item,
      reason: isSame ? "it is set so already" : "it is set otherwise here, which stays",
    });
  }
  if (isDeepStrictEqual(findKey(to)?.default, taken.value))
    return kept({ ...item, reason: "the same as here without it" });
  const complaint = complaintAbout(to, taken.value);
  if (complaint !== undefined) return failed({ ...item, reason: complaint });
  return migrated({ ...item, reason: taken.note }, async () =>
    checked(await setConfigValue({ home, key: to, value: taken.value })),
  );
}

/** A number in quotes is one there, and a choice that there is not here is no mistake in their file. */
function fitting(key: string, taken: Taken): Taken {
  const type = findKey(key)?.type;
  if (!("value" in taken) || typeof taken.value !== "string") return taken;
  const { value } = taken;
  if ((type?.kind === "number" || type?.kind === "integer") && /^\d+(?:\.\d+)?$/.test(value.trim()))
    return { ...taken, value: Number(value) };
  return type?.kind === "enum" && !type.values.includes(value)
    ? { leave: `there is no ${value} here, but ${type.values.join(", ")}` }
    : taken;
}

/** What our reader would say of this value; a dry run is to know it as well. */
export function complaintAbout(key: string, value: unknown): string | undefined {
  const tree = key.split(".").reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
  const node = nodeFrom(tree);
  let complaint: string | undefined;
  if (node.kind === "map")
    readLayer(node, ({ severity, message }) => {
      if (severity === "error") complaint ??= message;
    });
  return complaint;
}

export function checked(done: EditResult): void {
  if (!done.ok) throw new Error(done.message);
}

export function valueAt(tree: Tree, path: string): unknown {
  return path
    .split(".")
    .reduce<unknown>(
      (value, name) => (isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined),
      tree,
    );
}

/** Every key that is left over is named, those of a section together. */
function withoutCounterpart(theirs: Tree): Step[] {
  const known = [...SETTING_TABLE.map(({ from }) => from), ...ELSEWHERE];
  return Object.entries(theirs).flatMap(([section, value]) => {
    const left = leftIn(value, section, known);
    if (left.length === 0) return [];
    const whole = left.length === 1 && left[0] === section;
    const inner = left.map((path) => path.slice(section.length + 1)).join(", ");
    const reason = whole ? "no counterpart here" : `no counterpart here: ${inner}`;
    return [skipped({ kind: "setting", name: section, reason })];
  });
}

function leftIn(value: unknown, path: string, known: readonly string[]): readonly string[] {
  if (known.includes(path) || isEmpty(value)) return [];
  if (!isRecord(value)) return [path];
  const inner = Object.entries(value).flatMap(([name, below]) => leftIn(below, `${path}.${name}`, known));
  const isTouched = known.some((key) => key.startsWith(`${path}.`));
  return isTouched || inner.length === 0 || !path.includes(".") ? inner : [path];
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === "") return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}
