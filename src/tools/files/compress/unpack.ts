import { randomBytes } from "node:crypto";
import { dirname, join } from "node:path/posix";
import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import { refuseProtectedWrite } from "../path-guard.js";
import { refusal, UnpackBudget } from "./limits.js";
import { type Archive, type Entry, safeEntries } from "./read-entries.js";
import { inTheWay, TargetTree } from "./target-tree.js";
import { Undoable } from "./undoable.js";

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
  const budget = new UnpackBudget({ path: archive.path, bytes: archive.bytes.length });
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
  const budget = new UnpackBudget({ path: archive.path, bytes: archive.bytes.length });
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
