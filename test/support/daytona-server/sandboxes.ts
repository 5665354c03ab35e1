import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { copyImage, makeImage } from "../sandbox-host/image.js";
import { type HostedProcess, HostedSandbox } from "../sandbox-host/sandbox.js";

export interface CreateRequest {
  readonly name?: string;
  readonly snapshot?: string;
  readonly buildInfo?: { readonly dockerfileContent: string };
  readonly labels?: Readonly<Record<string, string>>;
  readonly target?: string;
  readonly cpu?: number;
  readonly memory?: number;
  readonly disk?: number;
  readonly autoStopInterval?: number;
  readonly autoDeleteInterval?: number;
}

export class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** One sandbox: a folder that outlives stops, and what runs in it while it is started. */
export class DaytonaSandbox {
  readonly id = randomUUID();
  readonly request: CreateRequest;
  readonly folder: string;
  readonly createdAt = new Date().toISOString();
  readonly terminals = new Map<string, HostedProcess>();
  state: "started" | "stopped" | "error" | "destroyed" = "stopped";
  errorReason: string | undefined;
  #hosted: HostedSandbox | undefined;

  constructor(request: CreateRequest, folder: string) {
    this.request = request;
    this.folder = join(folder, this.id);
  }

  get name(): string {
    return this.request.name ?? this.id;
  }

  get hosted(): HostedSandbox {
    if (this.#hosted === undefined) throw new Refusal(400, "sandbox is not running");
    return this.#hosted;
  }

  async start(): Promise<void> {
    if (this.#hosted !== undefined) return;
    this.#hosted = await HostedSandbox.start(this.folder);
    this.state = "started";
  }

  async stop(): Promise<void> {
    const hosted = this.#hosted;
    this.#hosted = undefined;
    this.state = "stopped";
    await hosted?.stop();
  }

  async destroy(): Promise<void> {
    await this.stop();
    this.state = "destroyed";
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** All sandboxes and snapshots of the account. */
export class DaytonaSandboxes {
  readonly #folder: string;
  readonly all = new Map<string, DaytonaSandbox>();
  readonly snapshots = new Map<string, string>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  find(idOrName: string): DaytonaSandbox {
    const found = this.all.get(idOrName) ?? [...this.all.values()].find(({ name }) => name === idOrName);
    if (found === undefined) throw new Refusal(404, `Sandbox ${idOrName} not found`);
    return found;
  }

  async create(request: CreateRequest): Promise<DaytonaSandbox> {
    if ([...this.all.values()].some(({ name }) => name === request.name))
      throw new Refusal(409, `Sandbox with name ${request.name} already exists`);
    if (request.disk !== undefined && request.disk > 10) throw new Refusal(400, "disk may not exceed 10 GB");
    const sandbox = new DaytonaSandbox(request, this.#folder);
    if (request.snapshot === undefined) await makeImage(sandbox.folder);
    else {
      const snapshot = this.snapshots.get(request.snapshot);
      if (snapshot === undefined) throw new Refusal(404, `Snapshot ${request.snapshot} not found`);
      await copyImage(snapshot, sandbox.folder);
    }
    await sandbox.start();
    this.all.set(sandbox.id, sandbox);
    return sandbox;
  }

  async snapshot(sandbox: DaytonaSandbox, name: string): Promise<void> {
    const folder = join(this.#folder, `snapshot-${randomUUID()}`);
    await copyImage(sandbox.folder, folder);
    this.snapshots.set(name, folder);
  }

  async delete(sandbox: DaytonaSandbox): Promise<void> {
    this.all.delete(sandbox.id);
    await sandbox.destroy();
  }

  async stop(): Promise<void> {
    await Promise.all([...this.all.values()].map((sandbox) => this.delete(sandbox)));
  }
}
