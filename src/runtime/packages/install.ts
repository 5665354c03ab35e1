import { spawn } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../../base/errno.js";
import { NPM_PATIENCE, proxyVariables } from "../../net/process-proxy.js";
import {
  installedVersion,
  LOADER_FILE,
  LOADER_TEXT,
  packagesFolder,
  SETUP_COMMAND,
  versionHere,
  versionInHome,
} from "./find.js";
import { KNOWN_PACKAGES, OPTIONAL_PACKAGES, type OptionalPackage } from "./wanted.js";

/** One thing that a set-up command looks after. */
export interface SetupItem {
  readonly what: string;
  readonly state: "present" | "installed" | "missing" | "failed";
  /** The one command, or setting, that would bring it. */
  readonly fix?: string | undefined;
  /** More for people: a version, a place, why it failed. */
  readonly detail?: string | undefined;
}

const LAST_LINES = 3;

/** Which optional packages are there, in the version that was tried. */
export function checkPackages(
  home: string,
  packages: readonly OptionalPackage[] = OPTIONAL_PACKAGES,
): readonly SetupItem[] {
  return packages.map((wanted) => itemOf(wanted, home, "present"));
}

/**
 * Brings what is missing into the Hermes home, all in one run of npm, without running anybody's install scripts. What
 * this installation has anyway is not installed a second time.
 */
export async function installPackages(options: {
  readonly home: string;
  readonly packages?: readonly OptionalPackage[] | undefined;
  readonly onProgress?: (text: string) => void;
  readonly signal?: AbortSignal | undefined;
}): Promise<readonly SetupItem[]> {
  const { home, packages = OPTIONAL_PACKAGES } = options;
  const notHere = packages.filter(({ name, version }) => versionHere(name) !== version);
  const absent = notHere.filter(({ name, version }) => versionInHome(name, home) !== version);
  if (absent.length === 0) return checkPackages(home, packages);
  const folder = packagesFolder(home);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // All that belong there, or npm would take away what an earlier run has brought.
  const brought = KNOWN_PACKAGES.filter(({ name, version }) => versionInHome(name, home) === version);
  const dependencies = Object.fromEntries(
    [...brought, ...notHere].map(({ name, version }) => [name, version]),
  );
  await writeFile(
    join(folder, "package.json"),
    `${JSON.stringify({ private: true, description: `Written by ${SETUP_COMMAND}`, dependencies }, null, 2)}\n`,
  );
  await writeFile(join(folder, LOADER_FILE), LOADER_TEXT);
  const megabytes = absent.reduce((sum, one) => sum + one.megabytes, 0);
  options.onProgress?.(`installing ${absent.length} packages, about ${megabytes} MB, into ${folder}`);
  const failed = await npmInstall(folder, options.signal).catch(messageOf);
  return packages.map((wanted) => {
    const item = itemOf(wanted, home, absent.includes(wanted) ? "installed" : "present");
    return item.state === "missing" && failed !== undefined
      ? { ...item, state: "failed" as const, detail: failed }
      : item;
  });
}

function itemOf(wanted: OptionalPackage, home: string, found: "present" | "installed"): SetupItem {
  const { name, version, about } = wanted;
  const have = installedVersion(name, home);
  if (have === version) return { what: name, state: found, detail: `${version}: ${about}` };
  return {
    what: name,
    state: "missing",
    fix: SETUP_COMMAND,
    detail: have === undefined ? about : `${have} is there, ${version} is wanted: ${about}`,
  };
}

/** Resolves to what npm said when it failed. */
function npmInstall(folder: string, signal: AbortSignal | undefined): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const npm = spawn(
      "npm",
      [
        "install",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--omit=dev",
        "--loglevel=error",
        ...NPM_PATIENCE,
      ],
      // npm is a batch file on Windows, which only a shell can start; no argument comes from outside.
      {
        cwd: folder,
        env: { ...process.env, ...proxyVariables() },
        shell: process.platform === "win32",
        stdio: ["ignore", "ignore", "pipe"],
        signal,
      },
    );
    let said = "";
    npm.stderr.on("data", (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-4_000);
    });
    npm.once("error", reject);
    npm.once("close", (code) => {
      const lines = said.trim().split("\n").slice(-LAST_LINES).join(" ");
      resolve(code === 0 ? undefined : `npm ended with ${code}: ${lines}`);
    });
  });
}
