import { ToolError } from "../../tool/errors.js";

/** Names a child may inherit. Everything else stays behind, so a key nobody thought of cannot leak. */
const INHERITED = new Set(
  [
    "PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR TERM COLUMNS LINES HOSTNAME EDITOR VISUAL",
    "XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_RUNTIME_DIR XDG_DATA_DIRS XDG_CONFIG_DIRS",
    "DISPLAY WAYLAND_DISPLAY DBUS_SESSION_BUS_ADDRESS",
    "SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE CURL_CA_BUNDLE GIT_SSL_CAINFO",
    "VIRTUAL_ENV CONDA_PREFIX PYENV_ROOT NVM_DIR GOPATH GOROOT GOCACHE CARGO_HOME RUSTUP_HOME JAVA_HOME",
    "ANDROID_HOME DENO_DIR BUN_INSTALL PNPM_HOME RBENV_ROOT GEM_HOME SDKMAN_DIR HOMEBREW_PREFIX",
  ]
    .join(" ")
    .split(" "),
);
const LOCALE_NAME = /^LC_[A-Z]+$/;
/** Proxy settings are needed to reach anything at all on some networks, but may carry a password. */
const PROXY_NAME = /^(?:https?|all|no)_proxy$/i;
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** A shell without a person in front of it must not stop at a pager or a password prompt. */
export const FIXED: Readonly<Record<string, string>> = {
  PAGER: "cat",
  GIT_PAGER: "cat",
  MANPAGER: "cat",
  SYSTEMD_PAGER: "",
  GIT_TERMINAL_PROMPT: "0",
  AI_AGENT: "hermes",
};

export interface ChildEnvOptions {
  readonly parent: NodeJS.ProcessEnv;
  /** Names the operator lets through on purpose. */
  readonly passthrough?: readonly string[];
}

type Changes = Readonly<Record<string, string | undefined>>;

/** What every child gets: an allow-list and fixed values. */
export function baseEnvironment({ parent, passthrough = [] }: ChildEnvOptions): Record<string, string> {
  const child: Record<string, string> = { TERM: "dumb" };
  for (const name of Object.keys(parent)) {
    if (!INHERITED.has(name) && !LOCALE_NAME.test(name) && !PROXY_NAME.test(name)) continue;
    const value = parent[name];
    if (value !== undefined && !(PROXY_NAME.test(name) && value.includes("@"))) child[name] = value;
  }
  Object.assign(child, FIXED);
  for (const name of passthrough) {
    const value = parent[name];
    if (value !== undefined) child[name] = value;
  }
  return child;
}

/** What a request sets, and takes away with an undefined value, wins. */
export function changedEnvironment(
  base: Readonly<Record<string, string>>,
  changes: Changes,
): Record<string, string> {
  const child = { ...base };
  for (const [name, value] of Object.entries(changes)) {
    if (!VARIABLE_NAME.test(name) || value?.includes("\0")) {
      throw new ToolError(
        `Environment variable ${JSON.stringify(name)} cannot be set: ` +
          (value?.includes("\0") ? "its value holds a NUL byte" : "the name is not a valid variable name"),
        {
          code: "invalid_arguments",
          hint: "Use letters, digits and underscores, not starting with a digit.",
        },
      );
    }
    if (value === undefined) delete child[name];
    else child[name] = value;
  }
  return child;
}

/** The complete environment of a child process. */
export function childEnvironment(options: ChildEnvOptions & { readonly added?: Changes }) {
  return changedEnvironment(baseEnvironment(options), options.added ?? {});
}

/** Linux refuses one string of 128 KiB, and arguments plus environment beyond about 2 MiB. */
const MAX_ONE_STRING = 131_071;
const MAX_TOTAL = 1_900_000;

/** Says in words what execve would only call E2BIG. */
export function refuseOversized(argv: readonly string[], env: Readonly<Record<string, string>>): void {
  let total = 0;
  for (const argument of argv) {
    const bytes = Buffer.byteLength(argument) + 1;
    if (bytes > MAX_ONE_STRING) {
      throw oversized(`one argument is ${bytes} bytes long, the system takes at most ${MAX_ONE_STRING}`);
    }
    total += bytes + 8;
  }
  for (const [name, value] of Object.entries(env)) {
    const bytes = Buffer.byteLength(name) + Buffer.byteLength(value) + 2;
    if (bytes > MAX_ONE_STRING) {
      throw oversized(
        `the environment variable ${name} is ${bytes} bytes long, the system takes at most ${MAX_ONE_STRING}`,
      );
    }
    total += bytes + 8;
  }
  if (total > MAX_TOTAL) {
    throw oversized(`arguments and environment together are ${total} bytes, the limit is ${MAX_TOTAL}`);
  }
}

function oversized(why: string): ToolError {
  return new ToolError(`The command is too large to start: ${why}.`, {
    code: "invalid_arguments",
    hint: "Write the text to a file and run that file, or pass the data on standard input.",
  });
}
