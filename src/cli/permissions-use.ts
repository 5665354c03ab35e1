import { setConfigValue } from "../config/edit.js";
import { loadConfig } from "../config/load.js";
import { loadPermissions } from "../policy/profiles/load.js";
import { HermesError } from "../tool/errors.js";
import type { CommandContext } from "./globals.js";

/** Makes a profile the one of new sessions. */
export async function run({ out, home }: CommandContext, [profile = ""]: readonly string[]): Promise<void> {
  const { project, systemDir } = await loadConfig({ home, cwd: process.cwd(), env: process.env });
  const unknown = (await loadPermissions({ home, project, systemDir })).unknown(profile);
  if (unknown !== undefined) throw new HermesError(unknown);
  const done = await setConfigValue({ home, key: "permissions.profile", value: profile });
  if (!done.ok) throw new HermesError(done);
  // A variable, a flag or the administrator may have the last word.
  const config = await loadConfig({ home, cwd: process.cwd(), env: process.env });
  const inForce = config.values.permissions.profile;
  if (out.json) out.value({ ...done, profile, in_force: inForce });
  else {
    out.line(
      `Profile ${profile} ${done.changed ? "is used from now on" : "was already in use"} (${done.file})`,
    );
    if (inForce !== profile) {
      const origin = config.origin("permissions.profile");
      out.note(`But ${origin.name ?? origin.file ?? origin.source} sets ${inForce}, which counts more.`);
    }
  }
}
