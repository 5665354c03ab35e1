import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { isAtOrBelow } from "../../base/path.js";
import type { ApprovalRequest, JudgedSegment, PermanentGrants } from "../../call/scope.js";
import { addGrants } from "../../config/edit-grants.js";
import type { AllowlistEntry, GrantEntry } from "../../config/types.js";
import { realPathOf } from "../real-path.js";
import { hasWildcard, isSimpleCommand, patternCovers } from "./command-pattern.js";
import { foldersOf } from "./folders.js";
import { type Grant, type GrantPlace, grantOf } from "./grant.js";
import { GrantState } from "./grant-state.js";
import { isAltered, isOpaque, rememberable } from "./grantable.js";
import { originalWordsMean } from "./original-words.js";

export interface Whereabouts {
  readonly cwd: string;
  readonly environment: string;
  readonly environmentKind: ApprovalRequest["environmentKind"];
  /** The whole text the segment is part of. */
  readonly command: string;
  /** How often the line goes to another folder, as the analysis has counted. */
  readonly moves?: number;
  /** What every command of the line comes to. */
  readonly parts?: readonly string[];
  /** What a "session" answer to this segment would cover, when that is more than its rule. */
  readonly keys?: readonly string[];
}

/** What the person has approved for good, asked by the policy and added to by "always". */
export interface Allowlist extends PermanentGrants {
  /** The grant that approves this dangerous part; a hardline has none. */
  covering(segment: JudgedSegment, where: Whereabouts): Grant | undefined;
  /** The grants that together approve every dangerous part, or undefined when one of them has none. */
  coveringAll(segments: readonly JudgedSegment[], where: Whereabouts): readonly Grant[] | undefined;
  /** What "always" would write down; nothing means that it cannot be offered. */
  rememberable(segments: readonly JudgedSegment[]): string[];
  /** Counts these from now on; another list has written them down. */
  hold(entries: readonly string[], request: ApprovalRequest): void;
  /** Uses are on disk when it resolves. */
  close(): Promise<void>;
}

export interface AllowlistOptions {
  readonly entries: readonly AllowlistEntry[];
  /** Hermes home: where "always" is written and uses are counted. */
  readonly home: string;
  readonly now?: () => number;
  /** When the entries were read; a grant that was withdrawn later does not count any more. */
  readonly readAt?: number;
  placeOf?(entry: AllowlistEntry): GrantPlace;
  /** Who else decides about this list; then nothing can be added here. */
  readonly managedBy?: string | undefined;
  /** What a command comes to, so that an entry may be written in any spelling. */
  canonical?(command: string): string | undefined;
  /** Masks secrets; a command that holds one is never written down. */
  redact?(text: string): string;
  onTrouble?(message: string): void;
}

interface Held {
  readonly grant: Grant;
  /** When this process learnt of it; only a later withdrawal counts. */
  readonly since: number;
}

export function createAllowlist(options: AllowlistOptions): Allowlist {
  const now = options.now ?? Date.now;
  const state = new GrantState({
    home: options.home,
    now,
    onTrouble: options.onTrouble ?? (() => undefined),
  });
  const held: Held[] = options.entries.map((entry) => ({
    grant: grantOf(entry, options.placeOf?.(entry)),
    since: options.readAt ?? now(),
  }));
  const canonicalTexts = new Map<string, string>();

  /** Entries are taken as they are written, and as what they come to. */
  const sameCommand = (text: string, segment: JudgedSegment): boolean => {
    if (text === segment.canonical) return true;
    if (options.canonical === undefined) return false;
    const known = canonicalTexts.get(text) ?? options.canonical(text) ?? "";
    canonicalTexts.set(text, known);
    return known !== "" && known === segment.canonical;
  };

  const isInForce = ({ grant, since }: Held, where: Whereabouts): boolean => {
    if (grant.expiresAt !== undefined && now() >= grant.expiresAt) return false;
    if (!isInScope(grant.scope, where)) return false;
    if (state.revokedSince(grant.id, since)) return false;
    return grant.maxUses === undefined || (state.usesOf(grant.id) ?? grant.maxUses) < grant.maxUses;
  };

  const allowlist: Allowlist = {
    covering(segment, where) {
      if (segment.verdict !== "danger") return undefined;
      return held.find(
        (each) => isGrantAbout({ ...each, segment, where, sameCommand }) && isInForce(each, where),
      )?.grant;
    },

    coveringAll(segments, where) {
      const grants = new Set<Grant>();
      for (const segment of segments) {
        if (segment.verdict === "safe") continue;
        const grant = allowlist.covering(segment, where);
        if (grant === undefined) return undefined;
        grants.add(grant);
      }
      return [...grants];
    },

    rememberable: (segments) => rememberable(segments, options.redact),

    async remember(entries, request) {
      if (options.managedBy !== undefined) {
        throw new Error(`command_allowlist is set by ${options.managedBy}, so nothing can be added to it`);
      }
      const wanted = entries.map((text) => entryFor({ text, request, at: now() }));
      const outcome = await addGrants({ home: options.home, entries: wanted, covers: makesNeedless });
      if (!outcome.ok) throw new Error(outcome.message);
      const since = now();
      for (const entry of wanted) held.push({ grant: grantOf(entry, { file: outcome.file }), since });
    },

    hold(entries, request) {
      const since = now();
      for (const text of entries)
        held.push({ grant: grantOf(entryFor({ text, request, at: since })), since });
    },

    countUse: (ids) => {
      if (ids.length > 0) state.count([...new Set(ids)]);
    },
    close: () => state.flush(),
  };
  return allowlist;
}

/** Whether the words of a grant are about this segment, whatever its limits say. */
function isGrantAbout(question: {
  readonly grant: Grant;
  readonly segment: JudgedSegment;
  readonly where: Whereabouts;
  sameCommand(text: string, segment: JudgedSegment): boolean;
}): boolean {
  const { grant, segment, where } = question;
  const { kind, text } = grant;
  const { rule, reason, canonical } = segment;
  if (kind === "rule" || kind === "text") {
    if (text === rule || text === reason || where.keys?.includes(text) === true) return true;
    if (originalWordsMean(text, rule)) return true;
    // A family of rules stands for all of them, but only where nobody can take its name for a command.
    if (kind === "rule") return rule.startsWith(`${text}.`);
  }
  if (grant.tooWide) return false;
  // A line written out from its first to its last character leaves nothing open.
  if (kind !== "pattern" && text === where.command.trim()) return true;
  if (isOpaque(segment)) return false;
  if (isAltered(where)) return false;
  if (kind !== "pattern" && question.sameCommand(text, segment)) return true;
  if (kind === "command" || !hasWildcard(text)) return false;
  return isSimpleCommand(segment.text) && patternCovers(text, canonical);
}

function isInScope(scope: string | undefined, where: Whereabouts): boolean {
  if (scope === undefined) return true;
  const environment = /^environment:(.+)$/.exec(scope)?.[1];
  if (environment !== undefined) return environment === where.environment;
  // A folder is one of this machine.
  if (where.environmentKind !== "local") return false;
  const home = scope === "~" || scope.startsWith("~/");
  const outer = realPathOf(home ? join(homedir(), scope.slice(1)) : scope);
  const folders = foldersOf(where.command, where.cwd, where.moves);
  return isAbsolute(outer) && folders?.every((folder) => isAtOrBelow(realPathOf(folder), outer)) === true;
}

/** A grant is tied to the place where the person gave it. */
function entryFor(wish: { text: string; request: ApprovalRequest; at: number }): GrantEntry {
  const { text, request, at } = wish;
  const isCommand =
    request.remember.includes(text) && request.segments.some((each) => each.canonical === text);
  return {
    ...(isCommand ? { command: text } : { rule: text }),
    scope: request.environmentKind === "local" ? folderOf(request) : `environment:${request.environment}`,
    added: `${new Date(at).toISOString().slice(0, 19)}Z`,
    origin: `always (${request.door})`,
  };
}

function folderOf({ effects, session }: ApprovalRequest): string {
  const effect = effects.find(({ action }) => action === "terminal:execute");
  const cwd = effect?.cwd ?? session.cwd;
  const folders = effect === undefined ? undefined : foldersOf(effect.resource, cwd);
  return (folders?.length === 1 ? folders[0] : undefined) ?? cwd;
}

/** The same words for the same place, not limited in time or number. */
function makesNeedless(written: AllowlistEntry, wanted: GrantEntry): boolean {
  const [old, next] = [grantOf(written), grantOf(wanted)];
  if (old.text !== next.text || (old.kind !== next.kind && old.kind !== "text")) return false;
  if (old.kind === "text" && hasWildcard(old.text)) return false;
  const lasts = old.expiresAt === undefined && old.maxUses === undefined;
  return lasts && (old.scope === undefined || old.scope === next.scope);
}
