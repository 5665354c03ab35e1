import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { quoteIfNeeded } from "../base/quote.js";
import { failure, HermesError } from "../tool/errors.js";
import { isOriginalHome } from "./original-home.js";

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

export interface HermesPaths {
  readonly home: string;
  readonly config: string;
  readonly dotenv: string;
  readonly permissions: string;
  readonly stateDb: string;
  /** Conversations, and the index to search them, which can be made again. */
  readonly sessionsDb: string;
  readonly sessionsIndex: string;
  /** What gateways have received and have to send. */
  readonly gatewaysDb: string;
  readonly tools: string;
  readonly plugins: string;
  readonly skills: string;
  readonly memories: string;
  readonly logs: string;
  readonly cache: string;
  /** Copies of the last version of each config file that could be read. */
  readonly lastGood: string;
  readonly serverToken: string;
  readonly trustedFolders: string;
}

export const SYSTEM_DIR = "/etc/hermes";

/** `--home` beats `HERMES_HOME` beats `~/.hermes`; always absolute. */
export function homeDir(options: {
  readonly env: EnvironmentVariables;
  readonly flags?: { readonly home?: unknown };
}): string {
  const userHome = options.env.HOME || homedir();
  const flag = options.flags?.home;
  const chosen = (typeof flag === "string" && flag) || options.env.HERMES_HOME;
  return usableHome(chosen ? resolve(expandTilde(chosen, userHome)) : join(userHome, ".hermes"));
}

/** Folders that the kernel makes up: nothing can be kept there, and waiting for it would never end. */
const MADE_UP = /^\/(?:proc|sys|dev)(?:\/(?!shm\/)|$)/;

export function usableHome(home: string): string {
  if (MADE_UP.test(home))
    throw new HermesError(
      failure(
        "bad_request",
        `${home} cannot be the Hermes home: nothing can be kept there`,
        "Set HERMES_HOME (or --home) to an ordinary folder.",
      ),
    );
  if (!isOriginalHome(home)) return home;
  const [here, there] = [quoteIfNeeded(home), quoteIfNeeded(`${home}-agent`)];
  throw new HermesError(
    failure(
      "bad_request",
      `${home} is the home of Hermes Agent (Python), which this program cannot share`,
      `Move it while nothing uses it (mv ${here} ${there}) and bring along what fits (hermes migrate --from ${there}), or give this program another home with --home or HERMES_HOME. Nothing was changed.`,
    ),
  );
}

export function hermesPaths(home: string): HermesPaths {
  return {
    home,
    config: join(home, "config.yaml"),
    dotenv: join(home, ".env"),
    permissions: join(home, "hermes_permissions.yaml"),
    stateDb: join(home, "state.db"),
    sessionsDb: join(home, "sessions.db"),
    sessionsIndex: join(home, "sessions-index.db"),
    gatewaysDb: join(home, "gateways.db"),
    tools: join(home, "tools"),
    plugins: join(home, "plugins"),
    skills: join(home, "skills"),
    memories: join(home, "memories"),
    logs: join(home, "logs"),
    cache: join(home, "cache"),
    lastGood: join(home, "cache", "config.last-good"),
    serverToken: join(home, "server.token"),
    trustedFolders: join(home, "trusted_folders"),
  };
}

/** Where a project keeps its own settings, tools and skills. */
export const PROJECT_FOLDER = ".hermes";

function expandTilde(path: string, userHome: string): string {
  if (path === "~") return userHome;
  return path.startsWith("~/") ? join(userHome, path.slice(2)) : path;
}
