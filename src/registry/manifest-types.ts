import type { AnyTool } from "../tool/tool.js";
import type { StaticFields } from "./entry.js";

/** What `npm run build` writes down about one built-in tool, so that listing tools imports none of them. */
export interface BuiltinEntry extends StaticFields, Pick<AnyTool, "needs"> {
  /** Absent when the tool has no limit of its own or computes it from the arguments. */
  readonly timeoutMs?: number;
  readonly hasCheck: boolean;
  readonly hasDynamicSchema: boolean;
  readonly hasEffects: boolean;
  /** The aliases whose arguments are rewritten before validation. */
  readonly aliasArguments?: readonly string[];
  /** Imports the tool's module: one lazy chunk per tool. */
  readonly load: () => Promise<{ readonly default: AnyTool }>;
}
