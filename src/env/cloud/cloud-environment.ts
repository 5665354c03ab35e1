import { type Deferred, deferred } from "../../base/deferred.js";
import type { Environment, EnvironmentKind } from "../environment.js";
import { openRemoteEnvironment } from "../remote/remote-environment.js";
import type { Transport } from "../remote/transport.js";
import type { SandboxKeeper } from "./sandbox-keeper.js";

/** What sandboxes of all services are described by. */
export interface CloudOptions {
  /** Shown in results; the kind by default. */
  readonly name?: string | undefined;
  /** Whose sandbox it is: files are kept per task. */
  readonly task: string;
  /** Name in a registry, e.g. "debian:12". */
  readonly image?: string | undefined;
  /** Where commands start; the home folder by default. */
  readonly cwd?: string | undefined;
  /** Keep the files from one opening to the next; on by default. */
  readonly persistent?: boolean | undefined;
  readonly cpu?: number | undefined;
  readonly memoryMb?: number | undefined;
  /** Stop a sandbox that nothing runs in for this long. */
  readonly idleStopSeconds?: number | undefined;
  /** Variables that commands get. */
  readonly passthrough?: Readonly<Record<string, string>> | undefined;
}

export const DEFAULT_IMAGE = "nikolaik/python-nodejs:python3.11-nodejs20";

/** A sandbox of a service. Rejects when it cannot be reached. */
export function openCloudEnvironment<S>(made: {
  readonly kind: EnvironmentKind;
  readonly options: CloudOptions;
  readonly defaultCwd: string;
  readonly keeper: SandboxKeeper<S>;
  readonly transport: Transport;
}): Promise<Environment> {
  const { kind, options, keeper, transport } = made;
  return openRemoteEnvironment({
    name: options.name ?? kind,
    kind,
    transport,
    defaultCwd: options.cwd ?? made.defaultCwd,
    loginShell: false,
    passthrough: options.passthrough,
    close: () => keeper.close(),
    closeEndsAll: true,
    facts: () => keeper.facts(),
    snapshot: () => keeper.snapshot(),
  });
}

/** Holds back whoever reads output while nobody wants it. */
export class PauseSwitch {
  #paused: Deferred<void> | undefined;

  set(paused: boolean): void {
    if (paused) this.#paused ??= deferred();
    else {
      this.#paused?.resolve();
      this.#paused = undefined;
    }
  }

  async passed(): Promise<void> {
    while (this.#paused !== undefined) await this.#paused.promise;
  }
}
