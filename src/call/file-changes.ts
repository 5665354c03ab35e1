import { sha256 } from "../base/hash.js";
import type { EnvironmentFiles, FileStat } from "../env/environment.js";
import type { Store } from "../store/store.js";
import { ToolError } from "../tool/errors.js";
import type { CallRecord } from "./call-record.js";
import { ChangeRows, UNKNOWN } from "./undo/change-rows.js";
import { KeptBytes } from "./undo/kept-bytes.js";

/** What a call is about to do to one file. */
export type PlannedChange =
  | { readonly kind: "write"; readonly path: string; readonly data: Uint8Array }
  | { readonly kind: "remove"; readonly path: string }
  | { readonly kind: "rename"; readonly path: string; readonly target: string };

/** Keeps what is there before one call changes it. */
export interface ChangeRecorder {
  /** Makes a change, with what was there and what will be there written down before. */
  record<T>(change: PlannedChange, how: RecordedChange<T>): Promise<T>;
}

export interface RecordedChange<T> {
  readonly files: EnvironmentFiles;
  /** Nothing may be changed before this. */
  readonly ready: Promise<unknown>;
  /** Prepares the change and makes it as soon as it may happen: when it is noted and `ready`. */
  make(mayHappen: Promise<unknown>): Promise<T>;
}

export interface FileChangesOptions {
  readonly store: () => Promise<Store>;
  /** Folder of the kept bytes. */
  readonly folder: string;
  /** Larger files are changed all the same, and noted as not kept. */
  readonly maxFileBytes: number;
  readonly maxTotalBytes: number;
  readonly keepDays: number;
}

/**
 * What files held before calls changed them, so that `hermes undo` can put it back. A record is written before
 * the change: a process that dies in between leaves one that does not match the file, and undo then leaves the
 * file alone.
 */
export class FileChanges {
  readonly #options: FileChangesOptions;
  readonly #bytes: KeptBytes;
  #rows: Promise<ChangeRows> | undefined;
  #unseenBytes = 0;

  constructor(options: FileChangesOptions) {
    this.#options = options;
    this.#bytes = new KeptBytes(options.folder);
  }

  recorderFor(call: CallRecord): ChangeRecorder {
    return { record: (change, how) => this.#record(call, change, how) };
  }

  rows(): Promise<ChangeRows> {
    // A disk that is full now may have room the next time.
    this.#rows ??= this.#open().catch((error: unknown) => {
      this.#rows = undefined;
      throw error;
    });
    return this.#rows;
  }

  get bytes(): KeptBytes {
    return this.#bytes;
  }

  async #open(): Promise<ChangeRows> {
    const rows = new ChangeRows(await this.#options.store());
    await this.#prune(rows);
    await this.#bytes.sweep((name) => rows.uses(name));
    return rows;
  }

  async #prune(rows: ChangeRows): Promise<void> {
    this.#unseenBytes = 0;
    const since = Date.now() - this.#options.keepDays * 24 * 60 * 60 * 1000;
    const gone = rows.prune({ since, maxTotalBytes: this.#options.maxTotalBytes });
    await Promise.all(gone.map((name) => this.#bytes.drop(name)));
  }

  /** What one call keeps may push out what is older, also in a process that runs for weeks. */
  async #makeRoom(rows: ChangeRows, bytes: number): Promise<void> {
    this.#unseenBytes += bytes;
    if (this.#unseenBytes > this.#options.maxTotalBytes * UNSEEN_PART) await this.#prune(rows);
  }

  async #record<T>(call: CallRecord, change: PlannedChange, how: RecordedChange<T>): Promise<T> {
    const { files, ready, make } = how;
    const noted = this.#note(call, change, files);
    const mayHappen = Promise.all([ready, noted]);
    mayHappen.catch(() => undefined);
    return make(mayHappen).catch(async (error: unknown) => {
      await (await noted.catch(() => undefined))?.forget();
      throw error;
    });
  }

  /** Keeps what is there and writes a record; none when there is nothing to keep. */
  async #note(call: CallRecord, change: PlannedChange, files: EnvironmentFiles): Promise<Note | undefined> {
    const [rows, stat] = await Promise.all([this.rows(), files.stat(change.path)]);
    // Making a folder or removing an empty one leaves nothing to keep.
    if (stat?.type === "directory" && change.kind !== "rename") return undefined;
    if (stat?.type === "file" && change.kind !== "rename") await this.#warnOnce(call, change.path, stat.size);
    const kept = stat?.type === "file" ? await this.#keep(change.path, stat.size, files) : undefined;
    const seq = rows.add({
      callId: call.id,
      inside: call.scope.ancestors,
      session: call.scope.rootId,
      conversations: call.scope.conversations,
      tool: call.entry.name,
      at: Date.now(),
      environment: call.scope.environment.name,
      kind: change.kind,
      path: change.path,
      target: change.kind === "rename" ? change.target : undefined,
      before: kept,
      beforeMode: stat?.mode,
      beforeBytes: stat?.size,
      after: await this.#digestAfter(change, files, stat),
      existed: stat !== undefined,
      kept: stat === undefined || kept !== undefined,
    });
    if (kept !== undefined) await this.#makeRoom(rows, stat?.size ?? 0);
    return {
      forget: async () => {
        rows.forget(seq);
        if (kept !== undefined) await this.#bytes.drop(kept);
      },
    };
  }

  /** What cannot be taken back is said before it happens: the first such change of a file in an hour is refused. */
  async #warnOnce({ scope }: CallRecord, path: string, size: number): Promise<void> {
    const { maxFileBytes } = this.#options;
    if (size <= maxFileBytes) return;
    // Not of a session: a single `hermes call` is one, and its second attempt is another.
    if (!(await this.#bytes.isNews(`${scope.environment.name}:${path}`))) return;
    throw new ToolError(
      `${path} was not changed: it has ${size} bytes, more than undo keeps (${maxFileBytes}), so its content would be lost for good.`,
      {
        code: "blocked",
        hint: "Copy it first, or call again within an hour to change it all the same. undo.max_file_mb sets the limit.",
        details: { path, bytes: size, limit_bytes: maxFileBytes },
      },
    );
  }

  /** What will be at the path, or at the target; undefined: nothing. */
  async #digestAfter(
    change: PlannedChange,
    files: EnvironmentFiles,
    stat: FileStat | undefined,
  ): Promise<string | undefined> {
    if (change.kind === "write") return digestOf(change.data);
    if (change.kind === "remove") return undefined;
    if (stat?.type !== "file" || stat.size > this.#options.maxFileBytes) return UNKNOWN;
    const bytes = await files.read(change.path, { real: true }).catch(() => undefined);
    return bytes === undefined ? UNKNOWN : digestOf(bytes);
  }

  async #keep(path: string, size: number, files: EnvironmentFiles): Promise<string | undefined> {
    if (size > this.#options.maxFileBytes) return undefined;
    try {
      return await this.#bytes.keep(path, files);
    } catch (error) {
      if (ToolError.isInstance(error)) return undefined;
      throw error;
    }
  }
}

/** How much may be kept, as a part of all the room, before it is looked at again. */
const UNSEEN_PART = 1 / 16;

/** The record of one change. */
interface Note {
  /** The change was not made. */
  forget(): Promise<void>;
}

/** Up to this size handing bytes to another thread takes longer than the digest. */
const SMALL_BYTES = 2 * 1024 * 1024;

/** SHA-256 in hex, of large ones made beside the event loop. */
export async function digestOf(bytes: Uint8Array): Promise<string> {
  if (bytes.byteLength <= SMALL_BYTES) return sha256(bytes);
  const digest = await crypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>);
  return Buffer.from(digest).toString("hex");
}
