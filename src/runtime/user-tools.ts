import { withActiveRegistry } from "../registry/active.js";
import {
  type DiscoveryReport,
  discoverUserTools,
  type ToolFolder,
  type UserModule,
} from "../registry/discover.js";
import type { Provenance } from "../registry/entry.js";
import type { ToolRegistry } from "../registry/registry.js";
import { toolsOfModule } from "../sources/modules/module-tools.js";

/** Imports the tool modules of the given folders into a registry. */
export function loadUserTools(options: {
  readonly registry: ToolRegistry;
  readonly folders: readonly ToolFolder[];
  readonly cacheDir: string;
  /** Load this one file of the folders and leave the others alone. */
  readonly only?: string;
}): Promise<DiscoveryReport> {
  const { registry, folders, cacheDir, only } = options;
  return discoverUserTools({
    folders,
    cacheDir,
    only,
    around: (info, load) => withActiveRegistry({ registry, provenance: provenanceOf(info) }, load),
    register(module, info) {
      for (const tool of toolsOfModule(module)) registry.add(tool, { provenance: provenanceOf(info) });
    },
  });
}

function provenanceOf(info: UserModule): Provenance {
  return { kind: info.origin, source: info.file };
}
