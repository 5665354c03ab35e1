import { existsSync } from "node:fs";
import { join } from "node:path";
import { readConfigFile, reporterFor } from "./config-file.js";
import { readDotenv } from "./dotenv.js";
import { LastGoodStore } from "./last-good.js";
import type { Layer } from "./layer.js";
import { mergeLayers } from "./merge.js";
import { type EnvironmentVariables, hermesPaths, PROJECT_FOLDER, SYSTEM_DIR } from "./paths.js";
import { findProject } from "./project.js";
import { CONFIG_KEYS, type ConfigKey } from "./schema.js";
import { isTrusted } from "./trust.js";
import type { ConfigFile, ConfigProblem, ConfigSource, LoadedConfig } from "./types.js";
import { flagLayer, variableLayer } from "./variables.js";

export interface LoadOptions {
  /** From `homeDir`. */
  readonly home: string;
  readonly cwd: string;
  readonly env: EnvironmentVariables;
  /** Command-line flags by name (`timeout`, `yolo`) or by key path (`log.level`). */
  readonly flags?: Readonly<Record<string, unknown>>;
  readonly systemDir?: string;
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
        hint: `if you trust it, run: hermes config trust ${project.folder}`,
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
    ...(project ? { project } : {}),
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
        message: `${path} is a secret and stands in a settings file`,
        hint: `run "hermes config set ${path} …", which keeps it in .env, and remove this line`,
        key: path,
        file: layer.file,
        ...(written.place ?? {}),
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
