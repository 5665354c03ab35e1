import { join, resolve } from "node:path";
import { isAtOrBelow, isBelow } from "../../base/path.js";
import { ToolError } from "../../tool/errors.js";
import { realPath } from "./real-path.js";

export interface RootRequest {
  readonly workspace: string | undefined;
  /** From the configuration. */
  readonly configured: readonly string[];
  /** Asked for by this call. */
  readonly widened: readonly string[];
  /** What `~` means; the first of the homes. */
  readonly homes: readonly [string, ...string[]];
}

export interface WritableRoots {
  /** Real paths; none lies inside another. Protected names are looked for in these. */
  readonly roots: readonly string[];
  /** Real paths that somebody named on purpose. */
  readonly named: readonly string[];
  /** Of those, what exists and needs a mount of its own. */
  readonly mounted: readonly string[];
}

/** The real paths a command may change. */
export function writableRoots(request: RootRequest): WritableRoots {
  const { homes } = request;
  const [home] = homes;
  const workspace = request.workspace === undefined ? undefined : realPath(request.workspace);
  const configured = request.configured.map((path) => realPath(expand(path, home)));
  // Everything below the home folder would include keys and start-up files, whose names nobody can list.
  const usable = [workspace, ...configured]
    .filter((path) => path !== undefined)
    .filter((path) => !isTooWide(path, homes));
  const named = usable.filter((path) => path !== workspace);
  const mounted = [...usable];
  for (const path of request.widened) {
    const expanded = expand(path, home);
    const real = realPath(expanded);
    // What the person was shown must be what is opened.
    if (real !== undefined && real !== expanded) throw leadsElsewhere(path, real);
    if (real !== undefined && isTooWide(real, homes)) throw tooWide(path);
    const missing = real === undefined ? placeOfMissing(expanded, usable) : undefined;
    const place = real ?? missing;
    if (place === undefined) throw cannotWiden(path);
    named.push(place);
    if (real !== undefined) mounted.push(real);
  }
  const roots = [...new Set(mounted)].filter((path) => !mounted.some((other) => isBelow(path, other)));
  return { roots, named, mounted: [...new Set(mounted)] };
}

function isTooWide(path: string, homes: readonly string[]): boolean {
  return path === "/" || homes.some((home) => isAtOrBelow(home, path));
}

export function expand(path: string, home: string): string {
  if (path === "~") return home;
  return path.startsWith("~/") ? join(home, path.slice(2)) : resolve(path);
}

/** What does not exist can only be opened inside a folder that may be changed, where it will be made. */
function placeOfMissing(path: string, roots: readonly string[]): string | undefined {
  const parent = realPath(resolve(path, ".."));
  if (parent === undefined) return undefined;
  const place = join(parent, path.slice(path.lastIndexOf("/") + 1));
  return roots.some((root) => isBelow(place, root)) ? place : undefined;
}

function tooWide(path: string): ToolError {
  return new ToolError(`The sandbox cannot open ${path} for writing: your home folder lies in it.`, {
    code: "invalid_arguments",
    hint: "Name the folder the command really changes.",
  });
}

function leadsElsewhere(path: string, real: string): ToolError {
  return new ToolError(`The sandbox cannot open ${path} for writing: it leads to ${real}.`, {
    code: "invalid_arguments",
    hint: "Name that place itself.",
  });
}

function cannotWiden(path: string): ToolError {
  return new ToolError(`The sandbox cannot open ${path} for writing: it does not exist.`, {
    code: "invalid_arguments",
    hint: "Name an existing file or folder, such as the folder in which it will be made.",
  });
}
