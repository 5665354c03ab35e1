import { join } from "node:path/posix";
import { StringDecoder } from "node:string_decoder";
import { ToolError } from "../../tool/errors.js";
import type { FileChange, RunningProcess, SpawnRequest, WatchOptions } from "../environment.js";
import { fileError } from "../local/file-errors.js";
import { PRELUDE, WATCH } from "./scripts.gen.js";

const BEGIN = "//begin\n";
const END = "\n//end\n";
const RECORD = /^\/\/([0-9a-f]+) ([\s\S]*?) (\d+) (\.[\s\S]*)$/;
const FOLDER_TYPE = 0o040000;
const FILE_TYPE = 0o170000;
/** How the script ends when there is nothing to watch. */
const NOTHING_THERE = 66;

/** What was seen of one path, as text that changes when it does. */
type Snapshot = ReadonlyMap<string, string>;

export interface RemoteWatch {
  readonly path: string;
  readonly options: WatchOptions;
  spawn(request: SpawnRequest): Promise<RunningProcess>;
}

/**
 * Tells what has changed there, found by looking again about every second. Its signal ends it at once: whoever
 * watches need not wait until the program over there is started or ended.
 */
export async function* watchRemote({ path, options, spawn }: RemoteWatch): AsyncGenerator<FileChange> {
  const { signal } = options;
  if (signal.aborted) return;
  const snapshots: Snapshot[] = [];
  let wake = () => {};
  let lost: string | undefined;
  let missing = false;
  let failed: { readonly error: unknown } | undefined;
  const blocks = new BlockReader((block) => {
    snapshots.push(readSnapshot(block));
    wake();
  });
  const spawned = spawn({
    command: ["sh", "-c", PRELUDE + WATCH, "sh", path, options.recursive === true ? "" : "-maxdepth 1"],
    cwd: "/",
    onOutput: (bytes) => blocks.push(bytes),
  });
  const stop = () => wake();
  signal.addEventListener("abort", stop, { once: true });
  spawned
    .then((process) => process.ended)
    .then((end) => {
      missing = end.exitCode === NOTHING_THERE && end.lost === undefined;
      lost = end.lost ?? "the program that watches ended";
      wake();
    })
    .catch((error: unknown) => {
      failed = { error };
      wake();
    });
  try {
    let before: Snapshot | undefined;
    while (!signal.aborted) {
      const now = snapshots.shift();
      if (now === undefined) {
        if (failed !== undefined) throw failed.error;
        if (missing) throw fileError({ error: { code: "ENOENT" }, path, action: "watch" });
        if (lost !== undefined) throw watchingEnded(path, lost);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      if (before === undefined) options.onReady?.();
      else
        for (const change of changesBetween(before, now)) yield { ...change, path: join(path, change.path) };
      before = now;
    }
  } finally {
    signal.removeEventListener("abort", stop);
    void spawned.then((process) => process.end()).catch(() => {});
  }
}

/** Gives out what stands between `//begin` and `//end`, whatever pieces it arrives in. */
class BlockReader {
  readonly #decoder = new StringDecoder("utf8");
  readonly #onBlock: (block: string) => void;
  #text = "";

  constructor(onBlock: (block: string) => void) {
    this.#onBlock = onBlock;
  }

  push(bytes: Uint8Array): void {
    this.#text += this.#decoder.write(Buffer.from(bytes));
    for (let end = this.#text.indexOf(END); end !== -1; end = this.#text.indexOf(END)) {
      this.#onBlock(this.#text.slice(BEGIN.length, end));
      this.#text = this.#text.slice(end + END.length);
    }
  }
}

/** Records begin with two slashes; a name may go on over several lines. */
function readSnapshot(block: string): Snapshot {
  const seen = new Map<string, string>();
  for (const record of block.split(/\n(?=\/\/)/)) {
    const match = RECORD.exec(record);
    if (match === null) continue;
    const [, mode = "0", detail = "", inode = "", name = ""] = match;
    const isFolder = (Number.parseInt(mode, 16) & FILE_TYPE) === FOLDER_TYPE;
    // A folder's time changes with its entries, which are told of themselves.
    if (isFolder && name === ".") continue;
    seen.set(name, isFolder ? `folder ${inode}` : `${mode} ${detail} ${inode}`);
  }
  return seen;
}

function* changesBetween(before: Snapshot, now: Snapshot): Generator<FileChange> {
  for (const [path, detail] of now) {
    const old = before.get(path);
    if (old === undefined) yield { path, change: "created" };
    else if (old !== detail) yield { path, change: "changed" };
  }
  for (const path of before.keys()) if (!now.has(path)) yield { path, change: "removed" };
}

function watchingEnded(path: string, why: string): ToolError {
  return new ToolError(`${path} is not watched any more: ${why}.`, {
    code: "unavailable",
    hint: "Watch it again once the environment answers.",
  });
}
