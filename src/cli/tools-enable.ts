import type { CommandContext } from "./globals.js";
import { switchTool } from "./switch-tool.js";

export async function run(context: CommandContext, [name = ""]: readonly string[]): Promise<void> {
  await switchTool({ context, name, on: true });
}
