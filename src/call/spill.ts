import { chmodSync, lstatSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { errnoOf, messageOf } from "../base/errno.js";
import { sha256 } from "../base/hash.js";
import { sizeText } from "../base/human.js";
import { DEFAULT_LIMITS, previewOf, wholeCharacters } from "./bounds.js";
import { makeRoom, markOwner } from "./spill-room.js";

/** Keeps whole results in files when only a preview may reach the model. */
export interface Spill {
  /** The session's own folder. It appears with the first file. */
  readonly dir: string;
  /** Throws an Error with the reason when the text could not be saved completely. */
  write(callId: string, text: string): { readonly path: string };
  /** Removes files older than a day and the oldest that have no room, also those of other sessions. */
  prune(): void;
}

const MAX_AGE_MS = 24 * 60 * 60 * 1_000;
const PRUNE_EVERY_MS = 60 * 60 * 1_000;
/** How much may be written, as a part of all the room, before it is looked at again. */
const UNSEEN_PART = 1 / 16;
const MAX_STEM = 120;
const HASH_CHARS = 12;

export function createSpill(options: {
  /** Of all sessions. */
  readonly root: string;
  readonly session: string;
  /** Room for what all sessions have spilled; the oldest leaves first. */
  readonly maxBytes?: number;
  readonly now?: () => number;
}): Spill {
  const { root, session, maxBytes = Number.POSITIVE_INFINITY, now = Date.now } = options;
  const dir = join(root, spillStem(session));
  let prunedAt = Number.NEGATIVE_INFINITY;
  let unseenBytes = 0;

  const prune = (newest?: string) => {
    prunedAt = now();
    unseenBytes = 0;
    makeRoom({ root, own: dir, newest, before: prunedAt - MAX_AGE_MS, maxBytes });
  };

  return {
    dir,
    prune: () => prune(),
    write(callId, text) {
      prepareFolder(root);
      prepareFolder(dir);
      if (prunedAt === Number.NEGATIVE_INFINITY) markOwner(dir);
      const path = writeNew({ dir, stem: spillStem(callId), text });
      const bytes = Buffer.byteLength(text);
      verifySize(path, bytes);
      unseenBytes += bytes;
      if (now() - prunedAt > PRUNE_EVERY_MS || unseenBytes > maxBytes * UNSEEN_PART) prune(path);
      return { path };
    },
  };
}

/** A file name that cannot leave its folder, whatever the id; two different ids never share a changed name. */
export function spillStem(callId: string): string {
  const safe = callId.replace(/[^A-Za-z0-9_.-]/g, "_").replace(/^\.+/, "_");
  if (safe === callId && safe !== "" && safe.length <= MAX_STEM) return safe;
  return `${safe.slice(0, MAX_STEM - HASH_CHARS - 1)}_${shortHash(callId)}`;
}

function shortHash(text: string): string {
  return sha256(text).slice(0, HASH_CHARS);
}

function prepareFolder(dir: string): void {
  try {
    if (mkdirSync(dir, { recursive: true, mode: 0o700 }) !== undefined) return;
    const stats = statSync(dir);
    if ((stats.mode & 0o077) !== 0) chmodSync(dir, 0o700);
  } catch (error) {
    throw spillError(dir, error);
  }
}

/**
 * Never overwrites: call ids such as "call_1" repeat between conversations, and an earlier one may still
 * page its file. Exclusive creation also refuses to follow a planted symbolic link.
 */
function writeNew({ dir, stem, text }: { dir: string; stem: string; text: string }): string {
  const contentHash = shortHash(text);
  const names = [stem, `${stem.slice(0, MAX_STEM - HASH_CHARS - 1)}-${contentHash}`];
  for (const name of names) {
    const path = join(dir, `${name}.txt`);
    try {
      writeFileSync(path, text, { flag: "wx", mode: 0o600 });
      return path;
    } catch (error) {
      if (errnoOf(error) !== "EEXIST") {
        rmSync(path, { force: true });
        throw spillError(path, error);
      }
    }
  }
  const path = join(dir, `${names[1]}.txt`);
  if (lstatSync(path).isFile() && statSync(path).size === Buffer.byteLength(text)) return path;
  throw spillError(path, new Error("another file has this name"));
}

function verifySize(path: string, expected: number): void {
  const actual = statSync(path).size;
  if (actual === expected) return;
  rmSync(path, { force: true });
  throw spillError(path, new Error(`${actual} of ${expected} bytes were written`));
}

function spillError(path: string, cause: unknown): Error {
  const why = messageOf(cause);
  return new Error(
    `The whole output could not be saved to ${path}: ${why}. Check free space and permissions of that folder.`,
    { cause },
  );
}

/** What the model receives in place of a text that was saved to a file. */
export function persistedOutputBlock(options: {
  readonly whole: string;
  readonly path: string;
  /** The beginning of the text, as `previewOf` cuts it. */
  readonly preview: string;
  /** In which form it was written, when that is not the one it had. */
  readonly remark?: string | undefined;
  /** What this session calls the tool that reads files; undefined when it has none. */
  readonly reader?: string | undefined;
}): string {
  const { whole, path, preview, remark, reader } = options;
  const lines = preview === "" ? 0 : preview.split("\n").length;
  return [
    "<persisted-output>",
    `The output is too large to show: ${whole.length.toLocaleString("en-US")} characters (${sizeText(Buffer.byteLength(whole), "binary")}).`,
    `The whole text is in: ${path}${remark === undefined ? "" : ` (${remark})`}`,
    ...(reader === undefined
      ? []
      : [`Read on with ${reader}: path "${path}", offset ${lines + 1}, limit 500.`]),
    "",
    `Preview (the first ${lines.toLocaleString("en-US")} ${lines === 1 ? "line" : "lines"}):`,
    withoutDelimiter(preview),
    "</persisted-output>",
  ].join("\n");
}

/** Output that contains the closing delimiter must not be able to end the block early. */
function withoutDelimiter(preview: string): string {
  return preview.replace(/<(\s{0,8}\/?\s{0,8}persisted-output)/gi, "&lt;$1");
}

/** For when saving failed: the beginning of the text and a note, together never longer than `limit`. */
export function truncateInline(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const total = text.length.toLocaleString("en-US");
  const note = (shown: number) =>
    `\n[Truncated: the first ${shown.toLocaleString("en-US")} of ${total} characters are shown; the rest could not be saved]`;
  const room = limit - note(text.length).length;
  if (room <= 0) return wholeCharacters(text, limit);
  const head = previewOf(text, room);
  return `${head}${note(head.length)}`;
}

/** What one spilled result still costs inline: its preview and the lines around it. */
const SPILLED_CHARS = DEFAULT_LIMITS.preview + 500;

/**
 * Which results to spill so that all results of one turn fit: the largest first, until the rest fits or
 * nothing is left whose spilling would gain anything.
 */
export function applyTurnBudget(
  texts: readonly { readonly chars: number; readonly pinned?: boolean }[],
  perTurn: number,
): number[] {
  let total = texts.reduce((sum, { chars }) => sum + chars, 0);
  const candidates = texts
    .map(({ chars, pinned }, index) => ({ chars, pinned, index }))
    .filter(({ chars, pinned }) => pinned !== true && chars > SPILLED_CHARS)
    .sort((a, b) => b.chars - a.chars || a.index - b.index);
  const chosen: number[] = [];
  for (const { chars, index } of candidates) {
    if (total <= perTurn) break;
    total -= chars - SPILLED_CHARS;
    chosen.push(index);
  }
  return chosen;
}
