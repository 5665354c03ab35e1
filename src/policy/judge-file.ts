import { existsSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { isAtOrBelow } from "../base/path.js";
import type { Verdict } from "../call/scope.js";
import { type Homes, type JudgedPlace, judgePlace, otherProfile } from "../places/judge-place.js";
import { plainNames } from "../places/match-place.js";
import { PLACE_KINDS, type PlaceRow } from "../places/table.js";
import type { Effect } from "../tool/effects.js";
import type { SessionInfo } from "../tool/tool.js";
import { realPathOf } from "./real-path.js";

export interface FileRules {
  readonly hermesHome: string;
  /** Set when nobody knows a call's working folder: then writing outside it is not asked about. */
  readonly anyFolder?: boolean | undefined;
  /** Folders outside of which nothing is written, whoever says yes; none means that there is no such limit. */
  readonly writeRoots?: readonly string[] | undefined;
}

export interface FileQuestion {
  readonly effect: Effect;
  readonly session: Pick<SessionInfo, "cwd" | "workspace">;
  readonly home: string;
  /** False when the path is on another machine or in a container: nothing of it can be looked at from here. */
  readonly isLocal: boolean;
  /** True when a rule has opened this place by its path. */
  readonly opened: boolean;
}

/** What the table of places and the working folder say of touching one file; undefined when nothing is said. */
export function judgeFile(question: FileQuestion, rules: FileRules): Verdict | undefined {
  const { effect, isLocal, session } = question;
  const real = (path: string) => (isLocal ? realPathOf(path) : path);
  const path = real(effect.resource);
  const homes: Homes = { hermesHome: real(rules.hermesHome), home: real(question.home) };
  const reads = effect.mode === "read";
  if (!reads) {
    const refused = refusedWrite({ path, question, rules, homes });
    if (refused !== undefined) return refused;
  }
  // A link's own name counts too: whoever reads `.bashrc` later follows it.
  const names = path === effect.resource ? [path] : [path, effect.resource];
  if (isLocal) names.push(...namesLeadingTo(path, homes));
  const worst = strictestPlace(names, { effect, homes, isLocal });
  if (worst !== undefined) return verdictOn(worst, path);
  if (reads || question.opened || rules.anyFolder === true) return undefined;
  const workspace = real(session.workspace);
  if (isAtOrBelow(path, workspace) || isAtOrBelow(path, real(tmpdir()))) return undefined;
  const reason = `writes outside the working folder ${workspace}: ${path}`;
  return {
    verdict: "ask",
    rule: "file.write-outside",
    reason,
    grantKeys: [`file.write-outside:${dirname(path)}`],
  };
}

interface FoundPlace extends JudgedPlace {
  readonly name: string;
  readonly operation: "read" | "write";
}

interface Touching {
  readonly effect: Effect;
  readonly homes: Homes;
  readonly isLocal: boolean;
}

function strictestPlace(
  names: readonly string[],
  { effect, homes, isLocal }: Touching,
): FoundPlace | undefined {
  const { mode, shown = mode === "read" } = effect;
  const judged = names.flatMap((name): FoundPlace[] => {
    const read = {
      name,
      operation: "read",
      ...judgePlace({ path: name, operation: "read", ...homes }),
    } as const;
    // What nobody may see can be asked about, if the tool hides the values.
    if (mode === "read") return [read.verdict === "deny" && !shown ? { ...read, verdict: "ask" } : read];
    const write = {
      name,
      operation: "write",
      ...judgePlace({ path: name, operation: "write", ...homes }),
    } as const;
    return shown && read.verdict === "deny" ? [read, write] : [write];
  });
  const place =
    judged.find(({ verdict }) => verdict === "deny") ?? judged.find(({ verdict }) => verdict === "ask");
  if (place !== undefined || mode === "read" || !isLocal) return place;
  const name = names.find(isInRepository);
  return name === undefined
    ? undefined
    : { name, operation: "write", verdict: "ask", what: "git", words: PLACE_KINDS.git };
}

function verdictOn({ verdict, operation, words, name }: FoundPlace, path: string): Verdict {
  const rule = operation === "read" ? "file.read-secret" : "file.write-protected";
  const reason = `${operation}s ${words}: ${name}`;
  if (verdict === "deny") return { verdict, rule, reason };
  return { verdict: "ask", rule, reason, grantKeys: [`${rule}:${path}`], personOnly: true };
}

/** Writes that are refused whatever the table says. */
function refusedWrite(write: {
  readonly path: string;
  readonly question: FileQuestion;
  readonly rules: FileRules;
  readonly homes: Homes;
}): Verdict | undefined {
  const { path, question, rules, homes } = write;
  const profile = otherProfile(path, homes);
  if (profile !== undefined && question.effect.crossProfile !== true) {
    const reason = `${path} belongs to another profile (${JSON.stringify(profile)}); only if the person asked for exactly this, call again with cross_profile: true`;
    return { verdict: "deny", rule: "file.other-profile", reason };
  }
  const { writeRoots = [] } = rules;
  if (writeRoots.length === 0) return undefined;
  const inside = writeRoots.some((root) => {
    const named = root.replace(/^~(?=\/|$)/, question.home);
    const folder = resolve(question.session.cwd, named);
    return isAtOrBelow(path, question.isLocal ? realPathOf(folder) : folder);
  });
  if (inside) return undefined;
  const reason = `${path} is outside the folders where writing is allowed: ${writeRoots.join(", ")}`;
  return { verdict: "deny", rule: "file.write-safe-root", reason };
}

/** Hooks and settings of any folder that is a repository's without being called so. */
function isInRepository(path: string): boolean {
  const [, folder] =
    /^(.*)\/(?:hooks\/.+|config(?:\.worktree)?|gitdir|commondir|(?:info\/)?attributes)$/i.exec(path) ?? [];
  return (
    folder !== undefined &&
    existsSync(`${folder}/HEAD`) &&
    (existsSync(`${folder}/objects`) || existsSync(`${folder}/commondir`))
  );
}

/** A protected place may itself be a link (`~/.ssh` → `/data/keys`): then what it leads to has its name as well. */
function namesLeadingTo(path: string, homes: Homes): readonly string[] {
  return linkedPlaces(homes).flatMap(({ place, target }) =>
    isAtOrBelow(path, target) ? [place + path.slice(target.length)] : [],
  );
}

interface LinkedPlace {
  readonly place: string;
  readonly target: string;
}

let looked: { readonly key: string; readonly at: number; readonly links: readonly LinkedPlace[] } | undefined;
const LOOK_AGAIN_MS = 1_000;

/** Looked up again when the home has changed, and now and then: a link is made there only by who may write there. */
function linkedPlaces(homes: Homes): readonly LinkedPlace[] {
  const stats = statSync(homes.home, { throwIfNoEntry: false });
  const key = [homes.home, homes.hermesHome, stats?.ino, stats?.mtimeMs].join("\n");
  if (looked?.key === key && Date.now() - looked.at < LOOK_AGAIN_MS) return looked.links;
  const places = [
    ...plainNames("~/", isProtected).map((name) => join(homes.home, name)),
    ...plainNames("$HERMES", isProtected).map((name) => join(homes.hermesHome, name)),
    ...plainNames("/", ({ write }) => write === "deny").map((name) => `/${name}`),
  ];
  const links = places.flatMap((place) => {
    const target = realPathOf(place);
    return target === place ? [] : [{ place, target }];
  });
  looked = { key, at: Date.now(), links };
  return links;
}

function isProtected({ read, write }: PlaceRow): boolean {
  return read !== "allow" || write !== "allow";
}
