import { type ConfigFile, formatProblem } from "../../config/types.js";
import { loadPermissions } from "../../policy/profiles/load.js";
import { type PermissionPlaces, permissionFiles } from "../../policy/profiles/permission-files.js";
import type { PermissionTable } from "../../policy/profiles/permission-table.js";
import { unknownWordsIn } from "../../runtime/needs.js";
import type { CommandContext } from "../context.js";
import { EXIT } from "../errors.js";

/** What is wrong with the settings and the permissions, file by file. */
export async function check({ out, config: load }: CommandContext): Promise<void> {
  const config = await load();
  const places = { home: config.paths.home, project: config.project, systemDir: config.systemDir };
  const permissions = await loadPermissions(places);
  const problems = [...config.problems, ...permissions.problems, ...(await unknownWordsIn(config))];
  const files = [...config.files, ...permissionFilesOf(permissions, places)];
  const broken = problems.some((problem) => problem.severity === "error");
  if (out.json) out.value({ ok: !broken, problems, files });
  else {
    for (const problem of problems) out.line(`${out.mark(problem.severity)} ${formatProblem(problem)}`);
    for (const file of files)
      out.line(`${out.mark(file.state === "read" ? "ok" : "warning")} ${file.path} (${file.state})`);
    if (problems.length === 0) out.line(`${out.mark("ok")} no problems`);
  }
  if (broken) process.exitCode = EXIT.usage;
}

function permissionFilesOf(
  { problems, broken }: PermissionTable,
  places: PermissionPlaces,
): readonly ConfigFile[] {
  const isRefused = (path: string) =>
    problems.some(({ severity, file }) => severity === "error" && file === path);
  return permissionFiles(places).map(({ path, source, trusted }) => ({
    path,
    source: source === "builtin" ? "default" : source,
    state: !trusted ? "ignored" : !isRefused(path) ? "read" : broken === undefined ? "last-good" : "broken",
  }));
}
