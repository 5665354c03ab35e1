import { setConfigValue } from "../../config/edit.js";
import { loadConfig } from "../../config/load.js";
import { formatProblem } from "../../config/types.js";
import { loadPermissions } from "../../policy/profiles/load.js";
import { profileRow } from "../../policy/profiles/profile-row.js";
import { HermesError } from "../../tool/errors.js";
import type { CommandContext } from "../context.js";

/** Every profile, where it is written, and which one is in force. */
export async function list({ out, home, config: load }: CommandContext): Promise<void> {
  const config = await load();
  const permissions = await loadPermissions({ home, project: config.project, systemDir: config.systemDir });
  const active = config.values.permissions.profile;
  out.list({
    rows: permissions.profiles.map((profile) => profileRow(profile, active)),
    cells: (row) => [
      row.active ? out.mark("ok") : " ",
      row.name,
      row.line === null ? row.file : `${row.file}:${row.line}`,
      row.description,
    ],
  });
  for (const problem of permissions.problems) out.note(formatProblem(problem));
  const unknown = permissions.unknown(active);
  if (unknown !== undefined) out.fail(unknown);
}

/** Makes a profile the one of new sessions. */
export async function use({ out, home, args }: CommandContext): Promise<void> {
  const [profile = ""] = args;
  // Without the flags of this command: they say nothing about sessions to come.
  const read = () => loadConfig({ home, cwd: process.cwd(), env: process.env });
  const { project, systemDir } = await read();
  const unknown = (await loadPermissions({ home, project, systemDir })).unknown(profile);
  if (unknown !== undefined) throw new HermesError(unknown);
  const done = await setConfigValue({ home, key: "permissions.profile", value: profile });
  if (!done.ok) throw new HermesError(done);
  // A variable, a flag or the administrator may have the last word.
  const config = await read();
  const inForce = config.values.permissions.profile;
  out.result(
    { ...done, profile, in_force: inForce },
    `Profile ${profile} ${done.changed ? "is used from now on" : "was already in use"} (${done.file})`,
  );
  if (inForce === profile) return;
  const origin = config.origin("permissions.profile");
  out.note(`But ${origin.name ?? origin.file ?? origin.source} sets ${inForce}, which counts more.`);
}
