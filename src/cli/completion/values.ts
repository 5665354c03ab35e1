import { isRecord } from "../../base/record.js";
import { CONFIG_KEYS, findKey } from "../../config/schema.js";
import type { LoadedConfig } from "../../config/types.js";
import { ENVIRONMENTS } from "../../env/environments.gen.js";
import { builtinManifest } from "../../registry/builtin-manifest.gen.js";
import { STATIC_TOOLSETS } from "../../registry/toolset-table.js";
import type { Runtime } from "../../runtime/runtime.js";

/** A value and what it means. */
export type Offer = readonly [value: string, about?: string | undefined];

export interface Asked {
  readonly home: string;
  /** Words that stand before on the line, behind the command. */
  readonly given: readonly string[];
  readonly word: string;
}

type Source = (asked: Asked) => readonly Offer[] | Promise<readonly Offer[]>;

interface KnownTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: unknown;
}

const tools: Source = async (asked) =>
  (await knownTools(asked)).map(({ name, description }) => [name, description]);

/** `path=` of the tool that was named, and then what a choice can be. */
const toolArguments: Source = async (asked) => {
  const [name, ...pairs] = asked.given;
  const tool = (await knownTools(asked)).find((one) => one.name === name);
  const properties = isRecord(tool?.parameters) ? tool.parameters.properties : undefined;
  if (!isRecord(properties)) return [];
  const [, key] = /^([^=]+)=/.exec(asked.word) ?? [];
  if (key !== undefined) return choicesOf(properties[key]).map((choice) => [`${key}=${choice}`]);
  return Object.entries(properties)
    .filter(([parameter]) => !pairs.some((pair) => pair.startsWith(`${parameter}=`)))
    .map(([parameter, schema]) => [
      `${parameter}=`,
      isRecord(schema) ? String(schema.description ?? "") : "",
    ]);
};

function choicesOf(schema: unknown): readonly string[] {
  if (!isRecord(schema)) return [];
  if (schema.type === "boolean") return ["true", "false"];
  return Array.isArray(schema.enum) ? schema.enum.map(String) : [];
}

const toolsets: Source = async (asked) => [
  ...[...STATIC_TOOLSETS].map(([name, { description }]): Offer => [name, description]),
  ...Object.entries((await configOf(asked)).values.custom_toolsets).map(
    ([name, { description }]): Offer => [name, description],
  ),
];

const servers: Source = async (asked) =>
  Object.keys((await configOf(asked)).values.mcp_servers).map((name) => [name]);

const profiles: Source = async (asked) => {
  const { loadPermissions } = await import("../../policy/profiles/load.js");
  const { paths, project, systemDir } = await configOf(asked);
  const { profiles: known } = await loadPermissions({ home: paths.home, project, systemDir });
  return known.map(({ name, description }) => [name, description]);
};

const keys: Source = () => CONFIG_KEYS.map(({ path, about }) => [path, about]);

const keyValues: Source = ({ given: [path = ""] }) => {
  const type = findKey(path)?.type;
  if (type?.kind === "boolean") return [["true"], ["false"]];
  return type?.kind === "enum" ? type.values.map((value) => [value]) : [];
};

const environments: Source = () => ENVIRONMENTS.map(({ kind, about }) => [kind, about]);

const clients: Source = async () =>
  Object.entries((await import("../mcp/install.js")).CLIENTS).map(([name, { title }]) => [name, title]);

const shells: Source = () => [["bash"], ["zsh"], ["fish"], ["powershell"]];

/** What the arguments of a command can be, in their order; the last goes on where a command takes any number. */
export const ARGUMENTS: Readonly<Record<string, readonly Source[]>> = {
  call: [tools, toolArguments],
  "permissions explain": [tools, toolArguments],
  "tools info": [tools],
  "tools schema": [tools],
  "tools explain": [tools],
  "tools check": [tools],
  "tools enable": [tools],
  "tools disable": [tools],
  toolsets: [toolsets],
  "mcp remove": [servers],
  "mcp test": [servers],
  "mcp login": [servers],
  "mcp approve": [servers],
  "mcp install": [clients],
  "permissions use": [profiles],
  "config get": [keys],
  "config set": [keys, keyValues],
  completion: [shells],
};

export const OPTIONS: Readonly<Record<string, Source>> = {
  "--profile": profiles,
  "--toolsets": toolsets,
  "--env": environments,
  "--tool": tools,
};

async function configOf({ home }: Asked): Promise<LoadedConfig> {
  const { loadConfig } = await import("../../config/load.js");
  return loadConfig({ home, cwd: process.cwd(), env: process.env });
}

/**
 * Those of the package, of the person's folders and of servers that were met before. Nothing is connected to: a key
 * that completes a word starts no server.
 */
async function knownTools({ home }: Asked): Promise<readonly KnownTool[]> {
  try {
    const { createRuntime } = await import("../../runtime/create-runtime.js");
    const flags = { "log.level": "silent" };
    const runtime = await createRuntime({ home, userTools: false, journal: false, flags });
    try {
      await runtime.sources.start(["module", "yaml"]);
      return [...runtime.registry.snapshot().entries.values(), ...(await rememberedTools(runtime))];
    } finally {
      await runtime.close();
    }
  } catch {
    return builtinManifest;
  }
}

async function rememberedTools(runtime: Runtime): Promise<readonly KnownTool[]> {
  const names = Object.keys(runtime.config.values.mcp_servers);
  if (names.length === 0) return [];
  const [{ db }, { PinRows }, { toolNameOf }] = await Promise.all([
    runtime.store(),
    import("../../sources/mcp/pin-rows.js"),
    import("../../sources/mcp/names.js"),
  ]);
  const rows = new PinRows(db);
  return names.flatMap((server) =>
    rows.present(server).map(({ name, description, inputSchema }) => ({
      name: toolNameOf(server, name),
      description: String(description ?? ""),
      parameters: inputSchema,
    })),
  );
}
