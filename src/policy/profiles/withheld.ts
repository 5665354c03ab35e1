import { deniedOutright } from "./judge-levels.js";
import { deniedTool, grantsFor } from "./judge-tool.js";
import type { OfferedTool } from "./offering.js";
import type { Authority } from "./permission-table.js";

/** The rules that deny every use of a tool; undefined when there is at least one it could be put to. */
export function withheldUnder(tool: OfferedTool, authority: Authority): string | undefined {
  if (authority.isOpen) return undefined;
  const denied = deniedTool(tool, authority);
  if (denied !== undefined) return `denied by ${denied}`;
  if (tool.permissions.length === 0) return undefined;
  const grants = grantsFor(tool, authority);
  const rules = tool.permissions.map((permission) => deniedOutright(permission, authority, grants));
  return rules.includes(undefined) ? undefined : `denied by ${[...new Set(rules)].join(", ")}`;
}
