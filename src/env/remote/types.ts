import type { Environment, EnvironmentKind, Transfer, TransferReport } from "../environment.js";
import type { Transport } from "./transport.js";

/**
 * A kind of environment elsewhere is a transport and a life cycle; shell lines, time limits, ending trees, files
 * and transfers come from this folder.
 */
export interface RemoteEnvironmentOptions {
  /** Shown in results and errors, e.g. "docker". */
  readonly name: string;
  readonly kind: EnvironmentKind;
  /** Starts programs there. It needs no shell of its own: every argv begins with `sh` or `bash`. */
  readonly transport: Transport;
  /** Absolute path there, or "~" for the home folder there. */
  readonly defaultCwd: string;
  /** Give commands the variables of a login shell (ssh); otherwise those the transport starts programs with. */
  readonly loginShell: boolean;
  /** How long a login shell may take; 30 s by default. */
  readonly loginLimitMs?: number;
  /** Variables the operator sends along. They travel on standard input, never on a command line. */
  readonly passthrough?: Readonly<Record<string, string>> | undefined;
  /** Programs there end when this runtime is killed, by a watcher that is started with the first one. */
  readonly leash?: boolean;
  /** Called once, after everything that was started has been ended: disconnects, removes the container. */
  close(): Promise<void>;
  /**
   * `close` ends every program there by itself, because a container or a sandbox goes with it. Otherwise what
   * commands have left in the background is looked for and ended before.
   */
  readonly closeEndsAll?: boolean;
  /** Facts for `describe`; called after a successful connection. */
  facts(): Promise<Readonly<Record<string, string>>>;
  /** Only where the service can keep its file system. */
  snapshot?: (() => Promise<{ readonly id: string }>) | undefined;
  /** Told each time the connection turns out to be lost, before the error reaches the caller. */
  onLost?(why: string): void;
  /** A faster way to copy than a tar stream through the transport. */
  fetch?(transfer: Transfer): Promise<TransferReport>;
  push?(transfer: Transfer): Promise<TransferReport>;
}

/**
 * `connect` is called before the environment is handed out: paths beginning with `~` can only be resolved
 * when the home folder there is known.
 */
export interface RemoteEnvironment extends Environment {
  /** Connects and looks around there; rejects with a ToolError (`unavailable`) that says why and what to do. */
  connect(): Promise<RemoteFacts>;
}

/** What was seen when the connection was made. */
export interface RemoteFacts {
  readonly home: string;
  readonly user: string;
  readonly system: string;
  readonly shell: "bash" | "sh";
  /** Where commands start when nothing else is said. */
  readonly cwd: string;
}
