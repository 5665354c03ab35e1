import { spawn } from "node:child_process";
import { cp, mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { findProgram } from "../../env/find-program.js";
import { networkAdvice } from "../../net/connection-failure.js";
import { NPM_PATIENCE, proxyVariables } from "../../net/process-proxy.js";
import { failure, HermesError } from "../../tool/errors.js";
import { packageFolder } from "./find-plugins.js";
import { type FoundPlugin, MANIFEST_FILE, readPlugin } from "./read-plugin.js";

export interface InstallRequest {
  /** npm name with or without a version, a folder, or a tarball. */
  readonly spec: string;
  readonly cwd: string;
  /** `$HERMES_HOME/plugins`. */
  readonly pluginsFolder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Brings a plugin onto this machine. It does not run yet: that is a question of its own. */
export async function installPlugin(request: InstallRequest): Promise<FoundPlugin> {
  const { spec, cwd, pluginsFolder } = request;
  await mkdir(pluginsFolder, { recursive: true, mode: 0o700 });
  if (PACKAGE_SPEC.test(spec)) return installPackage(request, spec);
  if (!looksLikePath(spec)) {
    // npm would fetch repositories, too, and run what their files tell it to.
    const hint = "Give an npm name with or without @version, a folder (./x) or a tarball (.tgz).";
    throw new HermesError(
      failure("bad_request", `${spec} is not something plugins are installed from`, hint),
    );
  }
  const path = resolve(cwd, spec.replace(/^~(?=\/)/, request.env.HOME ?? "~"));
  const status = await stat(path).catch(() => undefined);
  if (status === undefined) throw new HermesError(failure("not_found", `${path} does not exist`));
  const plain = status.isDirectory() && !(await exists(join(path, "package.json")));
  return plain ? copyFolder(path, pluginsFolder) : installPackage(request, path);
}

/** `name`, `@scope/name`, each with or without `@` and a version, a range or a tag. */
const PACKAGE_SPEC = /^(?:@[a-z0-9~][\w.~-]*\/)?[a-z0-9~][\w.~-]*(?<!\.tgz|\.tar\.gz)(?:@[\w.^~<>=*+ -]+)?$/i;

function looksLikePath(spec: string): boolean {
  if (/^[a-z][a-z0-9+.-]*:/i.test(spec)) return false;
  return /^(?:\.{0,2}\/|\.{1,2}$|~\/)/.test(spec) || /\.t(?:ar\.)?gz$/.test(spec);
}

/** A folder with a manifest and nothing of npm: it lies among the plugins from now on. */
async function copyFolder(folder: string, pluginsFolder: string): Promise<FoundPlugin> {
  const plugin = await readPlugin({ folder, place: "home" });
  const [problem] = plugin.problems;
  if (problem !== undefined) throw unusable(problem);
  const target = join(pluginsFolder, plugin.name);
  if (await exists(target)) {
    throw new HermesError(
      failure("bad_request", `${target} is there already`, "Remove it first, or change the files in it."),
    );
  }
  // Begins with a dot, so that nobody takes it for a plugin.
  const partial = join(pluginsFolder, `.${plugin.name}.partial-${process.pid}`);
  const skipped = new Set(["node_modules", ".git"]);
  try {
    await cp(folder, partial, {
      recursive: true,
      // A link inside the folder must not come to lead back to where it was copied from.
      verbatimSymlinks: true,
      filter: (source) => source === folder || !skipped.has(basename(source)),
    });
    await rename(partial, target);
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
  return readPlugin({ folder: target, place: "home" });
}

async function installPackage(request: InstallRequest, spec: string): Promise<FoundPlugin> {
  const { pluginsFolder } = request;
  const before = await dependenciesOf(pluginsFolder);
  // Scripts of packages run with all rights before anybody has looked at them.
  const flags = ["--ignore-scripts", "--save-exact", "--install-links", "--no-audit", "--no-fund"];
  await npm(request, ["install", ...flags, spec]);
  const after = await dependenciesOf(pluginsFolder);
  const changed = Object.keys(after).find((one) => before[one] !== after[one]);
  const name = changed ?? nameOf(spec, { installed: after, pluginsFolder });
  const plugin = await readPlugin({
    folder: packageFolder(pluginsFolder, name),
    place: "package",
    package: name,
  });
  const [problem] = plugin.problems;
  if (problem === undefined) return plugin;
  const earlier = before[name];
  // What was installed before may be in use.
  if (earlier !== undefined && earlier !== after[name])
    await npm(request, ["install", ...flags, `${name}@${earlier}`]);
  else await npm(request, ["uninstall", "--ignore-scripts", "--no-audit", "--no-fund", name]);
  throw unusable(problem);
}

/** Installing what is there already changes nothing in `package.json`. */
function nameOf(
  spec: string,
  {
    installed,
    pluginsFolder,
  }: { readonly installed: Readonly<Record<string, string>>; readonly pluginsFolder: string },
): string {
  const name = Object.keys(installed).find((one) => {
    const from = installed[one] ?? "";
    const path = from.startsWith("file:") ? resolve(pluginsFolder, from.slice("file:".length)) : undefined;
    return spec === one || spec.startsWith(`${one}@`) || path === spec;
  });
  if (name !== undefined) return name;
  throw new HermesError(failure("failed", `npm installed ${spec}, but did not say under which name`));
}

async function dependenciesOf(pluginsFolder: string): Promise<Readonly<Record<string, string>>> {
  const file = join(pluginsFolder, "package.json");
  if (!(await exists(file))) {
    const text = `${JSON.stringify({ name: "hermes-plugins", private: true, dependencies: {} }, null, 2)}\n`;
    await writeFile(file, text, { mode: 0o600 });
  }
  const { dependencies = {} } = JSON.parse(await readFile(file, "utf8")) as {
    readonly dependencies?: Record<string, string>;
  };
  return dependencies;
}

/** Argument vector, no shell: a name cannot become a command. */
async function npm({ pluginsFolder, env }: InstallRequest, args: readonly string[]): Promise<void> {
  const program = findProgram("npm", env);
  if (program === undefined) {
    throw new HermesError(failure("unavailable", "npm is not on PATH", "Install Node with npm."));
  }
  const ending = args.filter((arg) => !arg.startsWith("--"));
  const options = args.filter((arg) => arg.startsWith("--"));
  const child = spawn(
    program,
    [
      ending[0] ?? "",
      "--prefix",
      pluginsFolder,
      "--loglevel=error",
      ...NPM_PATIENCE,
      ...options,
      "--",
      ...ending.slice(1),
    ],
    { cwd: pluginsFolder, env: { ...env, ...proxyVariables() }, stdio: ["ignore", "pipe", "pipe"] },
  );
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      said = (said + chunk).slice(-4_000);
    });
  }
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (code === 0) return;
  const lines = said
    .split("\n")
    .filter((line) => line.trim() !== "" && !/^npm (?:error|ERR!) A complete log/.test(line));
  const [, npmCode = ""] = /^npm (?:error|ERR!) code (\S+)/m.exec(said) ?? [];
  const isOnTheWay = /^E(?:CONN|TIMEDOUT|NOTFOUND|AI_AGAIN|407|5\d\d)|CERT|VERIFY_LEAF|ISSUER/.test(npmCode);
  const hint = isOnTheWay ? networkAdvice(npmCode, proxyVariables().HTTPS_PROXY) : undefined;
  throw new HermesError(failure("failed", `npm ${args[0]} failed: ${lines.slice(-6).join("; ")}`, hint));
}

function unusable(problem: string): HermesError {
  return new HermesError(
    failure(
      "bad_request",
      `This is no plugin that can be used: ${problem}`,
      `See docs/plugins.md about ${MANIFEST_FILE}.`,
    ),
  );
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}
