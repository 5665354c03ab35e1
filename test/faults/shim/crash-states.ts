import { dirname } from "node:path";

/** What a process did with its files, in order; `said` is what it told the outside. */
type Operation =
  | { readonly kind: "said"; readonly text: string }
  | {
      readonly kind: "data";
      readonly file: number;
      readonly apply: (bytes: Buffer) => Buffer;
      readonly torn: (bytes: Buffer) => Buffer;
    }
  | {
      readonly kind: "name";
      readonly folders: readonly string[];
      readonly apply: (names: Map<string, number>) => void;
    }
  | { readonly kind: "sync"; readonly path: string; readonly file: number | undefined; readonly turn: string }
  | { readonly kind: "synced"; readonly turn: string };

/** What is on the disk after a power cut: files and their bytes, below the folder that was watched. */
export interface CrashState {
  readonly files: ReadonlyMap<string, Buffer>;
  /** Everything that had been told before the cut. */
  readonly said: string;
  /** What had been told before the last sync of this file began that had also ended. */
  saidBeforeSyncOf(path: string): string;
}

/** How much of what was not synced is on the disk: nothing, the names without their bytes, or some of it, some torn. */
export type Loss = "all" | "bytes" | "some";

const SECTOR = 512;

/** Legal states after a power cut, from the trace that faulty.c writes. Folders are journaled: names are lost last first. */
export class CrashStates {
  readonly #operations: Operation[] = [];
  readonly #start: ReadonlyMap<string, Buffer>;
  /** Numbers of the files at the start, by path. */
  readonly #startNames = new Map<string, number>();
  #files = 0;

  constructor(trace: Buffer, start: ReadonlyMap<string, Buffer>) {
    this.#start = start;
    for (const path of start.keys()) this.#startNames.set(path, this.#files++);
    this.#read(trace);
  }

  get length(): number {
    return this.#operations.length;
  }

  after(count: number, loss: Loss, random: () => number): CrashState {
    const done = this.#operations.slice(0, count);
    const ended = new Set(done.flatMap((each) => (each.kind === "synced" ? [each.turn] : [])));
    const lastSync = new Map<number | string, number>();
    for (const [at, each] of done.entries()) {
      if (each.kind !== "sync" || !ended.has(each.turn)) continue;
      lastSync.set(each.path, at);
      if (each.file !== undefined) lastSync.set(each.file, at);
    }
    const isSafe = (at: number, key: number | string) => (lastSync.get(key) ?? -1) > at;
    const names = new Map(this.#startNames);
    const bytes = new Map<number, Buffer>();
    for (const [path, file] of this.#startNames) bytes.set(file, this.#start.get(path) ?? Buffer.alloc(0));
    const named = done.flatMap((each, at) => (each.kind === "name" ? [{ ...each, at }] : []));
    const lastSafe = named.findLastIndex(({ at, folders }) => folders.every((folder) => isSafe(at, folder)));
    const open = named.length - 1 - lastSafe;
    const kept = lastSafe + 1 + { all: 0, bytes: open, some: Math.floor(random() * (open + 1)) }[loss];
    for (const { apply } of named.slice(0, kept)) apply(names);
    for (const [at, each] of done.entries()) {
      if (each.kind !== "data") continue;
      const before = bytes.get(each.file) ?? Buffer.alloc(0);
      const dice = random();
      if (isSafe(at, each.file) || (loss === "some" && dice < 0.4)) bytes.set(each.file, each.apply(before));
      else if (loss === "some" && dice < 0.6) bytes.set(each.file, each.torn(before));
    }
    const told = (until: number) =>
      done
        .slice(0, until)
        .map((each) => (each.kind === "said" ? each.text : ""))
        .join("");
    return {
      files: new Map([...names].map(([path, file]) => [path, bytes.get(file) ?? Buffer.alloc(0)])),
      said: told(done.length),
      saidBeforeSyncOf: (path) => told(lastSync.get(path) ?? 0),
    };
  }

  #read(trace: Buffer): void {
    const names = new Map(this.#startNames);
    const open = new Map<string, number>();
    for (let at = 0; at < trace.length; ) {
      const end = trace.indexOf(10, at);
      if (end === -1) return;
      const [what = "", path = "", more = "", size = "0"] = trace.toString("utf8", at, end).split("\t");
      const data = trace.subarray(end + 1, end + 1 + Number(size));
      at = end + 1 + data.length;
      this.#add({ what, path, more, data, names, open });
    }
  }

  #add(line: {
    readonly what: string;
    readonly path: string;
    readonly more: string;
    readonly data: Buffer;
    readonly names: Map<string, number>;
    readonly open: Map<string, number>;
  }): void {
    const { what, path, more, data, names } = line;
    const name = (folders: readonly string[], apply: (names: Map<string, number>) => void) => {
      apply(names);
      this.#operations.push({ kind: "name", folders, apply });
    };
    // A file that is removed while it is open is nobody's state any more.
    const file = names.get(path.replace(/ \(deleted\)$/, ""));
    if (what === "said") this.#operations.push({ kind: "said", text: data.toString("utf8") });
    else if (what === "create") {
      const number = this.#files++;
      name([dirname(path)], (all) => void all.set(path, number));
    } else if (what === "rename") {
      const number = file;
      name([dirname(path), dirname(more)], (all) => {
        all.delete(path);
        if (number !== undefined) all.set(more, number);
      });
    } else if (what === "link") {
      const number = file;
      name([dirname(more)], (all) => void (number !== undefined && all.set(more, number)));
    } else if (what === "unlink") name([dirname(path)], (all) => void all.delete(path));
    else if (what === "sync") this.#operations.push({ kind: "sync", path, file, turn: more });
    else if (what === "synced") this.#operations.push({ kind: "synced", turn: more });
    else if (file !== undefined && what === "write") {
      const offset = Number(more);
      const put = (part: Buffer) => (bytes: Buffer) => {
        const whole = Buffer.alloc(Math.max(bytes.length, offset + part.length));
        bytes.copy(whole);
        part.copy(whole, offset);
        return whole;
      };
      const half = data.subarray(0, Math.floor(data.length / 2 / SECTOR) * SECTOR);
      this.#operations.push({ kind: "data", file, apply: put(data), torn: put(half) });
    } else if (file !== undefined && what === "truncate") {
      const cut = (bytes: Buffer) => {
        const whole = Buffer.alloc(Number(more));
        bytes.copy(whole);
        return whole;
      };
      this.#operations.push({ kind: "data", file, apply: cut, torn: (bytes) => bytes });
    }
  }
}
