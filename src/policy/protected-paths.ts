import { existsSync } from "node:fs";
import { foldPath, isAtOrBelow } from "../base/path.js";
import {
  ENV_EXAMPLES,
  HOME_CREDENTIALS,
  HOME_STARTUP,
  PROJECT_RUNNER_NAMES,
  PROJECT_RUNNERS,
  QUIET_DEVICES,
  SECRET_NAMES,
  SYSTEM_FOLDERS,
} from "./paths/protected-names.js";

export interface Places {
  readonly hermesHome: string;
  /** The person's home in the environment that is written to. */
  readonly home: string;
}

/**
 * Why a write to this path should be seen by a person first. Names are protected, whether or not there is a
 * file yet, in every spelling that some disk takes for the same.
 */
export function protectedWrite(path: string, places: Places): string | undefined {
  const folded = foldPath(path);
  if (isWithin(path, places.hermesHome)) return "Hermes' own files";
  if (beginsWithAny(folded.slice(1), SYSTEM_FOLDERS) && !QUIET_DEVICES.has(folded)) return "a system folder";
  const segments = folded.split("/");
  if (segments.includes(".hermes")) return "a project's Hermes settings and tools, which run later";
  if (isGitControl(path, segments)) return "git hooks and settings run later, outside this check";
  if (isRunner(segments)) return "a file that other programs run later";
  if (inHome(path, folded, places.home, HOME_STARTUP)) return "a start-up file or setting of other programs";
  return credentialPath(path, folded, places.home);
}

/** Why reading this path would show secrets. */
export function protectedRead(path: string, places: Places): string | undefined {
  const own = [
    ".env",
    "server.token",
    "mcp-tokens",
    "pairing",
    "approvals.key",
    "state.db",
    "state.db-wal",
  ].some((name) => isWithin(path, `${places.hermesHome}/${name}`));
  if (own) return "Hermes' own credentials";
  const folded = foldPath(path);
  if (/^\/etc\/(?:g?shadow-?|sudoers(?:$|\.d\/)|ssl\/private|ssh\/ssh_host_)/.test(folded))
    return "a credential file of the system";
  if (/^\/proc\/[^/]+\/(?:task\/\d+\/)?(?:environ|mem)$/.test(folded)) return "the memory of a program";
  return credentialPath(path, folded, places.home);
}

function credentialPath(path: string, folded: string, home: string): string | undefined {
  if (inHome(path, folded, home, HOME_CREDENTIALS)) return "a credential store";
  const name = folded.slice(folded.lastIndexOf("/") + 1);
  const example = ENV_EXAMPLES.has(name.replace(/^\.env\./, ""));
  return SECRET_NAMES.has(name) || (name.startsWith(".env.") && !example) ? "a file of secrets" : undefined;
}

/** Below the home in use, or below what looks like anybody's. */
function inHome(path: string, folded: string, home: string, names: ReadonlySet<string>): boolean {
  const rest = isWithin(path, home)
    ? folded.slice(foldPath(home).length)
    : /^\/(?:root|(?:home|users)\/[^/]+)(\/.*)$/.exec(folded)?.[1];
  return rest !== undefined && beginsWithAny(rest.replace(/^\/+/, ""), names);
}

/** Whether the path is, or lies below, one of these; none of them has more than four segments. */
function beginsWithAny(path: string, names: ReadonlySet<string>): boolean {
  let end = path.indexOf("/");
  for (let depth = 0; depth < 4 && end !== -1; depth += 1) {
    if (names.has(path.slice(0, end))) return true;
    end = path.indexOf("/", end + 1);
  }
  return end === -1 && names.has(path);
}

function isRunner(segments: readonly string[]): boolean {
  if (PROJECT_RUNNER_NAMES.has(segments.at(-1) ?? "")) return true;
  return segments.some((segment, index) => {
    if (segment === ".github") return ["workflows", "actions"].includes(segments[index + 1] ?? "");
    const runner = PROJECT_RUNNERS.find(([folder]) => folder === segment);
    const next = segments[index + 1];
    return runner !== undefined && next !== undefined && (runner[1].length === 0 || runner[1].includes(next));
  });
}

/**
 * Hooks and settings of a repository: inside `.git` (also of submodules and worktrees), of a bare `x.git`, or of
 * any folder that is a repository's without being called so. `.git` itself may be a file that points elsewhere.
 */
function isGitControl(path: string, segments: readonly string[]): boolean {
  const last = segments.length - 1;
  if (segments[last] === ".git") return true;
  const written = path.split("/");
  return segments.some((segment, index) => {
    const isHook = segment === "hooks" && index < last;
    const isSetting =
      index === last && /^(?:config(?:\.worktree)?|gitdir|commondir|attributes)$/.test(segment);
    if (!isHook && !isSetting) return false;
    if (segments.slice(0, index).some((folder) => folder.endsWith(".git"))) return true;
    const folder = written.slice(0, index).join("/");
    return (
      existsSync(`${folder}/HEAD`) && (existsSync(`${folder}/objects`) || existsSync(`${folder}/commondir`))
    );
  });
}

/** For what a place forbids, without case and after NFC: on some disks `.SSH` is `.ssh`. */
export function isWithin(path: string, folder: string): boolean {
  return isAtOrBelow(foldPath(path), foldPath(folder));
}
