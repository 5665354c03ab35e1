import type { ConfigKey, KnownKey } from "../config/schema.js";
import type { LoadedConfig } from "../config/types.js";
import type { BuiltinEnvironment, Environment } from "./environment.js";
import type { EnvironmentsOfPlugins } from "./plugin-environment.js";

/**
 * All that is known of a built-in environment, the default export of `src/env/<kind>/index.ts`. That module imports
 * nothing heavy: `open` loads the code behind it.
 */
export interface EnvironmentDescriptor {
  /** The name of its folder. */
  readonly kind: string;
  /** Ends the sentence "It is …". */
  readonly about: string;
  readonly settings: {
    /** Keys that it brings; they become part of the configuration by `npm run build`. */
    readonly own: readonly ConfigKey[];
    /** Keys that it reads and that others read too. */
    readonly shared: readonly KnownKey["path"][];
  };
  /** What keeps it from being used, as far as that can be told without connecting to anything. */
  check(config: LoadedConfig): EnvironmentProblem | undefined | Promise<EnvironmentProblem | undefined>;
  open(request: OpenRequest): Promise<Environment>;
}

export interface EnvironmentProblem {
  readonly reason: string;
  readonly fix: string;
}

export interface OpenRequest {
  readonly name: string;
  /** Containers and cloud sandboxes are kept apart by it. */
  readonly task: string;
  readonly config: LoadedConfig;
  /** Long steps, such as pulling an image. */
  onProgress?(message: string): void;
  /** Asked for names that no built-in environment has. */
  readonly plugins?: EnvironmentsOfPlugins | undefined;
}

/** A row of the generated list: what can be told without loading the descriptor. */
export interface EnvironmentEntry {
  readonly kind: BuiltinEnvironment;
  readonly about: string;
  /** Paths of all keys it reads. */
  readonly settings: readonly KnownKey["path"][];
  load(): Promise<{ readonly default: EnvironmentDescriptor }>;
}

export function defineEnvironment(descriptor: EnvironmentDescriptor): EnvironmentDescriptor {
  return descriptor;
}
