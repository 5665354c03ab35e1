export type ItemKind =
  | "setting"
  | "grant"
  | "mcp_server"
  | "secret"
  | "memory"
  | "skill"
  | "conversation"
  | "job"
  | "other";

/** `kept`: what is here already stays. `skipped`: it has no place here, or would loosen a rule. */
export type ItemState = "migrated" | "kept" | "skipped" | "failed";

/** One thing of the other home and what became of it. */
export interface Item {
  readonly kind: ItemKind;
  readonly name: string;
  readonly state: ItemState;
  /** What it is called here, where that is another name. */
  readonly to?: string | undefined;
  readonly reason?: string | undefined;
}

/** An item as planned; what has to be done for it, if anything. A dry run is a plan that nobody applies. */
export interface Step {
  readonly item: Item;
  readonly apply?: () => Promise<unknown>;
}

/** The two homes, as every kind is given them. */
export interface Homes {
  readonly from: string;
  readonly home: string;
}

export function migrated(item: Omit<Item, "state">, apply: () => Promise<unknown>): Step {
  return { item: { ...item, state: "migrated" }, apply };
}

export function kept(item: Omit<Item, "state">): Step {
  return { item: { ...item, state: "kept" } };
}

export function skipped(item: Omit<Item, "state">): Step {
  return { item: { ...item, state: "skipped" } };
}

export function failed(item: Omit<Item, "state">): Step {
  return { item: { ...item, state: "failed" } };
}
