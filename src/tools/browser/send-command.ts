import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CDPSession, Page } from "playwright-core";
import { messageOf } from "../../base/errno.js";
import { ToolError } from "../../tool/errors.js";
import type { CallContext } from "../../tool/tool.js";
import { refusedCommand } from "./cdp-rules.js";
import { firstLine } from "./explain-error.js";
import { BrowserSession } from "./session.js";

const MAX_CHARS = 20_000;

export function sendCommand(options: {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly targetId: string | undefined;
  readonly ctx: CallContext;
}) {
  const { method, params, targetId, ctx } = options;
  const refused = refusedCommand(method, params, ctx);
  if (refused !== undefined)
    throw new ToolError(`${method.slice(0, 100)} is not sent: ${refused}.`, {
      code: "blocked",
      hint: "Use a command about the page, or another browser tool.",
    });
  const session = ctx.keep(BrowserSession);
  return session.use(ctx, {}, async (tab) => {
    const page = targetId === undefined ? tab.page : await tabOf(targetId, tab.page);
    const cdp = await page.context().newCDPSession(page);
    try {
      const outcome = await session.act(tab, ctx, () => send(cdp, method, params));
      const result = outcome === undefined ? { interrupted: "a dialog opened" } : outcome.value;
      const written = JSON.stringify(result) ?? "null";
      const answer = { method, url: page.url() };
      if (written.length <= MAX_CHARS) return { ...answer, result };
      return { ...answer, result: `${written.slice(0, 500)}…`, result_path: await keepWhole(written, ctx) };
    } finally {
      await cdp.detach().catch(() => undefined);
    }
  });
}

async function send(cdp: CDPSession, method: string, params: object): Promise<unknown> {
  try {
    // The method is the caller's word; the browser says whether it knows it.
    return await (cdp.send as (method: string, params: object) => Promise<unknown>).call(cdp, method, params);
  } catch (error) {
    const said = /Protocol error \([^)]*\): ([^\n]*)/.exec(messageOf(error))?.[1];
    if (said === undefined) throw error;
    throw new ToolError(`The browser answered: ${firstLine(said)}.`, { hint: "Check method and params." });
  }
}

/** Only tabs of this session: others are other people's. */
async function tabOf(targetId: string, current: Page): Promise<Page> {
  for (const page of current.context().pages()) {
    const cdp = await page.context().newCDPSession(page);
    const { targetInfo } = await cdp.send("Target.getTargetInfo");
    await cdp.detach().catch(() => undefined);
    if (targetInfo.targetId === targetId) return page;
  }
  throw new ToolError(`This session has no tab ${targetId.slice(0, 60)}.`, {
    code: "not_found",
    hint: "Leave target_id out for the open page.",
  });
}

async function keepWhole(text: string, { cacheDir }: CallContext): Promise<string> {
  await mkdir(cacheDir, { recursive: true });
  const path = join(cacheDir, `cdp-${randomBytes(8).toString("hex")}.json`);
  await writeFile(path, text, { mode: 0o600 });
  return path;
}
