/** How often tools were called lately. */
export interface ToolUse {
  readonly days: number;
  readonly total: number;
  readonly calls: ReadonlyMap<string, number>;
}

/** Before so many calls are on record nobody knows what is used. */
const ENOUGH_CALLS = 100;
/** Fewer calls than this are hardly ever. */
const FEW_CALLS = 3;

export function isHardlyUsed({ total, calls }: ToolUse, name: string): boolean {
  return total >= ENOUGH_CALLS && (calls.get(name) ?? 0) < FEW_CALLS;
}
