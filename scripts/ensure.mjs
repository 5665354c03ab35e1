// Makes a clone ready to run with nothing but Node: installs the locked packages, then builds what is stale.
// Uses Node's own modules only, because it runs before anything is installed.
import { spawn } from "node:child_process";
import { existsSync, lstatSync, readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

const OLDEST_NODE = [20, 19];

/** Other people's programs that only tests talk to. */
const PEERS = join(root, "test", "peers");

/** Throws, with a message for the person, when the clone cannot be made ready. */
export async function ensureReady({ types, peers = false }) {
  refuseOldNode();
  const withPeers = peers && existsSync(join(PEERS, "package.json"));
  for (const folder of withPeers ? [root, PEERS] : [root])
    if (!installedAsLocked(folder)) await install(folder);
  const { build } = await import("./build.mjs");
  return build({ root, types, say: (line) => console.error(`· ${line}`) });
}

/** Runs a program on this terminal, passes signals on, and answers with its exit code. */
export function runToEnd(program, args, options = {}) {
  const child = spawn(program, args, { cwd: root, stdio: "inherit", ...options });
  const pass = (signal) => child.kill(signal);
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const signal of signals) process.on(signal, pass);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (status, signal) => {
      for (const name of signals) process.off(name, pass);
      resolve(status ?? (signal === "SIGINT" ? 130 : 1));
    });
  });
}

/** The environment as it was before npm added its own: what runs here must find the person's programs. */
export function withoutNpm(env) {
  const kept = Object.entries(env).filter(
    ([name]) => !/^npm_(?:lifecycle|package|config_local_prefix|command|execpath|node_execpath)/.test(name),
  );
  const folders = (env.PATH ?? "").split(delimiter);
  const own = folders.filter((folder) => !/node_modules[\\/](?:\.bin|.*node-gyp-bin)$/.test(folder));
  return { ...Object.fromEntries(kept), PATH: own.join(delimiter) };
}

function refuseOldNode() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const [oldestMajor, oldestMinor] = OLDEST_NODE;
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return;
  throw new Error(
    `Node ${process.versions.node} is too old: ${OLDEST_NODE.join(".")} or later is needed. Get it from https://nodejs.org.`,
  );
}

/** Compares the lock file with npm's own record of what it installed, so a manual `npm install` counts too. */
function installedAsLocked(home) {
  const record = join(home, "node_modules", ".package-lock.json");
  if (!existsSync(record)) return false;
  try {
    const locked = JSON.parse(readFileSync(join(home, "package-lock.json"), "utf8")).packages;
    const installed = JSON.parse(readFileSync(record, "utf8")).packages;
    return Object.entries(locked).every(([path, { version, optional, devOptional }]) => {
      const found = installed[path];
      if (path === "" || (found === undefined && (optional || devOptional))) return true;
      return found?.version === version && existsSync(join(home, path, "package.json"));
    });
  } catch {
    return false;
  }
}

async function install(home) {
  const folder = join(home, "node_modules");
  // npm replaces what it finds there, which would reach through the link into somebody else's folder.
  if (lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink()) {
    throw new Error(`${folder} is a link and does not fit package-lock.json; run npm ci where it points to.`);
  }
  const what = home === root ? "packages" : "programs for the tests";
  console.error(`· installing ${what}, once per change of package-lock.json …`);
  const { program, args } = npmCommand();
  // Other people's programs may ask for a newer Node than they need; ours may not.
  const engines = home === root ? [] : ["--engine-strict=false"];
  // Here and not in .npmrc, where it would also keep `npm pack` from building.
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", ...engines];
  const code = await runToEnd(program, [...args, "ci", ...flags], { cwd: home });
  if (code !== 0) {
    throw new Error(
      `npm ci ended with exit code ${code}; its messages are above. Check the network and the registry of your npm configuration, then run this again.`,
    );
  }
}

/** npm beside the Node that runs this, so that one Node does everything. */
function npmCommand() {
  const beside = [
    process.env.npm_execpath,
    join(dirname(process.execPath), "..", "lib", "node_modules", "npm", "bin", "npm-cli.js"),
    join(dirname(process.execPath), "node_modules", "npm", "bin", "npm-cli.js"),
  ].find((path) => path?.endsWith("npm-cli.js") && existsSync(path));
  return beside === undefined ? { program: "npm", args: [] } : { program: process.execPath, args: [beside] };
}
