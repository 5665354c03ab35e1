import { setTimeout as delay } from "node:timers/promises";
import type { Page, Response } from "playwright-core";
import { messageOf } from "../../base/errno.js";
import { ToolError } from "../../tool/errors.js";
import type { CallContext } from "../../tool/tool.js";
import { look, stateOf, WAITS } from "./action.js";
import type { NavigateAnswer } from "./browser-navigate.js";
import { fitLines } from "./fit-lines.js";
import { BrowserSession } from "./session.js";
import { browserSettings } from "./settings.js";
import type { Tab } from "./tab.js";

const MAX_TOKENS = 4_000;
/** A page can be used before its last picture has come. */
const LOADING_MS = 5_000;
const ANSWER_MS = 3_000;
const MOST_TRIES = 4;
const INTERRUPTED_MS = 250;

export function navigate(address: string, ctx: CallContext): Promise<NavigateAnswer> {
  if (address !== "about:blank" && !/^https?:\/\//i.test(address))
    throw new ToolError(`The browser does not open ${JSON.stringify(address.slice(0, 200))}.`, {
      code: "blocked",
      hint: "Only http and https addresses are opened; files are read with read_file.",
    });
  const session = ctx.keep(BrowserSession);
  return session.use(ctx, { opens: true, despiteDialog: true }, async (opened) => {
    const { dialog } = opened;
    if (dialog !== undefined) await opened.answerDialog(false);
    session.takeTrouble();
    const go = (tab: Tab) => goTo({ address, tab, session, ctx });
    // Whoever opens a page wants that page, not what it opens besides.
    const alone = { follows: false };
    const tried = await session.act(opened, ctx, () => unlessStuck(opened.page, go(opened)), alone);
    const isStuck = tried?.value === "stuck";
    const tab = isStuck ? await session.renew(opened, ctx) : opened;
    const outcome = isStuck ? await session.act(tab, ctx, () => go(tab), alone) : tried;
    if (dialog !== undefined)
      tab.notes.push(`the dialog of the page before was dismissed: ${JSON.stringify(dialog.message)}`);
    const now = session.tab ?? tab;
    const stopped = now.dialog !== undefined;
    const { lines, title } = stopped ? { lines: [], title: "" } : await look(now, ctx);
    now.shown = lines;
    const { text, truncated } = fitLines(lines, MAX_TOKENS);
    warnOfRobots(now, title);
    const response = outcome?.value;
    return {
      ...(await stateOf({ tab: now, session, ctx, title })),
      status: typeof response === "object" ? (response?.status() ?? 0) : 0,
      snapshot: stopped ? WAITS : text,
      truncated,
    };
  });
}

async function goTo(options: {
  readonly address: string;
  readonly tab: Tab;
  readonly session: BrowserSession;
  readonly ctx: CallContext;
}): Promise<Response | null> {
  const { address, tab, session, ctx } = options;
  const { page } = tab;
  try {
    const open = () =>
      page.goto(address, {
        waitUntil: "domcontentloaded",
        timeout: browserSettings(ctx).timeoutMs,
        signal: ctx.signal,
      });
    let response: Response | null = null;
    for (let tries = 1; ; tries += 1) {
      try {
        response = await open();
        break;
      } catch (error) {
        // The error page of something that was refused before may still be on its way.
        if (tries === MOST_TRIES || !/is interrupted by another navigation/.test(messageOf(error)))
          throw error;
        await delay(INTERRUPTED_MS);
      }
    }
    await page.waitForLoadState("load", { timeout: LOADING_MS }).catch(() => undefined);
    return response;
  } catch (error) {
    const message = messageOf(error);
    // The address is a file: it is kept, and the page stays where it was.
    if (/Download is starting/i.test(message)) return null;
    const refused = session.takeTrouble().at(-1);
    if (refused !== undefined && /net::ERR_/.test(message)) {
      const where = address.includes(refused.host) ? "" : ` (it leads to ${refused.host})`;
      throw new ToolError(
        `${refused.blocked ? "Refused to open" : "No answer from"} ${address}${where}: ${refused.reason}`,
        {
          code: refused.blocked ? "blocked" : "failed",
          hint: refused.blocked
            ? "Only addresses that the operator's rules allow are opened; security.allowed_hosts opens a private one."
            : "Check the address, and whether this machine can reach it.",
        },
      );
    }
    const failed = /net::(ERR_\w+)/.exec(message)?.[1];
    if (failed === undefined) throw error;
    throw new ToolError(
      `${address} could not be opened: ${failed.slice(4).toLowerCase().replaceAll("_", " ")}.`,
      {
        hint: "Check the address; http_request shows what the server answers.",
      },
    );
  }
}

/** Of a page that is busy with itself for good: nothing can be opened in its place. Asked while it is on its way elsewhere. */
async function unlessStuck<T>(page: Page, going: Promise<T>): Promise<T | "stuck"> {
  let isAnswered = false;
  const answered = () => {
    isAnswered = true;
  };
  page.evaluate("1").then(answered, answered);
  going.catch(() => undefined);
  const late = new AbortController();
  const inTime = async (): Promise<T | "stuck"> => {
    await delay(ANSWER_MS, undefined, late).catch(() => undefined);
    return isAnswered || late.signal.aborted ? going : "stuck";
  };
  const either = Promise.race([going, inTime()]);
  return either.finally(() => late.abort());
}

/** Walls against programs look like pages; a model should know one when it sees it. */
function warnOfRobots(tab: Tab, title: string): void {
  if (!/just a moment|attention required|captcha|are you (?:a )?(?:human|robot)|access denied/i.test(title))
    return;
  tab.notes.push("this looks like a check against programs: the page itself may not be reachable this way");
}
