import { ToolError } from "../../tool/errors.js";

export interface SshOptions {
  /** Address or name; a `Host` of the person's ssh configuration works too. */
  readonly host: string;
  readonly user?: string | undefined;
  readonly port?: number | undefined;
  /** Private key; without it, the agent and the keys of the ssh configuration are tried. */
  readonly keyFile?: string | undefined;
  /** Where commands start; the home folder there by default. */
  readonly cwd?: string | undefined;
  /** Give commands the variables of a login shell there, which is the default. */
  readonly loginShell?: boolean | undefined;
  /** Private folder (0700) for the sockets of connections; made when it is missing. */
  readonly controlDir: string;
  /**
   * What happens with the key of a host nobody has met: "accept-new" records it, "strict" refuses. A key that
   * differs from the recorded one is always refused. There is no "off": anybody between here and the host
   * could then read and change everything, without a trace.
   */
  readonly hostKeyPolicy?: "accept-new" | "strict" | undefined;
  /** Where host keys are recorded; `~/.ssh/known_hosts` by default. */
  readonly knownHostsFile?: string | undefined;
  /** Read instead of `~/.ssh/config`. */
  readonly configFile?: string | undefined;
  /** Further options of ssh_config(5), e.g. `{ ProxyJump: "gate.example.org" }`. */
  readonly sshOptions?: Readonly<Record<string, string>> | undefined;
  /** Variables sent along with every command. */
  readonly passthrough?: Readonly<Record<string, string>> | undefined;
  /** Variables of the `ssh` program itself; those of this process by default. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** The `ssh` program. */
  readonly program?: string | undefined;
  /** Shown in results; "ssh" by default. */
  readonly name?: string | undefined;
  /**
   * How files are copied: "sftp" wherever it copies faithfully, "tar" never with sftp; "auto" takes sftp for large
   * single files, where it is quicker, and tar for folders, where it is several times slower.
   */
  readonly copyWith?: "auto" | "sftp" | "tar" | undefined;
  /** How long the host may take to answer; 10 by default. */
  readonly connectSeconds?: number | undefined;
  /** Logins at the same time, when the server's sessions per connection do not suffice; 8 by default. */
  readonly maxConnections?: number | undefined;
  /** An unused connection is closed after this many seconds. */
  readonly idleSeconds?: number | undefined;
}

/** Names and addresses, also IPv6 with a zone. No first dash: `ssh` would take it for an option. */
const HOST = /^[A-Za-z0-9_:][A-Za-z0-9._:%-]*$/;
const USER = /^[A-Za-z0-9_][A-Za-z0-9._@+-]*$/;
const OPTION_NAME = /^[A-Za-z][A-Za-z0-9]*$/;
const DEFAULT_CONNECT_SECONDS = 10;

/** A connection that is cut counts as lost after (2 + 1) × 4 seconds. */
const FIXED_OPTIONS: Readonly<Record<string, string>> = {
  BatchMode: "yes",
  ConnectionAttempts: "1",
  ServerAliveInterval: "4",
  ServerAliveCountMax: "2",
  TCPKeepAlive: "yes",
  ControlMaster: "yes",
  ControlPersist: "no",
  // What a person's configuration may ask for in an interactive session.
  ClearAllForwardings: "yes",
  ForwardAgent: "no",
  ForwardX11: "no",
  PermitLocalCommand: "no",
  RemoteCommand: "none",
  RequestTTY: "no",
  Tunnel: "no",
};
const OWN_OPTIONS = new Set(
  [
    ...Object.keys(FIXED_OPTIONS),
    "ConnectTimeout",
    "ControlPath",
    "StrictHostKeyChecking",
    "UserKnownHostsFile",
    "LogLevel",
  ].map((name) => name.toLowerCase()),
);

/** Refuses what cannot be right before a process is started with it. */
export function checkSshOptions(options: SshOptions): void {
  if (!HOST.test(options.host))
    throw refuse("host", options.host, "Give a host name, an address, or a Host of the ssh configuration.");
  if (options.user !== undefined && !USER.test(options.user)) {
    throw refuse("user", options.user, "Use letters, digits and . _ @ + -, not beginning with a dash.");
  }
  const { port } = options;
  if (port !== undefined && !(Number.isInteger(port) && port > 0 && port < 65_536)) {
    throw refuse("port", String(port), "Give a number from 1 to 65535.");
  }
  const policy: string = options.hostKeyPolicy ?? "accept-new";
  if (policy !== "accept-new" && policy !== "strict") {
    throw refuse(
      "hostKeyPolicy",
      policy,
      "Use accept-new or strict. Host keys are always checked: without that, anybody in between could pose as the host.",
    );
  }
  for (const path of [options.keyFile, options.knownHostsFile, options.configFile]) {
    if (path !== undefined && /["\0\n]/.test(path))
      throw refuse("path", path, "Use a path without quotes and line breaks.");
  }
  for (const [name, value] of Object.entries(options.sshOptions ?? {})) checkFurtherOption(name, value);
}

function checkFurtherOption(name: string, value: string): void {
  if (!OPTION_NAME.test(name) || /[\0\n]/.test(value)) {
    throw refuse("option", `${name}=${value}`, "Use names of ssh_config(5) and values of one line.");
  }
  if (OWN_OPTIONS.has(name.toLowerCase())) {
    throw refuse(
      "option",
      name,
      "The environment sets this one itself; host keys have the setting hostKeyPolicy.",
    );
  }
}

/** Everything of the command line that opens a connection and holds it, without running anything there. */
export function masterArguments(options: SshOptions, socket: string): readonly string[] {
  const all = {
    ...FIXED_OPTIONS,
    ConnectTimeout: String(Math.ceil(options.connectSeconds ?? DEFAULT_CONNECT_SECONDS)),
    StrictHostKeyChecking: options.hostKeyPolicy === "strict" ? "yes" : "accept-new",
    ...(options.knownHostsFile !== undefined && { UserKnownHostsFile: quoted(options.knownHostsFile) }),
    // An agent with many keys would use up the attempts a server allows before this one's turn comes.
    ...(options.keyFile !== undefined && { IdentitiesOnly: "yes" }),
    // The first value given wins, so these come last.
    ...options.sshOptions,
  };
  return [
    options.program ?? "ssh",
    ...(options.configFile === undefined ? [] : ["-F", options.configFile]),
    // Says which keys were offered, which a refusal alone does not.
    "-v",
    "-N",
    "-T",
    "-S",
    socket,
    ...Object.entries(all).flatMap(([name, value]) => ["-o", `${name}=${value}`]),
    ...(options.keyFile === undefined ? [] : ["-i", options.keyFile.replaceAll("%", "%%")]),
    ...(options.port === undefined ? [] : ["-p", String(options.port)]),
    ...(options.user === undefined ? [] : ["-l", options.user]),
    "--",
    options.host,
  ];
}

/** As people write it: `user@host:port`, only what was given. */
export function destination(options: SshOptions): string {
  const host = options.host.includes(":") && options.port !== undefined ? `[${options.host}]` : options.host;
  return `${options.user === undefined ? "" : `${options.user}@`}${host}${options.port === undefined ? "" : `:${options.port}`}`;
}

function quoted(path: string): string {
  return `"${path.replaceAll("%", "%%")}"`;
}

function refuse(what: string, value: string, hint: string): ToolError {
  return new ToolError(`The ssh ${what} ${JSON.stringify(value)} cannot be used.`, {
    code: "invalid_arguments",
    hint,
  });
}
