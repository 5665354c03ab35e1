import type { LoadedConfig } from "../../config/types.js";
import type { Effect } from "../../tool/effects.js";
import { permissionFiles } from "./permission-files.js";
import type { Authority } from "./permission-table.js";

export interface OfferedTool {
  readonly name: string;
  readonly permissions: readonly Effect["action"][];
}

/** Why a tool is kept from a model; undefined when it is offered. */
export type Withheld = (tool: OfferedTool) => string | undefined;

/** What the profile in force keeps back; undefined when that is nothing. Lists ask this too, so nothing is loaded while nothing is written. */
export async function offeringFor(
  config: LoadedConfig,
  profile: string = config.values.permissions.profile,
): Promise<Withheld | undefined> {
  const { paths, project, systemDir } = config;
  const places = { home: paths.home, project, systemDir };
  if (profile === "default" && permissionFiles(places).length === 0) return undefined;
  const [{ loadPermissions }, { withheldUnder }] = await Promise.all([
    import("./load.js"),
    import("./withheld.js"),
  ]);
  const authority: Authority | undefined = (await loadPermissions(places)).authorityOf(profile);
  return authority === undefined ? undefined : (tool) => withheldUnder(tool, authority);
}
