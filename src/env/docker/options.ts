export interface DockerOptions {
  /** Shown in results; "docker" by default. */
  readonly name?: string | undefined;
  /** Which engine to look for; "auto" takes Docker before Podman. */
  readonly engine?: EngineChoice | undefined;
  /** Address of the engine (`unix:///path`, `tcp://127.0.0.1:port`); wins over DOCKER_HOST and CONTAINER_HOST. */
  readonly host?: string | undefined;
  /** The environment that addresses and passed-on variables come from; the runtime's own by default. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** Names of variables that commands get with their present values. */
  readonly passthrough?: readonly string[] | undefined;
  readonly image: string;
  /** Whose container it is: a container left by a crash is used again only by the same task of the same home. */
  readonly task: string;
  readonly profile?: string | undefined;
  /** The Hermes home folder; only its hash leaves this machine. */
  readonly home: string;
  readonly cpu?: number | undefined;
  readonly memoryMb?: number | undefined;
  readonly diskMb?: number | undefined;
  readonly pidsLimit?: number | undefined;
  readonly network?: boolean | undefined;
  /** Another runtime for the container, e.g. "runsc" (gVisor). */
  readonly runtime?: string | undefined;
  /** Files that the container writes into mounted folders then belong to the person who runs Hermes. */
  readonly runAsHostUser?: boolean | undefined;
  readonly mounts?: readonly DockerMount[] | undefined;
  /** Keep the home folder and /workspace below `sandboxDir`. */
  readonly persistent?: boolean | undefined;
  readonly sandboxDir?: string | undefined;
  /** Where commands start; the home folder by default. */
  readonly cwd?: string | undefined;
  /** How long an unused container may stay; one that lost its owner is removed after twice that time. */
  readonly lifetimeSeconds?: number | undefined;
  /** What takes long: pulling an image. */
  onProgress?(text: string): void;
}

export type EngineChoice = "auto" | "docker" | "podman";

export interface DockerMount {
  readonly source: string;
  readonly target: string;
  readonly readonly?: boolean;
}
