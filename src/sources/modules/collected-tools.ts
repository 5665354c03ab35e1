import type { Entry } from "../../registry/entry.js";
import { type AddOptions, ToolRegistry } from "../../registry/registry.js";
import type { AnyTool } from "../../tool/tool.js";

/**
 * What one module registers, kept apart until its whole top level has run: a module that fails half-way leaves
 * nothing behind.
 */
export class CollectedTools extends ToolRegistry {
  readonly overrides = new Set<string>();
  readonly toolsetAliases: Record<string, string> = {};
  /** Names of others that the module takes out of the registry. */
  readonly takenOut = new Set<string>();

  override addEntry(entry: Entry, options: Pick<AddOptions, "override"> = {}): boolean {
    const added = super.addEntry(entry, options);
    if (added && options.override === true) this.overrides.add(entry.name);
    return added;
  }

  override deregister(name: string): boolean {
    const ours = super.deregister(name);
    if (!ours) this.takenOut.add(name);
    return true;
  }

  override aliasToolset(alias: string, canonical: string): void {
    this.toolsetAliases[alias] = canonical;
  }

  tools(): readonly AnyTool[] {
    return [...this.snapshot().entries.values()].flatMap((entry) => entry.tool ?? []);
  }
}
