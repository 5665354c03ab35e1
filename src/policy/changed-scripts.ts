import { closeSync, lstatSync, openSync, readSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { UNKNOWN } from "../shell/types.js";

/** What a longer file would do is not read: it may be anything. */
const LARGEST = 256 * 1024;
/** How compiled programs and archives begin: ELF, Windows, zip, WebAssembly, Mach-O and Java. */
const COMPILED = ["\x7fELF", "MZ\uFFFD", "PK\x03\x04", "\0asm", "\uFFFD\uFFFD\uFFFD\uFFFD"];
/** File systems keep times by a coarser clock than the one a session is started by. */
const CLOCK_STEP_MS = 50;

/**
 * The text of a file that has been written, changed, moved or linked since a session began; undefined for files that
 * were there before, and for compiled programs. What a session wrote is judged when it is run, as if it had been given
 * in the line.
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
    if (!file.isFile() || Math.max(own.ctimeMs, file.ctimeMs) < since) return undefined;
    const text = beginningOf(path, Math.min(file.size, LARGEST));
    if (COMPILED.some((mark) => text.startsWith(mark)) && text.includes("\0")) return undefined;
    if (file.size > LARGEST) return UNKNOWN;
    // Shells read on behind them.
    return text.replaceAll("\0", "");
  } catch {
    // What cannot be read here cannot be run either, or is judged by its name as before.
    return undefined;
  }
}

function beginningOf(path: string, length: number): string {
  const file = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(length);
    return bytes.toString("utf8", 0, readSync(file, bytes, 0, length, 0));
  } finally {
    closeSync(file);
  }
}
