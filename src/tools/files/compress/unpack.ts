import { randomBytes } from "node:crypto";
import { dirname, join } from "node:path/posix";
import { isAtOrBelow } from "../../../base/path.js";
import type { FileStat } from "../../../env/environment.js";
import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import { refuseProtectedWrite } from "../path-guard.js";
import { trackerOf } from "../read-tracker.js";
import { refusal, UnpackBudget } from "./limits.js";
import { type Archive, type Entry, safeEntries } from "./read-entries.js";

const WRITES_AT_ONCE = 8;
const WAITING_BYTES = 64 * 1024 * 1024;

export interface Unpacking {
  readonly archive: Archive;
  /** A real path; made when it is missing. */
  readonly folder: string;
  readonly overwrite: boolean;
  readonly skipLinks: boolean;
  readonly ctx: CallContext;
}

export interface Unpacked {
  readonly entries: number;
  readonly bytes: number;
  readonly replaced: number;
  readonly skipped: readonly { readonly path: string; readonly why: string }[];
}

interface Plan {
  readonly files: readonly Entry[];
  /** Folders that hold nothing and are not there yet. */
  readonly emptyFolders: readonly string[];
  /** Files that are there already. */
  readonly existing: ReadonlySet<string>;
  readonly skipped: readonly { readonly path: string; readonly why: string }[];
  readonly bytes: number;
}

/** Everything is read and checked once before the first file is written; a failure later takes all of it back. */
export async function unpack(unpacking: Unpacking): Promise<Unpacked> {
  const { archive, folder, ctx } = unpacking;
  const plan = await makePlan(unpacking);
  const written = new Undoable(folder, ctx);
  try {
    await writeFiles({ unpacking, plan, written });
    for (const name of plan.emptyFolders) await makeFolder(join(folder, name), written, ctx);
  } catch (error) {
    const left = await written.takeBack();
    if (left.length === 0) throw error;
    throw new ToolError(
      `${archive.path} could not be unpacked, and some of it is left: ${left.join(", ")}.`,
      {
        hint: "Remove these files before you try again.",
        cause: error,
      },
    );
  }
  return {
    entries: plan.files.length + plan.emptyFolders.length,
    bytes: plan.bytes,
    replaced: plan.existing.size,
    skipped: plan.skipped,
  };
}

async function makePlan(unpacking: Unpacking): Promise<Plan> {
  const { archive, folder, ctx } = unpacking;
  const budget = new UnpackBudget(archive, ctx.settings);
  const files: Entry[] = [];
  const folders: string[] = [];
  const skipped: { path: string; why: string }[] = [];
  for await (const entry of safeEntries({ archive, budget, content: "check", ctx })) {
    if (entry.type === "file") files.push(entry);
    else if (entry.type === "directory") folders.push(entry.name);
    else if (unpacking.skipLinks) skipped.push({ path: entry.name, why: `a link to ${entry.target ?? "?"}` });
    else {
      throw refusal(
        archive.path,
        `its entry ${JSON.stringify(entry.name)} is a link (to ${JSON.stringify(entry.target ?? "")}), and links are never made`,
        "Unpack the rest of it with skip_links: true.",
      );
    }
  }
  for (const { name } of files) refuseProtectedWrite(join(folder, name), ctx);
  const tree = new TargetTree(folder, ctx);
  const existing = new Set<string>();
  for (const { name } of files) {
    const found = await tree.find(name);
    if (found === undefined) continue;
    if (found !== "file") throw inTheWay(join(folder, name), found);
    existing.add(name);
  }
  if (existing.size > 0 && !unpacking.overwrite) throw wouldReplace([...existing], folder);
  const filled = new Set(files.flatMap(({ name }) => foldersAbove(name)));
  const emptyFolders: string[] = [];
  for (const name of folders) {
    if (filled.has(name)) continue;
    const found = await tree.find(name);
    if (found === undefined) emptyFolders.push(name);
    else if (found !== "directory") throw inTheWay(join(folder, name), found);
  }
  return { files, emptyFolders, existing, skipped, bytes: budget.bytes };
}

function foldersAbove(name: string): string[] {
  const found: string[] = [];
  for (let above = dirname(name); above !== "."; above = dirname(above)) found.push(above);
  return found;
}

function wouldReplace(names: readonly string[], folder: string): ToolError {
  const shown = names.slice(0, 5).map((name) => join(folder, name));
  const more = names.length > shown.length ? ` and ${names.length - shown.length} more` : "";
  return new ToolError(`Nothing was unpacked: ${shown.join(", ")}${more} would be replaced.`, {
    code: "failed",
    hint: "Unpack to another folder (output), or set overwrite: true when that is meant.",
    details: { existing: names.slice(0, 100) },
  });
}

async function writeFiles(work: {
  readonly unpacking: Unpacking;
  readonly plan: Plan;
  readonly written: Undoable;
}): Promise<void> {
  const { unpacking, plan, written } = work;
  const { archive, ctx, folder } = unpacking;
  const budget = new UnpackBudget(archive, ctx.settings);
  const running = new Set<Promise<void>>();
  let waiting = 0;
  let done = 0;
  let problem: unknown;
  try {
    for await (const entry of safeEntries({ archive, budget, content: "keep", ctx })) {
      if (problem !== undefined) throw problem;
      if (entry.type !== "file" || entry.data === undefined) continue;
      const { name, data, mode } = entry;
      waiting += data.length;
      const writing = written
        .write({
          path: join(folder, name),
          data,
          existed: plan.existing.has(name),
          // Nothing a stranger may write to, nothing the owner cannot read.
          ...(mode !== undefined && { mode: (mode & 0o755) | 0o600 }),
        })
        .catch((error: unknown) => {
          problem ??= error;
        })
        .finally(() => {
          running.delete(writing);
          waiting -= data.length;
          done++;
        });
      running.add(writing);
      while (running.size >= WRITES_AT_ONCE || (waiting > WAITING_BYTES && running.size > 0)) {
        await Promise.race(running);
      }
      ctx.progress({ message: name, fraction: done / plan.files.length });
    }
  } finally {
    await Promise.all(running);
  }
  if (problem !== undefined) throw problem;
}

/** A folder is made with the first file in it; this one goes away again. */
async function makeFolder(path: string, written: Undoable, ctx: CallContext): Promise<void> {
  const placeholder = join(path, `.hermes-${randomBytes(6).toString("hex")}.tmp`);
  await written.write({ path: placeholder, data: new Uint8Array(), existed: false });
  await ctx.environment.files.remove(placeholder);
}

type Listing = ReadonlyMap<string, FileStat["type"]>;

/** What lies already where an archive is about to be unpacked; each folder is looked at once. */
class TargetTree {
  readonly #root: string;
  readonly #ctx: CallContext;
  readonly #listings = new Map<string, Promise<Listing | undefined>>();

  /** `root` is a real path. */
  constructor(root: string, ctx: CallContext) {
    this.#root = root;
    this.#ctx = ctx;
  }

  /** What is there under this name; a link or a file in the place of a folder on the way is an error. */
  async find(name: string): Promise<FileStat["type"] | undefined> {
    const folder = dirname(name);
    if (folder !== ".") {
      const above = await this.find(folder);
      if (above === undefined) return undefined;
      if (above !== "directory") throw inTheWay(join(this.#root, folder), above);
    }
    const listing = await this.#list(folder === "." ? "" : folder);
    return listing?.get(name.slice(name.lastIndexOf("/") + 1));
  }

  #list(folder: string): Promise<Listing | undefined> {
    let listing = this.#listings.get(folder);
    if (listing === undefined) {
      listing = this.#read(join(this.#root, folder));
      this.#listings.set(folder, listing);
    }
    return listing;
  }

  async #read(path: string): Promise<Listing | undefined> {
    const { files } = this.#ctx.environment;
    const stat = await files.stat(path);
    if (stat === undefined) return undefined;
    if (stat.type !== "directory") throw inTheWay(path, stat.type);
    return new Map((await files.list(path)).map(({ name, type }) => [name, type]));
  }
}

function inTheWay(path: string, type: FileStat["type"]): ToolError {
  const what = { file: "a file", directory: "a folder", symlink: "a link", other: "a device" }[type];
  return new ToolError(`Nothing was unpacked: ${path} is ${what} and in the way.`, {
    code: "denied",
    hint: "Unpack to another folder (output), or ask the person to move it.",
    details: { path },
  });
}

interface Written {
  readonly path: string;
  /** What was there before; undefined when nothing was. */
  readonly before: { readonly data: Uint8Array; readonly mode: number } | undefined;
}

/** Files written together: when one of them fails, the others go back to what they were. */
class Undoable {
  readonly #folder: string;
  readonly #ctx: CallContext;
  readonly #written: Written[] = [];
  /** Folders that were not there before. */
  readonly #made = new Set<string>();
  readonly #known = new Map<string, Promise<void>>();

  constructor(folder: string, ctx: CallContext) {
    this.#folder = folder;
    this.#ctx = ctx;
  }

  async write(file: {
    readonly path: string;
    readonly data: Uint8Array;
    readonly existed: boolean;
    readonly mode?: number;
  }): Promise<void> {
    const { files } = this.#ctx.environment;
    const { path, data, existed, mode } = file;
    this.#ctx.signal.throwIfAborted();
    const stat = existed ? await files.stat(path) : undefined;
    const before = stat === undefined ? undefined : { data: await files.read(path), mode: stat.mode };
    await this.#noteFolders(dirname(path));
    await files.write(path, data, {
      ...(before === undefined && { expected: { sha256: undefined } }),
      mode,
    });
    this.#written.push({ path, before });
    trackerOf(this.#ctx).noteWritten(path, undefined);
  }

  /** Puts everything back; answers with what could not be. */
  async takeBack(): Promise<readonly string[]> {
    const { files } = this.#ctx.environment;
    const left: string[] = [];
    for (const { path, before } of this.#written.splice(0).reverse()) {
      try {
        if (before !== undefined) await files.write(path, before.data, { mode: before.mode });
        else if ((await files.stat(path)) !== undefined) await files.remove(path);
      } catch {
        left.push(path);
      }
    }
    const deepestFirst = [...this.#made].sort((one, other) => other.length - one.length);
    // One that is not empty any more belongs to somebody else by now.
    for (const folder of deepestFirst) await files.remove(folder).catch(() => undefined);
    return left;
  }

  /** Folders are looked at once, before the first write in them makes them. */
  #noteFolders(folder: string): Promise<void> {
    let known = this.#known.get(folder);
    if (known === undefined) {
      known = this.#noteFolder(folder);
      this.#known.set(folder, known);
    }
    return known;
  }

  async #noteFolder(folder: string): Promise<void> {
    if ((await this.#ctx.environment.files.stat(folder)) !== undefined) return;
    const above = dirname(folder);
    if (above !== folder && (isAtOrBelow(folder, this.#folder) || isAtOrBelow(this.#folder, folder))) {
      await this.#noteFolders(above);
    }
    this.#made.add(folder);
  }
}
