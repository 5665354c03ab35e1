import { lstatSync } from "node:fs";
import { join } from "node:path";
import { hermesPaths, PROJECT_FOLDER, SYSTEM_DIR } from "../../config/paths.js";
import type { LoadedConfig } from "../../config/types.js";
import type { Effect } from "../../tool/effects.js";
import type { Authority } from "./permission-table.js";
import type { PermissionSource } from "./types.js";

export const PERMISSIONS_FILE = "hermes_permissions.yaml";

export interface PermissionPlaces {
  /** Hermes home. */
  readonly home: string;
  /** The project around the working folder, when there is one. */
  readonly project?: { readonly folder: string; readonly trusted: boolean } | undefined;
  readonly systemDir?: string | undefined;
}

export interface PermissionPlace {
  readonly path: string;
  readonly source: PermissionSource;
  /** False for a project nobody has trusted: its file is not read. */
  readonly trusted: boolean;
}

/** The files of rules that are there, highest first. */
export function permissionFiles(places: PermissionPlaces): readonly PermissionPlace[] {
  const { home, project, systemDir = SYSTEM_DIR } = places;
  const files: PermissionPlace[] = [
    { path: join(systemDir, PERMISSIONS_FILE), source: "managed", trusted: true },
    { path: hermesPaths(home).permissions, source: "home", trusted: true },
  ];
  if (project !== undefined) {
    const path = join(project.folder, PROJECT_FOLDER, PERMISSIONS_FILE);
    files.push({ path, source: "project", trusted: project.trusted });
  }
  return files.filter(({ path }) => isThere(path));
}

/** Also true for a file that cannot be read, or a link that leads nowhere: rules were meant there. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

export interface OfferedTool {
  readonly name: string;
  readonly permissions: readonly Effect["action"][];
  /** Those no call does without. */
  readonly everyCallNeeds?: readonly Effect["action"][] | undefined;
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
    import("./judge-permissions.js"),
  ]);
  const permissions = await loadPermissions(places);
  const authority: Authority | undefined = permissions.authorityOf(profile);
  // No session opens with a profile nobody has defined.
  if (authority === undefined) return () => permissions.unknown(profile)?.message;
  return (tool) => withheldUnder(tool, authority);
}
