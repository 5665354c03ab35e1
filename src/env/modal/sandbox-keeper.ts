import type { App, Image, ModalClient, Sandbox } from "modal";
import { ToolError } from "../../tool/errors.js";
import { modalClient } from "./client.js";
import { modalError, modalReason } from "./errors.js";
import { DEFAULT_APP, DEFAULT_IMAGE, DEFAULT_TIMEOUT_SECONDS, type ModalOptions } from "./options.js";
import { SnapshotFile } from "./snapshots.js";

/** A sandbox this close to its end is replaced while nothing runs in it. */
const RENEW_BEFORE_MS = 120_000;
/** The service's own idle stop comes later than ours, which makes a snapshot first. */
const IDLE_GRACE_SECONDS = 60;
const POLL_LIMIT_MS = 5_000;
/** How long the network may take to come back after a loss, before another error. */
const REACH_AGAIN_MS = 12_000;
const REACH_TO_CLOSE_MS = 12_000;
const ASK_AGAIN_MS = 500;

export interface Loss {
  /** The sandbox itself does not exist any more; otherwise only the connection broke. */
  readonly gone: boolean;
  readonly why: string;
}

interface Held {
  readonly sandbox: Sandbox;
  readonly openedAt: number;
  readonly from: string;
  readonly note: string | undefined;
}

/**
 * The one sandbox of an environment: opened at the first use, from the task's snapshot where there is one, and
 * never replaced silently when files are lost with it.
 */
export class SandboxKeeper {
  readonly #options: ModalOptions;
  readonly #snapshots: SnapshotFile;
  #held: Promise<Held> | undefined;
  /** What the next user has to be told before it gets a new sandbox. */
  #untold: string | undefined;
  #running = 0;
  #idle: NodeJS.Timeout | undefined;
  /** An idle sandbox on its way out; the next one starts from its snapshot. */
  #stopping: Promise<void> | undefined;
  #connectionLost = false;
  #closed = false;

  constructor(options: ModalOptions) {
    this.#options = options;
    this.#snapshots = new SnapshotFile(options.stateDir);
  }

  get image(): string {
    return this.#options.image ?? DEFAULT_IMAGE;
  }

  get #persistent(): boolean {
    return this.#options.persistent ?? true;
  }

  get #timeoutMs(): number {
    return (this.#options.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS) * 1000;
  }

  /** The sandbox, for something that will run in it; `release` when that is over. */
  async use(): Promise<{ readonly sandbox: Sandbox; release(): void }> {
    if (this.#closed) throw closedError();
    clearTimeout(this.#idle);
    if (this.#untold !== undefined) {
      const told = this.#untold;
      this.#untold = undefined;
      throw new ToolError(told, { code: "unavailable", hint: "Call again to go on in a new sandbox." });
    }
    this.#running += 1;
    let released = false;
    const release = () => {
      if (released) return;
      released = true;
      this.#running -= 1;
      this.#stopWhenIdle();
    };
    try {
      const held = await this.#current();
      return { sandbox: held.sandbox, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Why something in this sandbox failed; undefined when the sandbox is there and nothing else was reported. */
  async examine(sandbox: Sandbox, error: unknown): Promise<Loss | undefined> {
    const ended = await withLimit(sandbox.poll(), POLL_LIMIT_MS).then(
      (code) => (code === null ? undefined : code),
      () => undefined,
    );
    if (ended !== undefined) {
      const why =
        ended === 124 ? "its time limit was reached" : `it was ended from outside, exit code ${ended}`;
      await this.#noteGone(sandbox, why);
      return { gone: true, why: `the Modal sandbox is gone (${why})` };
    }
    if (error === undefined) return undefined;
    await this.#reattach(sandbox);
    return { gone: false, why: `the connection to the Modal sandbox was lost (${modalReason(error)})` };
  }

  async facts(): Promise<Record<string, string>> {
    const held = await this.#held;
    return {
      image: this.image,
      ...(held === undefined
        ? {}
        : {
            sandbox: held.sandbox.sandboxId,
            "started from": held.from,
            ...(held.note === undefined ? {} : { note: held.note }),
          }),
      files: this.#persistent ? "kept in a snapshot when it closes" : "gone when it closes",
      "idle stop":
        this.#options.idleStopSeconds === undefined ? "off" : `after ${this.#options.idleStopSeconds} s`,
    };
  }

  async snapshot(): Promise<{ readonly id: string }> {
    const { sandbox, release } = await this.use();
    try {
      return { id: await this.#save(sandbox) };
    } finally {
      release();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#idle);
    await this.#stopping;
    await this.#stop(REACH_TO_CLOSE_MS);
  }

  async #current(): Promise<Held> {
    await this.#stopping;
    const held = await this.#held?.catch(() => undefined);
    const old = held !== undefined && Date.now() - held.openedAt > this.#timeoutMs - RENEW_BEFORE_MS;
    if (old && this.#persistent && this.#running === 1 && this.#timeoutMs > RENEW_BEFORE_MS)
      await this.#stop(REACH_AGAIN_MS);
    else if (held !== undefined && this.#connectionLost) await this.#reach(held.sandbox, REACH_AGAIN_MS);
    this.#held ??= this.#open().catch((error: unknown) => {
      this.#held = undefined;
      throw modalError("start a sandbox at Modal", error);
    });
    return await this.#held;
  }

  /** After a lost connection: waits until the service answers again. */
  async #reach(sandbox: Sandbox, limitMs: number): Promise<void> {
    const end = Date.now() + limitMs;
    for (;;) {
      try {
        await withLimit(sandbox.poll(), Math.min(POLL_LIMIT_MS, Math.max(ASK_AGAIN_MS, end - Date.now())));
        this.#connectionLost = false;
        return;
      } catch (error) {
        if (Date.now() + ASK_AGAIN_MS > end) throw modalError("reach the Modal sandbox", error);
      }
      await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS));
    }
  }

  async #open(): Promise<Held> {
    const { cpu, memoryMb, idleStopSeconds, task, modalEnvironment } = this.#options;
    const client = await modalClient(this.#options);
    const app = await client.apps.fromName(this.#options.app ?? DEFAULT_APP, {
      createIfMissing: true,
      ...(modalEnvironment === undefined ? {} : { environment: modalEnvironment }),
    });
    const start = await this.#startImage(client);
    const create = (image: Image, into: App) =>
      client.sandboxes.create(into, image, {
        command: ["sleep", "infinity"],
        timeoutMs: this.#timeoutMs,
        tags: { hermes: "1", "hermes-task": task },
        ...(cpu === undefined ? {} : { cpu }),
        ...(memoryMb === undefined ? {} : { memoryMiB: memoryMb }),
        ...(idleStopSeconds === undefined
          ? {}
          : { idleTimeoutMs: (idleStopSeconds + (this.#persistent ? IDLE_GRACE_SECONDS : 0)) * 1000 }),
      });
    const sandbox = await create(start.image, app);
    return { sandbox, openedAt: Date.now(), from: start.from, note: start.note };
  }

  async #startImage(
    client: ModalClient,
  ): Promise<{ readonly image: Image; readonly from: string; readonly note: string | undefined }> {
    const base = (note?: string) => ({
      image: client.images.fromRegistry(this.image),
      from: `image ${this.image}`,
      note,
    });
    const saved = this.#persistent ? await this.#snapshots.get(this.#options.task) : undefined;
    if (saved === undefined) return base();
    if (saved.image !== this.image)
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

  /** Takes a snapshot and keeps its id; the one before it is not needed any more. */
  async #save(sandbox: Sandbox): Promise<string> {
    const { task } = this.#options;
    const before = await this.#snapshots.get(task);
    const { imageId } = await sandbox.snapshotFilesystem().catch((error: unknown) => {
      throw modalError("keep the files of the Modal sandbox", error);
    });
    await this.#snapshots.set(task, { imageId, image: this.image, savedAt: new Date().toISOString() });
    if (before !== undefined) {
      const client = await modalClient(this.#options);
      await client.images.delete(before.imageId).catch(() => {});
    }
    return imageId;
  }

  /** Ends the sandbox, with a snapshot first when the files are to be kept. */
  async #stop(reachMs: number): Promise<void> {
    const holding = this.#held;
    this.#held = undefined;
    const held = await holding?.catch(() => undefined);
    if (held === undefined) return;
    const { sandbox } = held;
    if (this.#persistent) {
      try {
        await this.#reach(sandbox, reachMs);
        await this.#save(sandbox);
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

  #stopWhenIdle(): void {
    const seconds = this.#options.idleStopSeconds;
    if (this.#running > 0 || this.#closed || seconds === undefined || !this.#persistent) return;
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      if (this.#running > 0) return;
      this.#stopping = this.#stop(REACH_AGAIN_MS)
        .catch((error: unknown) => {
          this.#untold = ToolError.isInstance(error) ? error.message : String(error);
        })
        .finally(() => {
          this.#stopping = undefined;
        });
    }, seconds * 1000);
    this.#idle.unref();
  }

  async #noteGone(sandbox: Sandbox, why: string): Promise<void> {
    const held = await this.#held?.catch(() => undefined);
    if (held?.sandbox.sandboxId !== sandbox.sandboxId) return;
    this.#held = undefined;
    sandbox.detach();
    const saved = this.#persistent ? await this.#snapshots.get(this.#options.task) : undefined;
    const next =
      saved === undefined
        ? `All its files are gone; a new one starts from the image ${this.image}.`
        : `Files changed since the snapshot of ${saved.savedAt} are gone; a new one starts from it.`;
    this.#untold = `The Modal sandbox ${sandbox.sandboxId} is gone (${why}). ${next}`;
  }

  /** A fresh connection to the same sandbox; the client keeps none that can be mended. */
  async #reattach(sandbox: Sandbox): Promise<void> {
    const held = await this.#held?.catch(() => undefined);
    if (held === undefined || held.sandbox !== sandbox) return;
    this.#connectionLost = true;
    this.#held = modalClient(this.#options).then(async (client) => ({
      ...held,
      sandbox: await client.sandboxes.fromId(sandbox.sandboxId),
    }));
    sandbox.detach();
  }
}

function closedError(): ToolError {
  return new ToolError("The Modal environment is closed.", {
    code: "unavailable",
    hint: "Open a new session.",
  });
}

async function withLimit<T>(promise: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms / 1000} s`)), ms);
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}
