import { existsSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { quoteIfNeeded } from "../base/quote.js";
import { checkValue, type Report } from "./check-value.js";
import { readConfigFile, reporterFor } from "./config-file.js";
import { nearest } from "./did-you-mean.js";
import { readDotenv } from "./dotenv.js";
import { LastGoodStore } from "./last-good.js";
import type { Layer, LayerEntry } from "./layer.js";
import { mergeLayers } from "./merge.js";
import { nodeFrom } from "./node.js";
import { problemsOfOwnFiles } from "./own-files.js";
import { type EnvironmentVariables, hermesPaths, PROJECT_FOLDER, SYSTEM_DIR } from "./paths.js";
import { nodeFromText } from "./read-text.js";
import { strictest } from "./restrict.js";
import { CONFIG_KEYS, type ConfigKey, envName, findKey } from "./schema.js";
import { isTrusted } from "./trust.js";
import type { ConfigFile, ConfigProblem, ConfigSource, LoadedConfig, Place } from "./types.js";

export interface LoadOptions {
  /** From `homeDir`. */
  readonly home: string;
  readonly cwd: string;
  readonly env: EnvironmentVariables;
  /** Command-line flags by name (`timeout`, `yolo`) or by key path (`log.level`). */
  readonly flags?: Readonly<Record<string, unknown>> | undefined;
  readonly systemDir?: string | undefined;
}

/**
 * The settings in force: defaults < system < home < trusted project (may only restrict) < variables <
 * flags < managed. Never throws for what is in a file; `problems` says what was wrong and where.
 */
export async function loadConfig(options: LoadOptions): Promise<LoadedConfig> {
  const { home, cwd, env, systemDir = SYSTEM_DIR } = options;
  const loadedAt = Date.now();
  const paths = hermesPaths(home);
  const problems: ConfigProblem[] = [];
  const files: ConfigFile[] = [];
  const layers: Layer[] = [];
  const lastGood = new LastGoodStore({ home, folder: paths.lastGood });
  let policyIncomplete = false;

  const addFile = async (path: string, source: ConfigSource) => {
    const reading = await readConfigFile({ path, source, lastGood, problems });
    if (reading === undefined) return;
    layers.push(...reading.layers);
    files.push(reading.file);
    policyIncomplete ||= reading.policyIncomplete;
  };

  await addFile(join(systemDir, "config.yaml"), "system");
  await addFile(paths.config, "home");
  problems.push(...(await problemsOfOwnFiles(home)));

  const folder = findProject({ cwd, home, env });
  const project = folder === undefined ? undefined : { folder, trusted: isTrusted({ home, folder }) };
  if (project !== undefined) {
    const path = join(project.folder, PROJECT_FOLDER, "config.yaml");
    if (project.trusted) await addFile(path, "project");
    else if (existsSync(path)) {
      files.push({ path, source: "project", state: "ignored" });
      problems.push({
        severity: "warning",
        source: "project",
        message: "the settings of this project are ignored because its folder is not trusted",
        hint: `if you trust it, run: hermes config trust ${quoteIfNeeded(project.folder)}`,
        file: path,
      });
    }
  }

  const dotenvReport = reporterFor({ source: "dotenv", file: paths.dotenv, problems });
  const dotenv = readDotenv(paths.dotenv, dotenvReport);
  if (dotenv !== undefined) {
    files.push({ path: paths.dotenv, source: "dotenv", state: "read" });
    const { values: variables, placeOf } = dotenv;
    layers.push(
      variableLayer({ source: "dotenv", variables, file: paths.dotenv, placeOf, report: dotenvReport }),
    );
  }
  const report = reporterFor({ source: "env", problems });
  layers.push(variableLayer({ source: "env", variables: env, report }));
  layers.push(flagLayer(options.flags ?? {}, reporterFor({ source: "flag", problems })));
  await addFile(join(systemDir, "managed.yaml"), "managed");

  const merged = mergeLayers(layers, problems);
  warnAboutSecretsInFiles(layers, problems);
  return {
    ...merged,
    loadedAt,
    problems,
    files,
    paths,
    systemDir,
    env: withoutUndefined({ ...dotenv?.values, ...withoutUndefined(env) }),
    dotenvNames: Object.keys(dotenv?.values ?? {}),
    policyIncomplete,
    project,
  };
}

function warnAboutSecretsInFiles(layers: readonly Layer[], problems: ConfigProblem[]): void {
  const secrets = (CONFIG_KEYS as readonly ConfigKey[]).filter((key) => key.secret);
  for (const layer of layers) {
    if (layer.file === undefined || layer.source === "dotenv") continue;
    for (const { path } of secrets) {
      const written = layer.entries.get(path);
      if (written === undefined) continue;
      problems.push({
        severity: "warning",
        source: layer.source,
        message: /^\$\{?\w+\}?$/.test(String(written.value))
          ? `${path} is what is written there: names of variables are filled in for MCP servers only`
          : `${path} is a secret and stands in a settings file`,
        hint: `run "hermes config set ${path} …", which keeps it in .env, and remove this line`,
        key: path,
        file: layer.file,
        ...written.place,
      });
    }
  }
}

function withoutUndefined(variables: EnvironmentVariables): Record<string, string> {
  const defined: Record<string, string> = {};
  for (const [name, value] of Object.entries(variables)) {
    if (value !== undefined) defined[name] = value;
  }
  return defined;
}

/** The nearest folder, from `cwd` upwards, that holds a `.hermes` of its own. A Hermes home is none. */
function findProject(options: {
  readonly cwd: string;
  readonly home: string;
  readonly env: EnvironmentVariables;
}): string | undefined {
  const userHome = options.env.HOME || homedir();
  const homes = new Set([realPath(options.home), realPath(join(userHome, PROJECT_FOLDER))]);
  for (let folder = realPath(resolve(options.cwd)); ; folder = dirname(folder)) {
    const candidate = join(folder, PROJECT_FOLDER);
    if (isFolder(candidate) && !homes.has(realPath(candidate))) return folder;
    if (folder === dirname(folder)) return undefined;
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch {
    return false;
  }
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** HERMES_ names that are read elsewhere and are no settings. */
const OTHER_VARIABLES = ["HERMES_HOME", "HERMES_ASCII", "HERMES_YOLO_MODE", "HERMES_SESSION_KEY"];

/** Settings from variables. An empty variable counts as not set. */
function variableLayer(options: {
  readonly source: "env" | "dotenv";
  readonly variables: EnvironmentVariables;
  readonly file?: string | undefined;
  readonly placeOf?: (name: string) => Place | undefined;
  readonly report: Report;
}): Layer {
  const { variables, source, report } = options;
  const entries = new Map<string, LayerEntry>();
  for (const key of CONFIG_KEYS as readonly ConfigKey[]) {
    const name = [envName(key), ...(key.envAliases ?? [])].find((candidate) => variables[candidate]);
    const text = name === undefined ? undefined : variables[name];
    if (name === undefined || text === undefined) continue;
    const place = options.placeOf?.(name);
    if (source === "dotenv" && key.notFromDotenv) {
      const message = `${name} is ignored: .env may not say where data goes`;
      report({ severity: "warning", message, hint: `set ${key.path} in config.yaml`, place, at: key.path });
      continue;
    }
    const named: Report = (finding) => report({ ...finding, message: `${name}: ${finding.message}`, place });
    const checked = checkValue(key, nodeFromText(key, text), named);
    if (checked !== undefined) entries.set(key.path, { ...checked, name, place });
    else if (key.policy && typeof key.project === "object") {
      entries.set(key.path, { value: strictest(key), name, place });
    }
  }
  if (source === "env" && isOn(variables.HERMES_YOLO_MODE)) {
    entries.set("approvals.mode", { value: "off", name: "HERMES_YOLO_MODE" });
  }
  reportMisspelt(options);
  return { source, entries, file: options.file };
}

/** Flags are given by their name (`timeout`) or by a key path (`log.level`); undefined means not given. */
function flagLayer(flags: Readonly<Record<string, unknown>>, report: Report): Layer {
  const entries = new Map<string, LayerEntry>();
  const byFlag = new Map(
    (CONFIG_KEYS as readonly ConfigKey[]).flatMap((key) => (key.flag ? [[key.flag, key] as const] : [])),
  );
  for (const [flag, value] of Object.entries(flags)) {
    const key = byFlag.get(flag) ?? findKey(flag);
    if (value === undefined || key === undefined) continue;
    const name = `--${flag}`;
    const named: Report = (finding) => report({ ...finding, message: `${name}: ${finding.message}` });
    const node = typeof value === "string" ? nodeFromText(key, value) : nodeFrom(value);
    const checked = checkValue(key, node, named);
    if (checked !== undefined) entries.set(key.path, { ...checked, name });
  }
  if (flags.yolo === true) entries.set("approvals.mode", { value: "off", name: "--yolo" });
  return { source: "flag", entries };
}

function reportMisspelt(options: {
  readonly variables: EnvironmentVariables;
  readonly placeOf?: (name: string) => Place | undefined;
  readonly report: Report;
}): void {
  let known: Set<string> | undefined;
  for (const name of Object.keys(options.variables)) {
    if (!name.startsWith("HERMES_")) continue;
    known ??= new Set([...(CONFIG_KEYS as readonly ConfigKey[]).map(envName), ...OTHER_VARIABLES]);
    if (known.has(name)) continue;
    // Other programs may use the prefix, so only a near miss is worth a word.
    const rest = name.slice("HERMES_".length);
    const endings = [...known].map((candidate) => candidate.slice("HERMES_".length));
    const [close] = nearest(rest, endings, 1);
    if (close === undefined || Math.abs(close.length - rest.length) > 2) continue;
    const message = `the variable ${name} is not known`;
    const place = options.placeOf?.(name);
    options.report({
      severity: "warning",
      message,
      hint: `did you mean "HERMES_${close}"?`,
      place,
      at: name,
    });
  }
}

function isOn(value: string | undefined): boolean {
  return value !== undefined && ["1", "true", "yes", "on"].includes(value.trim().toLowerCase());
}
