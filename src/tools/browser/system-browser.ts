import { findBrowser } from "../../env/find-browser.js";
import { ToolError } from "../../tool/errors.js";
import type { CallContext } from "../../tool/tool.js";
import { browserSettings } from "./settings.js";

/** The program to start: the one that the settings name, else the first of this machine or of the Hermes home. */
export function systemBrowser(ctx: Pick<CallContext, "settings">): string {
  const { executable } = browserSettings(ctx);
  const { hermes_home: home } = ctx.settings;
  const found = findBrowser({
    executable,
    env: process.env,
    home: typeof home === "string" ? home : undefined,
  });
  if (found !== undefined) return found;
  throw new ToolError(
    executable === ""
      ? "No Chromium, Chrome or Edge was found on this machine."
      : `browser.executable names no program: ${executable}.`,
    {
      code: "unavailable",
      hint:
        executable === ""
          ? "Run `hermes setup browser`, or set browser.executable to a Chromium, Chrome or Edge."
          : "Set browser.executable to a Chromium, Chrome or Edge, or empty it to use the first that is found.",
    },
  );
}
