export interface ModalOptions {
  /** Shown in results; "modal" by default. */
  readonly name?: string | undefined;
  /** Whose files these are: snapshots are kept per task. */
  readonly task: string;
  /** Folder of `modal_snapshots.json`. */
  readonly stateDir: string;
  /** Name in a registry, e.g. "debian:12". */
  readonly image?: string | undefined;
  /** Where sandboxes are listed at Modal; made when it is missing. */
  readonly app?: string | undefined;
  /** Where commands start; "/root" by default. */
  readonly cwd?: string | undefined;
  /** Keep the files from one opening to the next; on by default. */
  readonly persistent?: boolean | undefined;
  readonly cpu?: number | undefined;
  readonly memoryMb?: number | undefined;
  /** The longest life of one sandbox; 3,600 by default. */
  readonly timeoutSeconds?: number | undefined;
  /** Stop a sandbox that nothing runs in for this long. */
  readonly idleStopSeconds?: number | undefined;
  /** Token, address and environment of the service; by default what Modal's own programs use. */
  readonly tokenId?: string | undefined;
  readonly tokenSecret?: string | undefined;
  readonly serverUrl?: string | undefined;
  readonly modalEnvironment?: string | undefined;
  /** Variables that commands get. */
  readonly passthrough?: Readonly<Record<string, string>> | undefined;
}

export const DEFAULT_IMAGE = "nikolaik/python-nodejs:python3.11-nodejs20";
export const DEFAULT_APP = "hermes-tools";
export const DEFAULT_TIMEOUT_SECONDS = 3600;
