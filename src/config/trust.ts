import { readFileSync, realpathSync } from "node:fs";
import { parse, resolve, sep } from "node:path";
import { replaceFile } from "../base/atomic-write.js";
import { isAtOrBelow } from "../base/path.js";
import { type Failure, failure } from "../tool/errors.js";
import { confirmWritten } from "./confirmed-files.js";
import { withFileLock } from "./lock.js";
import { hermesPaths } from "./paths.js";

/** Folders whose own settings and tools may be used, with everything below them. */
export interface FolderQuestion {
  readonly home: string;
  readonly folder: string;
}

/** Both sides are real paths, so a link into or out of a trusted folder changes nothing. */
export function isTrusted({ home, folder }: FolderQuestion): boolean {
  const trusted = trustedFolders(home);
  if (trusted.length === 0) return false;
  const real = realPath(folder);
  return real !== undefined && trusted.some((root) => isAtOrBelow(real, root));
}

export function trustedFolders(home: string): string[] {
  // What follows the last line break may be half a path, which would trust everything around the folder that is meant.
  return readLines(hermesPaths(home).trustedFolders)
    .slice(0, -1)
    .map((line) => line.trim())
    .filter((line) => line.startsWith(sep) || /^[A-Za-z]:\\/.test(line));
}

export type TrustChange = { readonly ok: true; readonly folder: string } | ({ readonly ok: false } & Failure);

export async function trustFolder({ home, folder }: FolderQuestion): Promise<TrustChange> {
  const real = realPath(folder);
  if (real === undefined) {
    return refuse("not_found", `${folder} does not exist`, "trust a folder that is there");
  }
  if (real === parse(real).root) {
    return refuse("bad_request", "the root folder would trust every project", "trust single project folders");
  }
  if (/[\r\n]/.test(real)) {
    return refuse("bad_request", "a folder with a line break in its name cannot be trusted", "rename it");
  }
  return change(home, (lines) =>
    lines.some((line) => line.trim() === real) ? lines : [...lines, real],
  ).then((problem) => problem ?? { ok: true, folder: real });
}

/** Also works for a folder that is gone. A folder inside another trusted one stays trusted. */
export async function untrustFolder({ home, folder }: FolderQuestion): Promise<TrustChange> {
  const real = realPath(folder) ?? resolve(folder);
  if (!trustedFolders(home).includes(real)) {
    const above = trustedFolders(home).find((root) => isAtOrBelow(real, root));
    const hint = above ? `it is trusted because of ${above}` : "it was not trusted";
    return refuse("not_found", `${real} is not in the list of trusted folders`, hint);
  }
  return change(home, (lines) => lines.filter((line) => line.trim() !== real)).then(
    (problem) => problem ?? { ok: true, folder: real },
  );
}

async function change(
  home: string,
  edit: (lines: string[]) => string[],
): Promise<({ ok: false } & Failure) | undefined> {
  const file = hermesPaths(home).trustedFolders;
  const outcome = await withFileLock(file, async () => {
    const lines = edit(readLines(file).filter((line, index, all) => line !== "" || index < all.length - 1));
    const data = lines.length === 0 ? "" : `${lines.join("\n")}\n`;
    await replaceFile({ path: file, data, mode: 0o600 });
    await confirmWritten(home, file, data);
    return undefined;
  });
  return outcome === undefined ? undefined : { ok: false, ...outcome };
}

function refuse(code: "bad_request" | "not_found", message: string, hint: string): TrustChange {
  return { ok: false, ...failure(code, message, hint) };
}

function realPath(folder: string): string | undefined {
  try {
    return realpathSync(folder);
  } catch {
    return undefined;
  }
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, "utf8").split(/\r?\n/);
  } catch {
    return [];
  }
}
