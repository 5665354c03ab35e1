import { posix } from "node:path";
import { type FileView, realFiles } from "./file-view.js";

export interface ResolvedPath {
  readonly ok: true;
  /** Absolute, `.` and `..` taken away by text alone: what most programs make of it. */
  readonly name: string;
  /** Every place it can lead to: links followed the way the kernel does, for the text and for the name. */
  readonly places: readonly string[];
}

export interface UnusablePath {
  readonly ok: false;
  /** `nul`, `blank`, `loop` …: short and stable. */
  readonly rule: string;
  readonly reason: string;
}

const MAX_PATH_BYTES = 4095;
const MAX_NAME_BYTES = 255;
const MAX_LINKS = 40;

/** Names that mean whatever the process that opens them has open: they cannot be judged beforehand. */
const PROCESS_DOOR =
  /^\/(?:proc\/(?:self|thread-self|\d+)(?:\/task\/\d+)?\/(?:root|cwd|exe|fd|fdinfo|map_files|ns|environ|mem)|dev\/(?:fd|stdin|stdout|stderr))(?:\/|$)/;

/** Where a path leads, existing or not. A path that cannot be understood is refused, never guessed. */
export function resolvePath(question: {
  readonly path: unknown;
  readonly cwd: string;
  readonly home: string;
  readonly files?: FileView | undefined;
}): ResolvedPath | UnusablePath {
  const { path, cwd, home, files = realFiles } = question;
  const malformed = complaintAbout(path);
  if (malformed !== undefined) return malformed;
  const written = absolute(String(path), cwd, home);
  if (Buffer.byteLength(written) > MAX_PATH_BYTES) return refused("too-long", "the path is too long");
  const name = posix
    .normalize(written)
    .replace(/^\/+/, "/")
    .replace(/(?<=.)\/+$/, "");
  const texts = /(?:^|\/)\.\.(?:\/|$)/.test(written) ? [written, name] : [name];
  const places: string[] = [];
  for (const text of texts) {
    const place = followLinks(text, files);
    if (typeof place !== "string") return place;
    if (!places.includes(place)) places.push(place);
  }
  return { ok: true, name, places };
}

/** Why this is no path that could be judged. */
function complaintAbout(path: unknown): UnusablePath | undefined {
  if (typeof path !== "string") return refused("not-text", "the path is not a text");
  if (path.trim() === "") return refused("blank", "the path is empty");
  if (path.includes("\0")) return refused("nul", "the path holds a NUL character");
  if (path.includes("\\")) {
    return refused("backslash", "the path holds a backslash, which programs read in different ways");
  }
  if (!isWellFormed(path)) return refused("not-unicode", "the path is not valid Unicode");
  if (/^~[^/]/.test(path) && /^~(?:[+-]|[A-Za-z_][\w.-]*)(?:\/|$)/.test(path)) {
    return refused("other-home", "the path begins with somebody's home in a spelling that only shells know");
  }
  if (/^[A-Za-z][A-Za-z0-9+.-]*:\/\//.test(path)) return refused("url", "it is a URL and not a path");
  return undefined;
}

/** Half of a surrogate pair becomes another name on its way to the disk. */
function isWellFormed(text: string): boolean {
  return !/[\ud800-\udfff]/.test(text) || Buffer.from(text).toString() === text;
}

function absolute(path: string, cwd: string, home: string): string {
  if (path === "~" || path.startsWith("~/")) return `${home}/${path.slice(2)}`;
  return path.startsWith("/") ? path : `${cwd}/${path}`;
}

/** The walk the kernel would do, also through links that lead nowhere yet. */
export function followLinks(path: string, files: FileView = realFiles): string | UnusablePath {
  const pending = path.split("/").reverse();
  const place: string[] = [];
  let missingBelow = Number.POSITIVE_INFINITY;
  let links = 0;
  while (pending.length > 0) {
    const segment = pending.pop() ?? "";
    if (segment === "" || segment === ".") continue;
    if (segment === "..") {
      place.pop();
      if (place.length < missingBelow) missingBelow = Number.POSITIVE_INFINITY;
      continue;
    }
    if (Buffer.byteLength(segment) > MAX_NAME_BYTES) return refused("too-long", "a name in it is too long");
    place.push(segment);
    const here = `/${place.join("/")}`;
    if (PROCESS_DOOR.test(here)) {
      return refused("process-door", `${here} means something else in every process`);
    }
    if (place.length > missingBelow) continue;
    const seen = files.look(here);
    if (seen.kind === "unreadable") return refused("unreadable", `${here} cannot be looked at`);
    if (seen.kind === "missing") missingBelow = Math.min(missingBelow, place.length);
    if (seen.kind !== "link") continue;
    links += 1;
    if (links > MAX_LINKS) return refused("loop", "its links lead in a circle");
    if (seen.target.startsWith("/")) place.length = 0;
    else place.pop();
    pending.push(...seen.target.split("/").reverse());
  }
  return `/${place.join("/")}`;
}

function refused(rule: string, reason: string): UnusablePath {
  return { ok: false, rule, reason };
}
