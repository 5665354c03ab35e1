import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { lstat, readdir, readFile, readlink, realpath } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { errnoOf } from "../../base/errno.js";
import { isAtOrBelow } from "../../base/path.js";

export interface Fingerprint {
  /** SHA-256 over names and content of all files. */
  readonly hash: string;
  /** Relative to the folder, sorted. */
  readonly files: readonly { readonly path: string; readonly bytes: number }[];
  /** Real path → SHA-256 of its content, without links. */
  readonly contents: ReadonlyMap<string, string>;
}

/** Installed packages and version control are not what the author wrote. */
const NOT_COVERED: ReadonlySet<string> = new Set(["node_modules", ".git"]);
const MAX_FILES = 5_000;
const MAX_BYTES = 256 * 1024 * 1024;

/** Whether a path relative to the folder is among what its fingerprint covers. */
export function isCovered(path: string): boolean {
  return !path.split(sep).some((part) => NOT_COVERED.has(part));
}

/** Throws when the folder cannot be covered: too much in it, or a link that leads out of it. */
export async function fingerprintOf(folder: string): Promise<Fingerprint> {
  const root = await realpath(folder);
  const own = await filesBelow(root, root);
  const paths = [...new Set([...own, ...(await filesOfPackages(root, own))])].sort();
  const total = createHash("sha256");
  const files: { path: string; bytes: number }[] = [];
  const contents = new Map<string, string>();
  let bytes = 0;
  for (const path of paths) {
    const file = join(root, path);
    const read = await readOne(file).catch(unlessGone);
    if (read === undefined) continue;
    bytes += read.bytes;
    if (bytes > MAX_BYTES) {
      throw new Error(`its files take more than ${MAX_BYTES / 1024 / 1024} MB; keep data elsewhere`);
    }
    if (!read.isLink) contents.set(file, read.content);
    total.update(`${JSON.stringify([path, read.content])}\n`);
    files.push({ path, bytes: read.bytes });
  }
  return { hash: total.digest("hex"), files, contents };
}

/** `./node_modules/x/y.js` in a module: reached by its path, the package is a part of the plugin like its own files. */
const PATH_IMPORT = /["'`](\.{1,2}\/[^"'`\n]*?node_modules\/(?:@[^/"'`]+\/)?[^/"'`\n]+)/g;
const MODULE = /\.[cm]?[jt]sx?$/;
const LONGEST_MODULE = 4 * 1024 * 1024;

async function filesOfPackages(root: string, own: readonly string[]): Promise<readonly string[]> {
  const folders = new Set<string>();
  for (const path of own.filter((each) => MODULE.test(each))) {
    const file = join(root, path);
    if ((await lstat(file).catch(unlessGone))?.isFile() !== true) continue;
    const text = (await readFile(file, "utf8").catch(unlessGone)) ?? "";
    for (const [, found = ""] of text.slice(0, LONGEST_MODULE).matchAll(PATH_IMPORT)) {
      const target = join(dirname(file), found);
      if (!isAtOrBelow(target, root)) continue;
      folders.add(
        (await lstat(target).catch(() => undefined))?.isDirectory() === true ? target : dirname(target),
      );
    }
  }
  const lists = await Promise.all([...folders].map((folder) => filesBelow(root, folder)));
  return lists.flat();
}

async function readOne(file: string) {
  const status = await lstat(file);
  const isLink = status.isSymbolicLink();
  // What is far too big is not read to its end first.
  const isTooBig = !isLink && status.size > MAX_BYTES;
  const content = isLink ? `link:${await readlink(file)}` : isTooBig ? "" : await hashOf(file);
  return { isLink, content, bytes: status.size };
}

/** Editors write files beside the one they save and remove them: what is gone again was never a part of it. */
function unlessGone(error: unknown): undefined {
  if (errnoOf(error) === "ENOENT") return undefined;
  throw error;
}

async function filesBelow(root: string, folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of (await readdir(folder, { withFileTypes: true }).catch(unlessGone)) ?? []) {
    if (NOT_COVERED.has(entry.name)) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) found.push(...(await filesBelow(root, path)));
    else if (entry.isFile()) found.push(relative(root, path));
    else if (entry.isSymbolicLink()) {
      if (!isAtOrBelow(await realpath(path).catch(() => path), root)) {
        throw new Error(`${relative(root, path)} is a link that leads out of the plugin's folder`);
      }
      found.push(relative(root, path));
    }
    if (found.length > MAX_FILES) throw new Error(`it has more than ${MAX_FILES} files; keep data elsewhere`);
  }
  return found;
}

function hashOf(file: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const hash = createHash("sha256");
    createReadStream(file)
      .on("error", reject)
      .on("data", (chunk) => hash.update(chunk))
      .on("end", () => resolve(hash.digest("hex")));
  });
}
