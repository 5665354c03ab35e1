import { Entry } from "../registry/entry.js";
import type { BuiltinEntry } from "../registry/manifest-types.js";
import type { ToolRegistry } from "../registry/registry.js";

/** Registers the built-in tools from the manifest; none of their modules is imported by this. */
export function registerBuiltins(registry: ToolRegistry, manifest: readonly BuiltinEntry[]): void {
  for (const row of manifest) {
    const entry: Entry = new Entry({
      statics: {
        ...row,
        ...(row.hasCheck && { checkFn: async () => (await entry.load()).checkFn?.() ?? true }),
      },
      provenance: { kind: "builtin" },
      hasDynamicSchema: row.hasDynamicSchema,
      load: async () => (await row.load()).default,
    });
    registry.addEntry(entry);
  }
}
