import { existsSync } from "node:fs";
import { join } from "node:path";

/** Where package managers keep what they have fetched, below the home, and the variable that leads them elsewhere. */
const CACHES: Readonly<Record<string, string | undefined>> = {
  ".npm": "npm_config_cache",
  ".cache/pip": "PIP_CACHE_DIR",
  ".cache/uv": "UV_CACHE_DIR",
  ".cache/yarn": "YARN_CACHE_FOLDER",
  ".cache/pnpm": undefined,
  ".local/share/pnpm/store": "npm_config_store_dir",
  ".bun/install/cache": "BUN_INSTALL_CACHE_DIR",
  ".cache/deno": "DENO_DIR",
  ".cache/go-build": "GOCACHE",
  "go/pkg/mod": "GOMODCACHE",
  ".cache/composer": "COMPOSER_CACHE_DIR",
  ".cache/pypoetry": "POETRY_CACHE_DIR",
  ".cargo/registry": "CARGO_HOME",
  ".cargo/git": undefined,
  ".gradle/caches": "GRADLE_USER_HOME",
  ".m2/repository": undefined,
  ".nuget/packages": "NUGET_PACKAGES",
};
/** A variable that says where several things lie, this one among them. */
const DECIDED_BY: Readonly<Record<string, string>> = { GOMODCACHE: "GOPATH" };

/** Without a network every further try is lost time: `npm view` would take two minutes to say so. */
const NO_RETRIES = {
  npm_config_fetch_retries: "0",
  PIP_RETRIES: "0",
  UV_HTTP_RETRIES: "0",
  YARN_HTTP_RETRY: "0",
  CARGO_NET_RETRY: "0",
  BUNDLE_RETRY: "0",
  POETRY_REQUESTS_MAX_RETRIES: "0",
  CONDA_REMOTE_MAX_RETRIES: "0",
} as const;

/** Those that are there can be written in their place. */
export const PACKAGE_CACHES: readonly string[] = Object.keys(CACHES).map((path) => `~/${path}`);

/** For package managers in the sandbox; what the person has set stays. */
export function packageVariables(request: {
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
  readonly network: boolean;
}): Readonly<Record<string, string>> {
  const { home, env, network } = request;
  const isSet = (name: string) => env[name] !== undefined || env[DECIDED_BY[name] ?? name] !== undefined;
  const missing = Object.entries(CACHES).filter(([path]) => !existsSync(join(home, path)));
  const led = missing.flatMap(([path, variable]) =>
    variable === undefined ? [] : [[variable, join("/tmp/.cache", path.replace(/^\./, ""))] as const],
  );
  return Object.fromEntries(
    [...led, ...(network ? [] : Object.entries(NO_RETRIES))].filter(([name]) => !isSet(name)),
  );
}
