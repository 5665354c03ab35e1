import { hash } from "node:crypto";
import type { EnvironmentFiles } from "../env/environment.js";
import type { Store } from "../store/store.js";
import { ToolError } from "../tool/errors.js";
import type { CallRecord } from "./call-record.js";
import { type ChangeRow, ChangeRows } from "./undo/change-rows.js";
import { KeptBytes } from "./undo/kept-bytes.js";

/** What a call is about to do to one file. */
export type PlannedChange =
  | { readonly kind: "write"; readonly path: string; readonly data: Uint8Array }
  | { readonly kind: "remove"; readonly path: string }
  | { readonly kind: "rename"; readonly path: string; readonly target: string };

/** Keeps what is there before one call changes it. */
export interface ChangeRecorder {
  /** Call before the change; the answer takes the record back when the change was not made. */
  before(change: PlannedChange, files: EnvironmentFiles): Promise<() => void>;
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
    return { before: (change, files) => this.#record(call, change, files) };
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
    await this.#bytes.sweep((digest) => rows.uses(digest));
    return rows;
  }

  async #record(call: CallRecord, change: PlannedChange, files: EnvironmentFiles): Promise<() => void> {
    const rows = await this.rows();
    const stat = await files.stat(change.path);
    // Making a folder or removing an empty one leaves nothing to keep.
    if (stat?.type === "directory" && change.kind !== "rename") return () => undefined;
    const after = change.kind === "write" ? hash("sha256", change.data, "hex") : undefined;
    const kept = stat?.type === "file" ? await this.#keep(change.path, stat.size, files) : undefined;
    const row: Omit<ChangeRow, "seq" | "undoneAt"> = {
      callId: call.id,
      inside: call.scope.ancestors,
      session: call.scope.rootId,
      tool: call.entry.name,
      at: Date.now(),
      environment: call.scope.environment.name,
      kind: change.kind,
      path: change.path,
      target: change.kind === "rename" ? change.target : undefined,
      before: kept?.digest,
      beforeMode: stat?.mode,
      beforeBytes: stat?.size,
      after: change.kind === "rename" ? kept?.digest : after,
      existed: stat !== undefined,
      kept: stat === undefined || kept?.kept === true,
    };
    const seq = rows.add(row);
    return () => rows.forget(seq);
  }

  async #keep(path: string, size: number, files: EnvironmentFiles) {
    if (size > this.#options.maxFileBytes) return { digest: undefined, kept: false };
    try {
      const bytes = await files.read(path, { real: true });
      const digest = hash("sha256", bytes, "hex");
      await this.#bytes.put(digest, bytes);
      return { digest, kept: true };
    } catch (error) {
      if (ToolError.isInstance(error)) return { digest: undefined, kept: false };
      throw error;
    }
  }
}
