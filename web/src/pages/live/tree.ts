import type { LiveCall } from "./calls-store.js";

export interface TreeRow {
  readonly key: string;
  readonly call: LiveCall;
  readonly level: number;
  /** How many calls are inside it. */
  readonly inside: number;
}

/** Calls below the call they were made from, oldest child first; those whose parent is not shown stand alone. */
export function treeRows(calls: readonly LiveCall[], isOpen: (key: string) => boolean): readonly TreeRow[] {
  // Twenty thousand calls are looked through ten times a second; few of them have others inside.
  const parents = new Set(calls.flatMap(({ parent }) => parent ?? []));
  const outer = parents.size === 0 ? [] : calls.filter(({ call_id }) => parents.has(call_id));
  const byKey = new Map(outer.map((call) => [`${call.session_id}/${call.call_id}`, call]));
  const byId = new Map(outer.map((call) => [call.call_id, call]));
  const inside = new Map<string, LiveCall[]>();
  const tops: LiveCall[] = [];
  for (const call of calls) {
    const parent =
      call.parent === undefined
        ? undefined
        : (byKey.get(`${call.session_id}/${call.parent}`) ?? byId.get(call.parent));
    if (parent === undefined || parent === call) tops.push(call);
    else {
      const key = parent.key;
      const list = inside.get(key);
      if (list === undefined) inside.set(key, [call]);
      else list.push(call);
    }
  }
  const rows: TreeRow[] = [];
  const add = (call: LiveCall, level: number) => {
    const { key } = call;
    const children = inside.get(key) ?? [];
    rows.push({ key, call, level, inside: children.length });
    // A call cannot be inside itself, whatever ids say.
    if (children.length > 0 && level < 8 && isOpen(key))
      for (const child of children.toReversed()) add(child, level + 1);
  };
  for (const call of tops) add(call, 1);
  return rows;
}

export function flatRows(calls: readonly LiveCall[]): readonly TreeRow[] {
  return calls.map((call) => ({ key: call.key, call, level: 1, inside: 0 }));
}
