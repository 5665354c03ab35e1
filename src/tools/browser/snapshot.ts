import type { Frame, JSHandle, Page } from "playwright-core";
import { isRecord } from "../../base/record.js";
import { stripControls } from "../../base/visible-text.js";
import { inPage } from "./in-page.js";
import type { RefNaming } from "./refs.js";
import { HIDE_INVISIBLE } from "./scripts.gen.js";
import type { Tab } from "./tab.js";

/** One line of a page as a model reads it. */
export interface SnapshotLine {
  readonly depth: number;
  readonly text: string;
  readonly role: string;
  readonly ref?: string | undefined;
  /** Can be clicked, typed into or chosen. */
  readonly usable: boolean;
  /** Worth keeping when room is short: what can be used, and headings. */
  readonly kept: boolean;
}

export interface Snapshot {
  readonly lines: readonly SnapshotLine[];
  readonly title: string;
}

const USABLE =
  /^(?:link|button|textbox|searchbox|checkbox|radio|combobox|listbox|option|menuitem|menuitemcheckbox|menuitemradio|tab|switch|slider|spinbutton|treeitem|gridcell|scrollbar|iframe)$/;
/** Boxes around boxes: what they hold is shown in their place. */
const WRAPPERS =
  /^(?:generic|none|presentation|group|paragraph|fragment|strong|emphasis|code|rowgroup|row|cell|listitem|list|figure|article|document|main|section|region)$/;
const MOST_FRAMES = 30;
const FRAME_MS = 1_000;
/** For a frame that never comes to be (one that names a file, for instance); the page is shown without it then. */
const WAITING_MS = 8_000;
const NAME_CHARS = 160;
const TEXT_CHARS = 400;
const URL_CHARS = 200;
const TITLE_CHARS = 300;
const DEEPEST = 8;

/**
 * The accessibility tree of a page and its frames as lines, without text that nobody can see. `full` keeps the boxes,
 * a ref for each of them and the addresses of links.
 */
export async function takeSnapshot(
  tab: Pick<Tab, "page" | "refs" | "restored">,
  options: {
    readonly timeoutMs: number;
    readonly signal?: AbortSignal | undefined;
    readonly full?: boolean | undefined;
  },
): Promise<Snapshot> {
  const { page, refs } = tab;
  await tab.restored;
  const restore = await hideInvisible(page);
  const [nodes, title = ""] = await Promise.all([
    page.ariaSnapshotJSON({
      mode: "ai",
      timeout: Math.min(options.timeoutMs, WAITING_MS),
      ...(options.signal && { signal: options.signal }),
    }),
    soon(page.title()),
  ]).finally(() => {
    // Whoever uses the page next waits for it; this answer need not.
    tab.restored = restore();
  });
  const lines: SnapshotLine[] = [];
  const naming = refs.begin();
  for (const node of listOf(nodes))
    addLines({ node, depth: 0, pointer: false }, { lines, naming, full: options.full === true });
  naming.done();
  return { lines, title: title.slice(0, TITLE_CHARS) };
}

/** In every frame; one that does not answer shows what it shows. */
async function hideInvisible(page: Page): Promise<() => Promise<void>> {
  const frames = page.frames().slice(0, MOST_FRAMES);
  const changed = await Promise.all(frames.map((frame) => soon(hideIn(frame))));
  return async () => {
    await Promise.all(
      changed.map(async (handle) => {
        if (handle === undefined) return;
        await soon(handle.evaluate((undo) => undo()));
        handle.dispose().catch(() => undefined);
      }),
    );
  };
}

function hideIn(frame: Frame): Promise<JSHandle<() => void>> {
  return frame.evaluateHandle<() => void>(inPage(HIDE_INVISIBLE));
}

/** Undefined when it fails or takes too long: a frame may be loading, or stuck. */
async function soon<T>(work: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, FRAME_MS, undefined);
  });
  const answer = await Promise.race([work.catch(() => undefined), late]);
  clearTimeout(timer);
  return answer;
}

interface Place {
  readonly node: unknown;
  readonly depth: number;
  /** Something around it can be clicked already. */
  readonly pointer: boolean;
}

interface Written {
  readonly lines: SnapshotLine[];
  readonly naming: RefNaming;
  readonly full: boolean;
}

function addLines({ node, depth, pointer }: Place, into: Written): void {
  const { lines, naming, full } = into;
  if (!isRecord(node)) {
    if (typeof node === "string") addText(node, depth, lines);
    return;
  }
  const role = typeof node.role === "string" ? node.role : "generic";
  const name = clean(node.name, NAME_CHARS);
  const text = clean(node.text, TEXT_CHARS);
  if (role === "text") {
    addText(text, depth, lines);
    return;
  }
  const clickable = node.cursor === "pointer" && !pointer;
  const usable = USABLE.test(role) || clickable;
  const children = listOf(node.children);
  const named = typeof node.ref === "string" ? node.ref : undefined;
  const ref = named !== undefined && (full || usable) ? naming.of(named) : undefined;
  if (named !== undefined && ref === undefined) naming.keep(named);
  if (!full && !usable && name === "" && WRAPPERS.test(role)) {
    if (text !== "") addText(text, depth, lines);
    for (const child of children) addLines({ node: child, depth, pointer }, into);
    return;
  }
  const ahead = [role, name === "" ? "" : JSON.stringify(name), ...flagsOf(node)].filter(
    (part) => part !== "",
  );
  if (ref !== undefined) ahead.push(`[ref=${ref}]`);
  const placeholder = name === "" ? clean(node.placeholder, NAME_CHARS) : "";
  if (placeholder !== "") ahead.push(`(${JSON.stringify(placeholder)})`);
  const url = full ? clean(node.url, URL_CHARS) : "";
  if (url !== "") ahead.push(`→ ${url}`);
  lines.push({
    depth: Math.min(depth, DEEPEST),
    text: text === "" || text === name ? ahead.join(" ") : `${ahead.join(" ")}: ${text}`,
    role,
    ref,
    usable,
    kept: usable || role === "heading" || role === "alert" || role === "dialog",
  });
  const around = pointer || node.cursor === "pointer";
  for (const child of children) addLines({ node: child, depth: depth + 1, pointer: around }, into);
}

function addText(value: string, depth: number, lines: SnapshotLine[]): void {
  const text = clean(value, TEXT_CHARS);
  if (text === "") return;
  lines.push({ depth: Math.min(depth, DEEPEST), text, role: "text", usable: false, kept: false });
}

const FLAGS = ["checked", "disabled", "expanded", "active", "invalid", "pressed", "selected", "level"];

function flagsOf(node: Record<string, unknown>): readonly string[] {
  return FLAGS.flatMap((name) => {
    const value = node[name];
    if (value === undefined || value === false) return [];
    return [value === true ? `[${name}]` : `[${name}=${String(value).slice(0, 20)}]`];
  });
}

function clean(value: unknown, chars: number): string {
  if (typeof value !== "string") return "";
  const text = stripControls(value).replace(/\s+/g, " ").trim();
  return text.length > chars ? `${text.slice(0, chars)}…` : text;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
