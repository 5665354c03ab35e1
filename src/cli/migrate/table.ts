import { visible } from "../../base/visible-text.js";
import type { CommandContext } from "../context.js";
import type { Item, ItemState } from "./step.js";

const MARKS = { migrated: "ok", kept: "note", skipped: "warning", failed: "error" } as const;

/** Of more than this many with one fate, the number is enough. */
const MOST_ALIKE = 8;

export function printItems(
  { out }: CommandContext,
  {
    items,
    isDryRun,
    from,
  }: { readonly items: readonly Item[]; readonly isDryRun: boolean; readonly from: string },
): void {
  const count = (state: ItemState) => items.filter((item) => item.state === state).length;
  const rows = folded(items).map(({ kind, name, state, to, reason = "" }) => {
    const isRenamed = to !== undefined && to !== name;
    return [
      `${out.mark(MARKS[state])} ${state}`,
      kind.replace("_", " "),
      visible(isRenamed ? `${name} → ${to}` : name),
      visible(reason),
    ];
  });
  if (rows.length > 0) out.table([["state", "what", "name", "why"], ...rows]);
  const said = isDryRun ? "would be brought over; nothing was written" : "brought over";
  out.line();
  out.line(
    `${visible(from)}: ${count("migrated")} ${said}, ${count("kept")} kept as they are here, ${count("skipped")} skipped, ${count("failed")} failed`,
  );
}

function folded(items: readonly Item[]): readonly Item[] {
  return [...grouped(items).values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined || group.length <= MOST_ALIKE) return group;
    return [{ ...first, name: `${group.length} of them`, to: undefined }];
  });
}

function grouped(items: readonly Item[]): ReadonlyMap<string, readonly Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) groups.set(signOf(item), [...(groups.get(signOf(item)) ?? []), item]);
  return groups;
}

/** Settings are told one by one, however many. */
function signOf({ kind, name, state, reason = "" }: Item): string {
  return JSON.stringify(kind === "setting" ? [kind, name] : [kind, state, reason]);
}
