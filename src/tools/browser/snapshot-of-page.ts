import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CallContext } from "../../tool/tool.js";
import { look, stateOf } from "./action.js";
import { fitLines, written } from "./fit-lines.js";
import { BrowserSession } from "./session.js";

/** What a model can well read at once. */
const MAX_TOKENS = 7_500;

export function snapshotOfPage(full: boolean, ctx: CallContext) {
  const session = ctx.keep(BrowserSession);
  return session.use(ctx, {}, async (tab) => {
    const { lines, title } = await look(tab, ctx, full);
    if (!full) tab.shown = lines;
    const { text, truncated } = fitLines(lines, MAX_TOKENS);
    const full_path = truncated ? await keepWhole(lines.map(written).join("\n"), ctx) : undefined;
    const more = full_path === undefined ? "" : `\n(shortened; the whole text is in ${full_path})`;
    return {
      ...(await stateOf({ tab, session, ctx, title })),
      snapshot: `${text}${more}`,
      element_count: lines.length,
      truncated,
      ...(full_path !== undefined && { full_path }),
    };
  });
}

async function keepWhole(text: string, { cacheDir }: CallContext): Promise<string> {
  await mkdir(cacheDir, { recursive: true });
  const path = join(cacheDir, `page-${randomBytes(8).toString("hex")}.txt`);
  await writeFile(path, text, { mode: 0o600 });
  return path;
}
