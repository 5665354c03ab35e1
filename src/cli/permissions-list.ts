import { loadConfig } from "../config/load.js";
import { formatProblem } from "../config/types.js";
import { loadPermissions } from "../policy/profiles/load.js";
import type { Profile } from "../policy/profiles/types.js";
import type { CommandContext } from "./globals.js";
import { table } from "./output.js";

/** Every profile, where it is written, and which one is in force. */
export async function run({ out, home, configFlags }: CommandContext): Promise<void> {
  const config = await loadConfig({ home, cwd: process.cwd(), env: process.env, flags: configFlags });
  const permissions = await loadPermissions({ home, project: config.project, systemDir: config.systemDir });
  const active = config.values.permissions.profile;
  const rows = permissions.profiles.map((profile) => rowOf(profile, active));
  if (out.json) out.values(rows);
  else {
    const lines = rows.map((row) => [
      row.active ? out.mark("ok") : " ",
      row.name,
      row.line === null ? row.file : `${row.file}:${row.line}`,
      row.description,
    ]);
    for (const line of table(lines)) out.line(line);
    for (const problem of permissions.problems) out.note(formatProblem(problem));
  }
  const unknown = permissions.unknown(active);
  if (unknown !== undefined) out.fail(unknown);
}

function rowOf(profile: Profile, active: string) {
  const texts = (field: "allow" | "deny" | "ask") =>
    profile.levels.flatMap((level) => level[field].map(({ text }) => text));
  return {
    name: profile.name,
    active: profile.name === active,
    description: profile.description,
    extends: profile.extends,
    source: profile.source,
    file: profile.origin.file,
    line: profile.origin.line ?? null,
    allow: texts("allow"),
    deny: texts("deny"),
    approval_required: texts("ask"),
    restrictions: profile.levels.flatMap((level) => level.restrictions.map(({ permission }) => permission)),
  };
}
