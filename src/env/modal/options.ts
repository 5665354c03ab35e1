export interface ModalOptions {
  /** Shown in results; "modal" by default. */
  readonly name?: string;
  /** Whose files these are: snapshots are kept per task. */
  readonly task: string;
  /** Folder of `modal_snapshots.json`. */
  readonly stateDir: string;
  /** Name in a registry, e.g. "debian:12". */
  readonly image?: string;
  /** Where sandboxes are listed at Modal; made when it is missing. */
  readonly app?: string;
  /** Where commands start; "/root" by default. */
  readonly cwd?: string;
  /** Keep the files from one opening to the next; on by default. */
  readonly persistent?: boolean;
  readonly cpu?: number;
  readonly memoryMb?: number;
  /** The longest life of one sandbox; 3,600 by default. */
  readonly timeoutSeconds?: number;
  /** Stop a sandbox that nothing runs in for this long. */
  readonly idleStopSeconds?: number;
  /** Token, address and environment of the service; by default what Modal's own programs use. */
  readonly tokenId?: string;
  readonly tokenSecret?: string;
  readonly serverUrl?: string;
  readonly modalEnvironment?: string;
  /** Variables that commands get. */
  readonly passthrough?: Readonly<Record<string, string>>;
}

export const DEFAULT_IMAGE = "nikolaik/python-nodejs:python3.11-nodejs20";
export const DEFAULT_APP = "hermes-tools";
export const DEFAULT_TIMEOUT_SECONDS = 3600;
