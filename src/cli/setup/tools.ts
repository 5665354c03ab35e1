import { checkPackages, installPackages } from "../../runtime/packages/install.js";
import type { CommandContext } from "../context.js";
import { reportItems } from "./items.js";

/** The libraries that only some tools need. */
export async function setupTools(context: CommandContext): Promise<void> {
  const { home, out, options } = context;
  // For the proxy.
  await context.config();
  const items =
    options.check === true
      ? checkPackages(home)
      : await installPackages({ home, onProgress: (text) => out.note(text) });
  reportItems(context, items);
}
