export interface DaytonaOptions {
  /** Shown in results; "daytona" by default. */
  readonly name?: string | undefined;
  /** Whose sandbox it is; its name is made of it. */
  readonly task: string;
  /** Name in a registry, e.g. "debian:12". */
  readonly image?: string | undefined;
  /** Name of a snapshot at Daytona to start from, instead of an image. */
  readonly snapshot?: string | undefined;
  /** Where commands start; the home folder by default. */
  readonly cwd?: string | undefined;
  /** Stop the sandbox at the end and start it again at the next opening; on by default. Otherwise delete it. */
  readonly persistent?: boolean | undefined;
  readonly cpu?: number | undefined;
  readonly memoryMb?: number | undefined;
  /** At most 10,240. */
  readonly diskMb?: number | undefined;
  /** Let the service stop a sandbox that nothing uses for this long; whole minutes, rounded up. */
  readonly idleStopSeconds?: number | undefined;
  /** By default DAYTONA_API_KEY, DAYTONA_API_URL and DAYTONA_TARGET. */
  readonly apiKey?: string | undefined;
  readonly apiUrl?: string | undefined;
  readonly target?: string | undefined;
  /** Variables that commands get. */
  readonly passthrough?: Readonly<Record<string, string>> | undefined;
}

export const DEFAULT_IMAGE = "nikolaik/python-nodejs:python3.11-nodejs20";
export const DEFAULT_API_URL = "https://app.daytona.io/api";
/** The service gives no sandbox more. */
export const MAX_DISK_GB = 10;
