import type { CallContext } from "../../../tool/tool.js";
import { refuseProtectedWrite } from "../../files/path-guard.js";
import type { Source } from "./sources.js";

/** Writes new text over a file that was read before, unless somebody has changed it since. */
export async function writeSource(source: Source, text: string, ctx: CallContext): Promise<void> {
  if (source.path === undefined) return;
  refuseProtectedWrite(source.path, ctx);
  await ctx.environment.files.write(source.path, Buffer.from(text, "utf8"), {
    expected: { sha256: source.sha256 },
  });
}
