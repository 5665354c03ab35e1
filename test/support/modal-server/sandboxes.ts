import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { copyImage, makeImage } from "../sandbox-host/image.js";
import { type HostedProcess, HostedSandbox } from "../sandbox-host/sandbox.js";
import { RetainedOutput } from "./retained-output.js";

const STATUS = { success: 1, terminated: 3, timeout: 4 } as const;

export interface Definition {
  readonly entrypointArgs: readonly string[];
  readonly imageId: string;
  readonly timeoutSecs: number;
  readonly idleTimeoutSecs?: number;
  readonly resources?: { readonly memoryMb: number; readonly milliCpu: number };
}

export interface Tag {
  readonly tagName: string;
  readonly tagValue: string;
}

export interface Result {
  readonly status: number;
  readonly exitcode: number;
}

export interface Exec {
  readonly process: HostedProcess;
  readonly stdout: RetainedOutput;
  readonly stderr: RetainedOutput | undefined;
  inputBytes: number;
  status: { code?: number; signal?: number } | undefined;
}

export interface ModalSandbox {
  readonly id: string;
  readonly taskId: string;
  readonly appId: string;
  readonly createdAt: number;
  readonly definition: Definition;
  readonly tags: readonly Tag[];
  readonly execs: Map<string, Exec>;
  readonly hosted: HostedSandbox;
  readonly ended: Promise<Result>;
  result: Result | undefined;
  end(result: Result): void;
}

/** Images and the sandboxes made from them; each is a folder below one folder of the server. */
export class ModalSandboxes {
  readonly #folder: string;
  readonly images = new Map<string, string>();
  readonly #registryImages = new Map<string, string>();
  readonly all = new Map<string, ModalSandbox>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The image of a registry's name: every name gives the same small system. */
  async imageFromRegistry(name: string): Promise<string> {
    const known = this.#registryImages.get(name);
    if (known !== undefined && this.images.has(known)) return known;
    const id = modalId("im");
    const folder = join(this.#folder, id);
    await makeImage(folder);
    this.images.set(id, folder);
    this.#registryImages.set(name, id);
    return id;
  }

  async deleteImage(id: string): Promise<boolean> {
    const folder = this.images.get(id);
    if (folder === undefined) return false;
    this.images.delete(id);
    await rm(folder, { recursive: true, force: true });
    return true;
  }

  async snapshot(sandbox: ModalSandbox): Promise<string> {
    const id = modalId("im");
    const folder = join(this.#folder, id);
    await copyImage(sandbox.hosted.folder, folder);
    this.images.set(id, folder);
    return id;
  }

  async create(request: {
    appId: string;
    definition: Definition;
    tags: readonly Tag[];
  }): Promise<ModalSandbox> {
    const { appId, definition, tags } = request;
    const image = this.images.get(definition.imageId);
    if (image === undefined) throw new Error(`no image ${definition.imageId}`);
    const id = modalId("sb");
    const folder = join(this.#folder, id);
    await copyImage(image, folder);
    const hosted = await HostedSandbox.start(folder);
    let tell: (result: Result) => void = () => {};
    const sandbox: ModalSandbox = {
      ...{ id, taskId: modalId("ta"), appId, createdAt: Date.now() / 1000, definition, tags },
      execs: new Map(),
      hosted,
      ended: new Promise((resolve) => {
        tell = resolve;
      }),
      result: undefined,
      end: (result) => {
        if (sandbox.result !== undefined) return;
        sandbox.result = result;
        void hosted.stop();
      },
    };
    void hosted.ended.then(async () => {
      sandbox.result ??= { status: STATUS.terminated, exitcode: 137 };
      clearTimeout(lifetime);
      await rm(folder, { recursive: true, force: true });
      tell(sandbox.result);
    });
    const lifetime = setTimeout(
      () => sandbox.end({ status: STATUS.timeout, exitcode: 124 }),
      definition.timeoutSecs * 1000,
    );
    this.all.set(id, sandbox);
    await this.#runEntrypoint(sandbox);
    return sandbox;
  }

  terminate(sandbox: ModalSandbox): Promise<Result> {
    sandbox.end({ status: STATUS.terminated, exitcode: 137 });
    return sandbox.ended;
  }

  async stop(): Promise<void> {
    await Promise.all([...this.all.values()].map((sandbox) => this.terminate(sandbox)));
  }

  byTask(taskId: unknown): ModalSandbox | undefined {
    for (const sandbox of this.all.values())
      if (sandbox.taskId === taskId && sandbox.result === undefined) return sandbox;
    return undefined;
  }

  async #runEntrypoint(sandbox: ModalSandbox): Promise<void> {
    const argv = sandbox.definition.entrypointArgs;
    if (argv.length === 0) return;
    const entrypoint = await sandbox.hosted.start({ argv });
    entrypoint.stdout.resume();
    entrypoint.stderr?.resume();
    void entrypoint.exited.then(({ code }) => {
      if (code !== undefined) sandbox.end({ status: STATUS.success, exitcode: code });
    });
  }

  async exec(
    sandbox: ModalSandbox,
    request: {
      readonly id: string;
      readonly argv: readonly string[];
      readonly cwd: string | undefined;
      readonly env: Readonly<Record<string, string>>;
      readonly pty: { readonly columns: number; readonly rows: number } | undefined;
    },
  ): Promise<void> {
    const { id, pty, ...rest } = request;
    const process = await sandbox.hosted.start(pty === undefined ? rest : { ...rest, pty });
    const exec: Exec = {
      process,
      stdout: new RetainedOutput(process.stdout),
      stderr: process.stderr === undefined ? undefined : new RetainedOutput(process.stderr),
      inputBytes: 0,
      status: undefined,
    };
    void process.exited.then((status) => {
      exec.status = status;
    });
    sandbox.execs.set(id, exec);
  }
}

/** Like the service's own: a prefix and 22 letters or digits. */
function modalId(prefix: string): string {
  return `${prefix}-${randomBytes(11).toString("hex")}`;
}
