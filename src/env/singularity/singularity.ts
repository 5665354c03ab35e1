import { delegateEnvironment } from "../../call/delegate-environment.js";
import type { Environment } from "../environment.js";
import type { Starter } from "../local/starter.js";
import { openRemoteEnvironment } from "../remote/remote-environment.js";
import { execTransport } from "./exec-transport.js";
import { Instance } from "./instance.js";
import { ContainerProgram } from "./program.js";

export interface SingularityOptions {
  /** Shown in results; "singularity" by default. */
  readonly name?: string | undefined;
  /** A SIF file, a folder with a root file system, or an address such as `docker://debian:12`. */
  readonly image: string;
  /** Whose container it is. */
  readonly task: string;
  /** The Hermes home folder; only its hash is used. */
  readonly home: string;
  /** Variables of the program itself; commands see none of them. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Variables sent along with every command. */
  readonly passthrough?: Readonly<Record<string, string>> | undefined;
  /** `apptainer` or `singularity`; the first that PATH leads to when left out. */
  readonly program?: string | undefined;
  readonly cpu?: number | undefined;
  readonly memoryMb?: number | undefined;
  readonly network?: boolean | undefined;
  readonly mounts?: readonly {
    readonly source: string;
    readonly target: string;
    readonly readonly?: boolean;
  }[];
  /** Keep what commands change below `sandboxDir`; otherwise it lives in memory and ends with the container. */
  readonly persistent?: boolean | undefined;
  readonly sandboxDir: string;
  /** Where images are kept that were built from a folder or an address. */
  readonly cacheDir: string;
  readonly cwd?: string | undefined;
  /** Everything that ends with the runtime carries it. */
  readonly runtimeMark: string;
  /** Starts programs of this machine that end with the runtime; closed with the environment. */
  readonly starter: Pick<Starter, "start" | "close">;
  /** What takes long: building an image. */
  onProgress?(message: string): void;
}

/** A container of Apptainer or Singularity: one instance, which every command of the task joins. */
export async function createSingularityEnvironment(options: SingularityOptions): Promise<Environment> {
  const program = new ContainerProgram(options);
  const instance = new Instance(program, options);
  const environment = await openRemoteEnvironment({
    name: options.name ?? "singularity",
    kind: "singularity",
    transport: execTransport({ program, instance, options }),
    defaultCwd: options.cwd ?? "~",
    loginShell: false,
    endWithRuntime: true,
    closeEndsAll: true,
    passthrough: options.passthrough,
    async close() {
      await instance.close();
      await options.starter.close();
    },
    facts: async () => ({
      program: program.path,
      image: options.image,
      instance: instance.name,
      network: options.network === false ? "off" : "as on this machine",
      files: options.persistent === true ? "kept" : "in memory, gone when the container ends",
      ...(instance.notes.length > 0 && { note: instance.notes.join("; ") }),
    }),
  });
  // In memory, everything would be lost.
  return options.persistent === true
    ? delegateEnvironment(environment, { suspend: () => instance.stop() })
    : environment;
}
