import type { EnvironmentFiles } from "../env/environment.js";
import type { Store } from "../store/store.js";
import { ToolError } from "../tool/errors.js";
import { describeThrown } from "../tool/thrown.js";
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
  /** Makes a change, with what was there written down before and what is there written down after. */
  record<T>(change: PlannedChange, how: RecordedChange<T>): Promise<T>;
}

export interface RecordedChange<T> {
  readonly files: EnvironmentFiles;
  make(): Promise<T>;
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

  constructor(options: FileChangesOptions) {
    this.#options = options;
    this.#bytes = new KeptBytes(options.folder);
  }

  recorderFor(call: CallRecord): ChangeRecorder {
    return { record: (change, how) => this.#record(call, change, how) };
  }

  rows(): Promise<ChangeRows> {
    this.#rows ??= this.#open();
    return this.#rows;
  }

  get bytes(): KeptBytes {
    return this.#bytes;
  }

  async #open(): Promise<ChangeRows> {
    const rows = new ChangeRows(await this.#options.store());
    const since = Date.now() - this.#options.keepDays * 24 * 60 * 60 * 1000;
    rows.prune({ since, maxTotalBytes: this.#options.maxTotalBytes });
    await this.#bytes.sweep((name) => rows.uses(name));
    return rows;
  }

  async #record<T>(call: CallRecord, change: PlannedChange, how: RecordedChange<T>): Promise<T> {
    const { files, make } = how;
    const [rows, stat] = await Promise.all([this.rows(), files.stat(change.path)]);
    // Making a folder or removing an empty one leaves nothing to keep.
    if (stat?.type === "directory" && change.kind !== "rename") return make();
    // In another thread, while the disk is busy with the change itself.
    const after = change.kind === "write" ? digestOf(change.data) : undefined;
    const kept = stat?.type === "file" ? await this.#keep(change.path, stat.size, files) : undefined;
    const seq = rows.add({
      callId: call.id,
      inside: call.scope.ancestors,
      session: call.scope.rootId,
      tool: call.entry.name,
      at: Date.now(),
      environment: call.scope.environment.name,
      kind: change.kind,
      path: change.path,
      target: change.kind === "rename" ? change.target : undefined,
      before: kept,
      beforeMode: stat?.mode,
      beforeBytes: stat?.size,
      after: UNKNOWN,
      existed: stat !== undefined,
      kept: stat === undefined || kept !== undefined,
    });
    const made = await make().catch(async (error: unknown) => {
      rows.forget(seq);
      if (kept !== undefined) await this.#bytes.drop(kept);
      throw error;
    });
    try {
      rows.setAfter(seq, await (change.kind === "rename" ? this.#digestAt(change.target, files) : after));
    } catch (error) {
      // The change is made; only taking it back is not possible without this.
      call.scope.services.log.warn(
        `a change of ${change.path} cannot be undone: ${describeThrown(error).message}`,
      );
    }
    return made;
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

  async #digestAt(path: string, files: EnvironmentFiles): Promise<string> {
    const stat = await files.stat(path);
    if (stat?.type !== "file" || stat.size > this.#options.maxFileBytes) return UNKNOWN;
    return digestOf(await files.read(path));
  }
}

/** SHA-256 in hex, made beside the event loop. */
export async function digestOf(bytes: Uint8Array): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>);
  return Buffer.from(digest).toString("hex");
}
