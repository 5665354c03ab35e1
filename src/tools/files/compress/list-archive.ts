import { ToolError } from "../../../tool/errors.js";
import { EntryNames } from "./entry-names.js";
import { UnpackBudget } from "./limits.js";
import { type RawEntry, type Reading, rawEntries } from "./read-entries.js";

const MAX_SHOWN = 1_000;

export interface ListedEntry {
  readonly name: string;
  readonly type: RawEntry["type"];
  readonly size: number;
  readonly mode?: string | undefined;
  readonly mtime?: string | undefined;
  readonly target?: string | undefined;
  /** Why it will not be unpacked. */
  readonly unsafe?: string | undefined;
}

export interface ListedArchive {
  readonly members: readonly ListedEntry[];
  readonly entries: number;
  readonly bytes: number;
  readonly unsafe: number;
}

/** What is in an archive, also what would not be unpacked: looking is harmless. */
export async function listArchive({
  archive,
  ctx,
}: Pick<Reading, "archive" | "ctx">): Promise<ListedArchive> {
  const names = new EntryNames(archive.path);
  const budget = new UnpackBudget(archive, ctx.settings);
  const members: ListedEntry[] = [];
  let entries = 0;
  let bytes = 0;
  let unsafe = 0;
  for await (const entry of rawEntries({ archive, budget, content: "skip", ctx })) {
    entries++;
    bytes += entry.size;
    const why = reasonAgainst(entry, names);
    if (why !== undefined) unsafe++;
    if (members.length < MAX_SHOWN) members.push(described(entry, why));
  }
  return { members, entries, bytes, unsafe };
}

function reasonAgainst(entry: RawEntry, names: EntryNames): string | undefined {
  if (entry.type === "device") return "a device or pipe";
  try {
    names.add(entry.name, entry.type === "directory");
  } catch (error) {
    if (!ToolError.isInstance(error)) throw error;
    return /is not safe: (.*?)\. Nothing/.exec(error.message)?.[1] ?? "not safe";
  }
  return entry.type === "link" ? "a link" : undefined;
}

function described(entry: RawEntry, why: string | undefined): ListedEntry {
  const { name, type, size, mode, mtimeMs, target } = entry;
  return {
    name,
    type,
    size,
    mode: mode?.toString(8).padStart(3, "0"),
    ...(mtimeMs !== undefined && Number.isFinite(mtimeMs) && { mtime: new Date(mtimeMs).toISOString() }),
    target,
    unsafe: why,
  };
}
