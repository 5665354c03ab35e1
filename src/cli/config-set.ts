import { setConfigValue } from "../config/edit.js";
import { HermesError } from "../tool/errors.js";
import type { CommandContext } from "./globals.js";

export async function run(
  { out, home }: CommandContext,
  [key = "", value = ""]: readonly string[],
): Promise<void> {
  const done = await setConfigValue({ home, key, value });
  if (!done.ok) throw new HermesError(done);
  if (out.json) out.value(done);
  else out.line(`${done.key} ${done.changed ? "set" : "was already set so"} in ${done.file}`);
}
