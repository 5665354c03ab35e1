import type { LoadedConfig } from "../config/types.js";
import { failure, HermesError, ToolError } from "../tool/errors.js";
import type { EnvironmentProblem, OpenRequest } from "./descriptor.js";
import type { Environment } from "./environment.js";
import { ENVIRONMENTS } from "./environments.gen.js";

export type { OpenRequest } from "./descriptor.js";

/** Whether an environment could be used, as far as that can be told without connecting to anything. */
export interface EnvironmentStatus extends Partial<EnvironmentProblem> {
  readonly name: string;
  readonly about: string;
  readonly ready: boolean;
}

/** What is known of environments that plugins bring. */
export interface PluginEnvironments {
  environmentNames(): readonly string[];
}

export const BUILTIN_NAMES: readonly string[] = ENVIRONMENTS.map(({ kind }) => kind);

/** Keys that count in every environment, and those that count in one of a plugin. */
const EVERYWHERE = [
  "terminal.env",
  "terminal.timeout",
  "terminal.max_foreground_timeout",
  "terminal.max_processes",
  "tool_output.max_bytes",
];
const OF_PLUGINS = ["terminal.cwd", "terminal.lifetime_seconds"];

export function environmentNames(plugins?: PluginEnvironments): readonly string[] {
  return [...BUILTIN_NAMES, ...(plugins?.environmentNames() ?? [])];
}

/** Paths of the settings that shape an environment. */
export function environmentSettings(name: string): ReadonlySet<string> {
  return new Set([...EVERYWHERE, ...(builtin(name)?.settings ?? OF_PLUGINS)]);
}

/** The name itself, when there is an environment of that name. */
export function requireEnvironmentName(name: string, plugins?: PluginEnvironments): string {
  if (environmentNames(plugins).includes(name)) return name;
  throw noSuchEnvironment(name, plugins);
}

function noSuchEnvironment(name: string, plugins?: PluginEnvironments): HermesError {
  return new HermesError(
    failure(
      "not_found",
      `There is no environment called ${JSON.stringify(name)}`,
      `Environments: ${environmentNames(plugins).join(", ")}.`,
    ),
  );
}

export async function environmentStatus(
  name: string,
  config: LoadedConfig,
  plugins?: PluginEnvironments,
): Promise<EnvironmentStatus> {
  const entry = builtin(name);
  if (entry !== undefined) {
    const problem = await (await entry.load()).default.check(config);
    return { name, about: entry.about, ready: problem === undefined, ...problem };
  }
  const about = "an environment of a plugin";
  const known = environmentNames(plugins);
  if (known.includes(name)) return { name, about, ready: true };
  return {
    name,
    about,
    ready: false,
    reason: "nothing of that name is there",
    fix: `choose one of ${known.join(", ")}`,
  };
}

/** An environment as the configuration describes it. */
export async function openEnvironment(request: OpenRequest): Promise<Environment> {
  const { name, plugins } = request;
  const entry = builtin(name);
  try {
    if (entry !== undefined) return await (await entry.load()).default.open(request);
    const factory = plugins?.environment(name);
    if (factory === undefined) throw noSuchEnvironment(name, plugins);
    const { openPluginEnvironment } = await import("./plugin-environment.js");
    return await openPluginEnvironment({
      request,
      factory,
      builtin: (other) => openEnvironment({ ...request, name: other, plugins: undefined }),
    });
  } catch (error) {
    if (!ToolError.isInstance(error)) throw error;
    throw new HermesError(failure(error.code, error.message, error.hint));
  }
}

function builtin(name: string) {
  return ENVIRONMENTS.find(({ kind }) => kind === name);
}
