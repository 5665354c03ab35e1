import { lstatSync, readFileSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";

/** Longer files are no scripts that somebody wrote in passing. */
const LARGEST = 256 * 1024;
/** File systems keep times by a coarser clock than the one a session is started by. */
const CLOCK_STEP_MS = 50;

/**
 * The text of a file that has been written, changed, moved or linked since a session began; undefined for files that
 * were there before. What a session wrote is judged when it is run, as if it had been given in the line.
 */
export function changedScripts(session: {
  readonly cwd: string;
  readonly home: string;
  readonly since: number;
}): (path: string) => string | undefined {
  return (path) => {
    const place = path.startsWith("~/") ? join(session.home, path.slice(2)) : path;
    return textSince(isAbsolute(place) ? place : join(session.cwd, place), session.since - CLOCK_STEP_MS);
  };
}

function textSince(path: string, since: number): string | undefined {
  try {
    const own = lstatSync(path, { throwIfNoEntry: false });
    if (own === undefined) return undefined;
    const file = own.isSymbolicLink() ? statSync(path) : own;
    if (!file.isFile() || file.size > LARGEST || Math.max(own.ctimeMs, file.ctimeMs) < since)
      return undefined;
    const text = readFileSync(path, "utf8");
    return text.includes("\0") ? undefined : text;
  } catch {
    // What cannot be read here cannot be run either, or is judged by its name as before.
    return undefined;
  }
}
