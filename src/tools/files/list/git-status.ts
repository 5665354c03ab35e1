import type { CallContext } from "../../../tool/tool.js";
import { runGit } from "../git-program.js";

/** A list must not wait long for something it can do without. */
const TIMEOUT_MS = 5_000;

export type GitWord = "modified" | "added" | "deleted" | "renamed" | "untracked" | "conflicted";

export interface GitStatus {
  readonly branch: string;
  readonly changed: number;
  /** Paths below the folder that git misses, which a list of files cannot show. */
  readonly deleted: readonly string[];
  /** What git says of an entry; of a folder, whether anything below it has changed. */
  of(path: string): GitWord | undefined;
}

/** The state of a folder in its repository; undefined when it is in none, or there is no git. */
export async function gitStatus(folder: string, ctx: CallContext): Promise<GitStatus | undefined> {
  try {
    const run = { folder, ctx, timeoutMs: TIMEOUT_MS };
    const place = await runGit({ ...run, args: ["rev-parse", "--show-prefix"] });
    if (!place.ok) return undefined;
    const args = ["status", "--porcelain=v1", "-z", "--branch", "--untracked-files=normal"];
    const status = await runGit({
      ...run,
      args: [...args, "--ignore-submodules=dirty", "--", "."],
      readsFiles: true,
    });
    return status.ok ? readStatus(status.output, place.output.replace(/\n$/, "")) : undefined;
  } catch (error) {
    ctx.signal.throwIfAborted();
    // No git there, or no way to start it: then there is no status to tell.
    if (error instanceof Error) return undefined;
    throw error;
  }
}

function readStatus(output: string, prefix: string): GitStatus {
  const words = new Map<string, GitWord>();
  const folders = new Set<string>();
  const untracked: string[] = [];
  const deleted: string[] = [];
  let branch = "";
  const records = output.split("\0");
  for (let at = 0; at < records.length; at++) {
    const record = records[at] ?? "";
    const code = record.slice(0, 2);
    if (code === "##") {
      branch = record
        .slice(3)
        .replace(/^No commits yet on /, "")
        .replace(/\.\.\..*$/, "");
      continue;
    }
    if (record.length < 4) continue;
    // The old name of a rename is a record of its own.
    if (code.includes("R") || code.includes("C")) at++;
    const full = record.slice(3);
    if (!full.startsWith(prefix)) continue;
    const path = full.slice(prefix.length).replace(/\/$/, "");
    const word = wordOf(code);
    words.set(path, word);
    if (word === "untracked" && full.endsWith("/")) untracked.push(`${path}/`);
    if (word === "deleted") deleted.push(path);
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
      folders.add(path.slice(0, end));
    }
  }
  return {
    branch,
    changed: words.size,
    deleted,
    of(path) {
      const known = words.get(path);
      if (known !== undefined) return known;
      if (untracked.some((folder) => path.startsWith(folder))) return "untracked";
      return folders.has(path) ? "modified" : undefined;
    },
  };
}

function wordOf(code: string): GitWord {
  if (code === "??") return "untracked";
  if (code.includes("U") || code === "AA" || code === "DD") return "conflicted";
  if (code.includes("D")) return "deleted";
  if (code.includes("R") || code.includes("C")) return "renamed";
  return code.includes("A") ? "added" : "modified";
}
