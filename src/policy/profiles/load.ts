import { LastGoodStore } from "../../config/last-good.js";
import { hermesPaths } from "../../config/paths.js";
import type { ConfigProblem } from "../../config/types.js";
import { loadAnalysis } from "../../shell/analysis.js";
import { type PermissionPlace, type PermissionPlaces, permissionFiles } from "./permission-files.js";
import { PermissionTable, type RuleLayer } from "./permission-table.js";

/**
 * All permission rules in force: built-in profiles < home; a trusted project's, which only take away; managed
 * ones above all. Never throws for what is in a file. A file that cannot be read keeps its last good version,
 * together with every restriction that can still be made out in it; without one, nothing may be touched.
 */
export async function loadPermissions(
  places: PermissionPlaces,
  /** A file that is not there yet, taken as if it stood beside the one in the home. */
  added?: string,
): Promise<PermissionTable> {
  const found = permissionFiles(places);
  const problems: ConfigProblem[] = found.filter(({ trusted }) => !trusted).map(notTrusted);
  const files = found.filter(({ trusted }) => trusted);
  if (files.length === 0 && added === undefined) return new PermissionTable({ problems });

  // The YAML parser is needed only by those who wrote a file; examples of command rules are judged like commands.
  const [{ readPermissionFile, readPermissionText }] = await Promise.all([
    import("./permission-file.js"),
    loadAnalysis(),
  ]);
  const { home } = places;
  const lastGood = new LastGoodStore({ home, folder: hermesPaths(home).lastGood });
  const layers: RuleLayer[] = [];
  let broken: string | undefined;
  for (const { path, source } of files) {
    const reading = await readPermissionFile({ path, source, lastGood, known: layers });
    layers.push(...reading.layers);
    problems.push(...reading.problems);
    broken ??= reading.broken;
  }
  if (added !== undefined) {
    const file = hermesPaths(home).permissions;
    layers.push({ ...(await readPermissionText(added, file)), source: "home", file });
  }
  return new PermissionTable({ layers, problems, broken });
}

function notTrusted({ path }: PermissionPlace): ConfigProblem {
  return {
    severity: "warning",
    source: "project",
    message: "the permissions of this project are ignored because its folder is not trusted",
    hint: "if you trust it, run: hermes config trust",
    file: path,
  };
}
