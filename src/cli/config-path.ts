import { hermesPaths } from "../config/paths.js";
import type { CommandContext } from "./globals.js";
import { table } from "./output.js";

export async function run({ out, home }: CommandContext): Promise<void> {
  const paths = hermesPaths(home);
  if (out.json) out.value(paths);
  else for (const line of table(Object.entries(paths))) out.line(line);
}
