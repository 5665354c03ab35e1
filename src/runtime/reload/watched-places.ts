import { join } from "node:path";
import { isBelow } from "../../base/path.js";
import { confirmedFile } from "../../config/confirmed-files.js";
import { PROJECT_FOLDER } from "../../config/paths.js";
import type { LoadedConfig } from "../../config/types.js";
import { PERMISSIONS_FILE } from "../../policy/profiles/permission-files.js";
import { confirmedMark } from "../../sources/plugins/confirmed-mark.js";

/** Where a change can mean that something has to be read anew. None of it need exist. */
export interface WatchedPlaces {
  /** Settings, secrets and rules. */
  readonly settings: readonly string[];
  /** Folders with tools and plugins, with everything below them. */
  readonly folders: readonly string[];
  /** Those among them where every file counts, not only modules and settings: a plugin is all of its files. */
  readonly whole: readonly string[];
  /** Single files that tools are made of, outside those folders. */
  readonly files: readonly string[];
}

/** A project that nobody has trusted is not looked at; that it is trusted now is told by the list of those that are. */
export function watchedPlaces(
  config: LoadedConfig,
  options: { readonly cwd: string; readonly toolFiles: readonly string[] },
): WatchedPlaces {
  const { paths, systemDir, project } = config;
  const own = project === undefined ? undefined : join(project.folder, PROJECT_FOLDER);
  const trusted = project?.trusted === true ? own : undefined;
  const whole = [paths.plugins, ...(trusted === undefined ? [] : [join(trusted, "plugins")])];
  const folders = [paths.tools, ...(trusted === undefined ? [] : [join(trusted, "tools")]), ...whole];
  const inside = (file: string) => folders.some((folder) => isBelow(file, folder));
  return {
    settings: [
      paths.config,
      paths.dotenv,
      paths.permissions,
      paths.trustedFolders,
      ...["config.yaml", "managed.yaml", PERMISSIONS_FILE].map((name) => join(systemDir, name)),
      // A project may come into being where the program works.
      ...["config.yaml", PERMISSIONS_FILE].map((name) =>
        join(own ?? join(options.cwd, PROJECT_FOLDER), name),
      ),
    ],
    folders,
    whole,
    files: [
      confirmedMark(paths.home),
      confirmedFile(paths.home),
      // Written last when a plugin is installed as a package.
      join(paths.plugins, "node_modules", ".package-lock.json"),
      ...options.toolFiles.filter((file) => !inside(file)),
    ],
  };
}
