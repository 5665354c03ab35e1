import { text } from "../../tool/content.js";
import { mark, markDiff } from "../../tool/marked-text.js";
import type { CallContext } from "../../tool/tool.js";
import { changesBetween } from "./changes.js";
import { type SavedDownload, saveDownloads } from "./downloads.js";
import { fitLines } from "./fit-lines.js";
import { BrowserSession, type UseOptions } from "./session.js";
import { browserSettings } from "./settings.js";
import { settled } from "./settle.js";
import { type Snapshot, type SnapshotLine, takeSnapshot } from "./snapshot.js";
import type { OpenDialog, Tab } from "./tab.js";

/** Of a page that an action led to. */
const NEW_PAGE_TOKENS = 2_500;
const MOST_TROUBLE_TOLD = 5;
/** In place of a page that says nothing until its dialog is answered. */
export const WAITS = "(the page waits for its dialog)";

/** What every answer says about where things stand. */
export interface PageState {
  readonly url: string;
  readonly title: string;
  /** The page waits for it to be answered. */
  readonly dialog?: OpenDialog | undefined;
  readonly downloads?: readonly SavedDownload[] | undefined;
  /** What happened besides: refused requests, new tabs, dialogs that were answered. */
  readonly notes?: readonly string[] | undefined;
}

export interface ActionAnswer extends PageState {
  readonly success: true;
  /** In one line. */
  readonly done: string;
  /** What changed; the page itself when it is a new one. */
  readonly snapshot: string;
  readonly new_page?: boolean | undefined;
}

/** Does something to the open page and tells in a line what, and what changed. The work answers with that line, or says it. */
export function actOnPage(
  ctx: CallContext,
  work: (tab: Tab, session: BrowserSession, say: (done: string) => void) => Promise<string>,
  options: UseOptions = {},
): Promise<ActionAnswer> {
  const session = ctx.keep(BrowserSession);
  return session.use(ctx, options, async (tab) => {
    if (tab.shown.length === 0 && tab.dialog === undefined) tab.shown = (await look(tab, ctx)).lines;
    const before = { tab, lines: tab.shown, document: documentOf(tab) };
    let said: string | undefined;
    const say = (done: string) => {
      said = done;
    };
    const outcome = await session.act(tab, ctx, () =>
      settled(
        tab.page,
        () => work(tab, session, say),
        () => session.tab !== tab,
      ),
    );
    const now = session.tab ?? tab;
    const done = outcome?.value ?? said ?? "begun; a dialog opened, answer it with browser_dialog";
    const { title, ...changes } = await changedSince(before, now, ctx);
    return { success: true, done, ...changes, ...(await stateOf({ tab: now, session, ctx, title })) };
  });
}

async function changedSince(
  before: { readonly tab: Tab; readonly lines: readonly SnapshotLine[]; readonly document: string },
  tab: Tab,
  ctx: CallContext,
): Promise<Pick<ActionAnswer, "snapshot" | "title" | "new_page">> {
  if (tab.dialog !== undefined) return { snapshot: WAITS, title: "" };
  const { lines, title } = await look(tab, ctx);
  tab.shown = lines;
  const isSame = tab === before.tab && documentOf(tab) === before.document;
  return isSame
    ? { snapshot: changesBetween(before.lines, lines), title }
    : { snapshot: fitLines(lines, NEW_PAGE_TOKENS).text, title, new_page: true };
}

export function look(tab: Tab, ctx: CallContext, full = false): Promise<Snapshot> {
  return takeSnapshot(tab, { timeoutMs: browserSettings(ctx).timeoutMs, signal: ctx.signal, full });
}

export async function stateOf(options: {
  readonly tab: Tab;
  readonly session: BrowserSession;
  readonly ctx: CallContext;
  /** As the snapshot found it. */
  readonly title: string;
}): Promise<PageState> {
  const { tab, session, ctx, title } = options;
  const { dialog } = tab;
  const downloads = await saveDownloads(tab, ctx);
  const trouble = session.takeTrouble();
  const notes = [
    ...tab.notes.splice(0),
    ...trouble
      .slice(0, MOST_TROUBLE_TOLD)
      .map(({ host, blocked, reason }) => `${blocked ? "refused" : "no answer from"} ${host}: ${reason}`),
    ...(trouble.length > MOST_TROUBLE_TOLD
      ? [`and ${trouble.length - MOST_TROUBLE_TOLD} more hosts were not reached`]
      : []),
  ];
  return {
    url: tab.page.url(),
    title,
    ...(dialog !== undefined && { dialog }),
    ...(downloads.length > 0 && { downloads }),
    ...(notes.length > 0 && { notes }),
  };
}

/** Without its fragment: that only scrolls. */
function documentOf(tab: Tab): string {
  return tab.page.url().split("#", 1)[0] ?? "";
}

export function presentAction(out: ActionAnswer) {
  const words = [out.done, ...stateLines(out), out.snapshot].join("\n");
  return {
    model: [text(words)],
    human: [
      mark.good(out.done),
      ...stateLines(out).map(mark.dim),
      out.new_page === true ? out.snapshot : markDiff(out.snapshot),
    ].join("\n"),
  };
}

/** Address, dialog, downloads and notes, a line each. */
export function stateLines({ url, title, dialog, downloads = [], notes = [] }: PageState): readonly string[] {
  return [
    `page: ${title === "" ? "" : `${JSON.stringify(title)} `}${url}`,
    ...(dialog === undefined
      ? []
      : [`dialog open: ${dialog.type} ${JSON.stringify(dialog.message)} (answer with browser_dialog)`]),
    ...downloads.map(({ path, bytes }) => `downloaded: ${path} (${bytes} bytes)`),
    ...notes.map((note) => `note: ${note}`),
  ];
}
