import { loadConfig } from "../config/load.js";
import { revokeGrant } from "../policy/grants/manage.js";
import { HermesError } from "../tool/errors.js";
import type { CommandContext } from "./globals.js";

export async function run(
  { out, home, configFlags }: CommandContext,
  [id = ""]: readonly string[],
): Promise<void> {
  const config = await loadConfig({ home, cwd: process.cwd(), env: process.env, flags: configFlags });
  const done = await revokeGrant(config, id.trim().toLowerCase());
  if (!done.ok) throw new HermesError(done);
  if (out.json) out.value({ revoked: id, file: done.file });
  else out.line(`Grant ${id} is withdrawn (${done.file}).`);
}
