import type { Image, ModalClient, Sandbox } from "modal";
import { inTime } from "../../base/deadline.js";
import { ToolError } from "../../tool/errors.js";
import { DEFAULT_IMAGE } from "../cloud/cloud-environment.js";
import type { SandboxLoss, SandboxService } from "../cloud/sandbox-keeper.js";
import { modalClient, modalError, modalReason } from "./client.js";
import type { ModalOptions } from "./modal.js";
import { SnapshotFile } from "./snapshots.js";

const DEFAULT_APP = "hermes-tools";
const DEFAULT_TIMEOUT_SECONDS = 3600;
/** A sandbox this close to its end is replaced while nothing runs in it. */
const RENEW_BEFORE_MS = 120_000;
/** The service's own idle stop comes later than ours, which makes a snapshot first. */
const IDLE_GRACE_SECONDS = 60;
const POLL_LIMIT_MS = 5_000;
/** How long the network may take to come back after a loss, before another error. */
const REACH_AGAIN_MS = 12_000;
const ASK_AGAIN_MS = 500;

export interface ModalSandbox {
  readonly sandbox: Sandbox;
  readonly openedAt: number;
  readonly from: string;
  readonly note: string | undefined;
  /** False after the connection was lost, until the service has answered again. */
  reached: boolean;
}

/** Sandboxes at Modal: started from the task's snapshot where there is one, ended with a new one. */
export class ModalSandboxes implements SandboxService<ModalSandbox> {
  readonly label = "Modal";
  readonly error = modalError;
  readonly #options: ModalOptions;
  readonly #snapshots: SnapshotFile;
  readonly #image: string;
  readonly #persistent: boolean;
  readonly #timeoutMs: number;

  constructor(options: ModalOptions) {
    this.#options = options;
    this.#snapshots = new SnapshotFile(options.stateDir);
    this.#image = options.image ?? DEFAULT_IMAGE;
    this.#persistent = options.persistent ?? true;
    this.#timeoutMs = (options.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS) * 1000;
  }

  get idleStopMs(): number | undefined {
    const { idleStopSeconds } = this.#options;
    return idleStopSeconds === undefined || !this.#persistent ? undefined : idleStopSeconds * 1000;
  }

  idOf({ sandbox }: ModalSandbox): string {
    return sandbox.sandboxId;
  }

  async open(): Promise<ModalSandbox> {
    const { cpu, memoryMb, idleStopSeconds, task, modalEnvironment } = this.#options;
    const client = await modalClient(this.#options);
    const app = await client.apps.fromName(this.#options.app ?? DEFAULT_APP, {
      createIfMissing: true,
      ...(modalEnvironment === undefined ? {} : { environment: modalEnvironment }),
    });
    const { image, from, note } = await this.#startImage(client);
    const sandbox = await client.sandboxes.create(app, image, {
      command: ["sleep", "infinity"],
      timeoutMs: this.#timeoutMs,
      tags: { hermes: "1", "hermes-task": task },
      ...(cpu === undefined ? {} : { cpu }),
      ...(memoryMb === undefined ? {} : { memoryMiB: memoryMb }),
      ...(idleStopSeconds === undefined
        ? {}
        : { idleTimeoutMs: (idleStopSeconds + (this.#persistent ? IDLE_GRACE_SECONDS : 0)) * 1000 }),
    });
    return { sandbox, openedAt: Date.now(), from, note, reached: true };
  }

  async examine(held: ModalSandbox, error: unknown): Promise<SandboxLoss<ModalSandbox> | undefined> {
    const { sandbox } = held;
    const ended = await inTime(sandbox.poll(), { ms: POLL_LIMIT_MS, otherwise: "no answer" }).catch(
      () => null,
    );
    if (ended !== null) {
      const why =
        ended === 124 ? "its time limit was reached" : `it was ended from outside, exit code ${ended}`;
      sandbox.detach();
      const saved = this.#persistent ? await this.#snapshots.get(this.#options.task) : undefined;
      const next =
        saved === undefined
          ? `All its files are gone; a new one starts from the image ${this.#image}.`
          : `Files changed since the snapshot of ${saved.savedAt} are gone; a new one starts from it.`;
      return {
        gone: true,
        why: `the Modal sandbox is gone (${why})`,
        told: `The Modal sandbox ${sandbox.sandboxId} is gone (${why}). ${next}`,
      };
    }
    if (error === undefined) return undefined;
    return {
      gone: false,
      why: `the connection to the Modal sandbox was lost (${modalReason(error)})`,
      // The client keeps no connection that can be mended.
      again: async () => {
        const client = await modalClient(this.#options);
        const fresh = await client.sandboxes.fromId(sandbox.sandboxId).catch(() => sandbox);
        if (fresh !== sandbox) sandbox.detach();
        return { ...held, sandbox: fresh, reached: false };
      },
    };
  }

  expires({ openedAt }: ModalSandbox): boolean {
    const renewed = this.#persistent && this.#timeoutMs > RENEW_BEFORE_MS;
    return renewed && Date.now() - openedAt > this.#timeoutMs - RENEW_BEFORE_MS;
  }

  async reach(held: ModalSandbox): Promise<void> {
    if (!held.reached) await this.#ask(held);
  }

  /** Asks until the service answers. */
  async #ask(held: ModalSandbox): Promise<void> {
    const end = performance.now() + REACH_AGAIN_MS;
    for (;;) {
      try {
        const limitMs = Math.min(POLL_LIMIT_MS, Math.max(ASK_AGAIN_MS, end - performance.now()));
        await inTime(held.sandbox.poll(), { ms: limitMs, otherwise: "no answer" });
        held.reached = true;
        return;
      } catch (error) {
        if (performance.now() + ASK_AGAIN_MS > end) throw modalError("reach the Modal sandbox", error);
      }
      await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS));
    }
  }

  /** Takes a snapshot and keeps its id; the one before it is not needed any more. */
  async snapshot({ sandbox }: ModalSandbox): Promise<string> {
    const { task } = this.#options;
    const before = await this.#snapshots.get(task);
    const { imageId } = await sandbox.snapshotFilesystem().catch((error: unknown) => {
      throw modalError("keep the files of the Modal sandbox", error);
    });
    await this.#snapshots.set(task, { imageId, image: this.#image, savedAt: new Date().toISOString() });
    if (before !== undefined) {
      const client = await modalClient(this.#options);
      await client.images.delete(before.imageId).catch(() => {});
    }
    return imageId;
  }

  /** Ends the sandbox, with a snapshot first when the files are to be kept. */
  async suspend(held: ModalSandbox): Promise<void> {
    const { sandbox } = held;
    if (this.#persistent) {
      try {
        await this.#ask(held);
        await this.snapshot(held);
      } catch (error) {
        sandbox.detach();
        const reason = ToolError.isInstance(error) ? error.message : modalReason(error);
        throw new ToolError(`${reason} Its files since the last snapshot are only in ${sandbox.sandboxId}.`, {
          code: "unavailable",
          hint: `The sandbox was left running; it ends by itself after ${this.#timeoutMs / 1000} s of life.`,
          cause: error,
        });
      }
    }
    await sandbox.terminate().catch((error: unknown) => {
      throw modalError(`end the Modal sandbox ${sandbox.sandboxId}`, error);
    });
  }

  async close(held: ModalSandbox | undefined): Promise<void> {
    if (held !== undefined) await this.suspend(held);
  }

  facts(held: ModalSandbox | undefined): Readonly<Record<string, string>> {
    const { idleStopSeconds } = this.#options;
    return {
      image: this.#image,
      ...(held === undefined ? {} : { sandbox: held.sandbox.sandboxId, "started from": held.from }),
      ...(held?.note === undefined ? {} : { note: held.note }),
      files: this.#persistent ? "kept in a snapshot when it closes" : "gone when it closes",
      "idle stop": idleStopSeconds === undefined ? "off" : `after ${idleStopSeconds} s`,
    };
  }

  async #startImage(
    client: ModalClient,
  ): Promise<{ readonly image: Image; readonly from: string; readonly note: string | undefined }> {
    const base = (note?: string) => ({
      image: client.images.fromRegistry(this.#image),
      from: `image ${this.#image}`,
      note,
    });
    const saved = this.#persistent ? await this.#snapshots.get(this.#options.task) : undefined;
    if (saved === undefined) return base();
    if (saved.image !== this.#image)
      return base(`the snapshot of ${saved.savedAt} was made from ${saved.image} and is not used`);
    const { NotFoundError } = await import("modal");
    try {
      const image = await client.images.fromId(saved.imageId);
      return { image, from: `snapshot ${saved.imageId} of ${saved.savedAt}`, note: undefined };
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
      await this.#snapshots.set(this.#options.task, undefined);
      return base(`snapshot ${saved.imageId} of ${saved.savedAt} does not exist any more`);
    }
  }
}
