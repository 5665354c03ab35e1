import { trustFolder } from "../config/trust.js";
import { HermesError } from "../tool/errors.js";
import type { CommandContext } from "./globals.js";

export async function run(
  { out, home }: CommandContext,
  [folder = process.cwd()]: readonly string[],
): Promise<void> {
  const done = await trustFolder({ home, folder });
  if (!done.ok) throw new HermesError(done);
  if (out.json) out.value(done);
  else out.line(`${done.folder} is trusted: its .hermes settings and tools count`);
}
