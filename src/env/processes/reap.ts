import { startOfProcess } from "../../store/process-owner.js";
import type { Survivor } from "../environment.js";
import { marked, processTable } from "../local/process-table.js";
import { endTree } from "../local/process-tree.js";

/** What names a process tree of this machine for good. */
export interface TreeIdentity {
  readonly pid: number | undefined;
  /** See `startOfProcess`. */
  readonly pidStart: string | undefined;
  readonly mark: string;
}

/** True when the very process that was started is alive; a stranger with its number is not. */
export function isStillAlive({ pid, pidStart }: TreeIdentity): boolean {
  return pid !== undefined && pidStart !== undefined && startOfProcess(pid) === pidStart;
}

/**
 * Ends a tree of this machine that another runtime has started. Its number alone is never enough: the start
 * time must match, and where it does not, only what carries the mark is touched.
 */
export async function endLeftTree(tree: TreeIdentity): Promise<{
  /** Something of it was still there. */
  readonly found: boolean;
  readonly survivors: readonly Survivor[];
}> {
  if (tree.mark === "") return { found: false, survivors: [] };
  const leads = isStillAlive(tree);
  const table = await processTable();
  const carriers = table === undefined ? [] : ((await marked(table)).get(tree.mark) ?? []);
  if (!leads && carriers.length === 0) return { found: false, survivors: [] };
  return { found: true, survivors: await endTree({ pid: leads ? tree.pid : undefined, mark: tree.mark }) };
}
