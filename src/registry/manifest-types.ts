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
  /** The plugin of the package that brings it: it can be switched off with all it brings. */
  readonly plugin?: string;
  /** Imports the tool's module: one lazy chunk per tool. */
  readonly load: () => Promise<{ readonly default: AnyTool }>;
}

/** A plugin that comes with the package: `src/plugins/<name>`. */
export interface BundledPlugin {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly tools: readonly string[];
}
