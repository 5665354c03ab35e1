import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { CONFIG_KEYS, type ConfigKey } from "../config/schema.js";
import type { LoadedConfig } from "../config/types.js";
import { namesSecret, type SecretRegistry } from "../policy/secrets.js";

/** Folders and files of the Hermes home that hold nothing but credentials. */
const TOKEN_FILES = ["server.token", "approvals.key"];
const TOKEN_FOLDER = "mcp-tokens";
const LONGEST_TOKEN_FILE = 64 * 1024;

/** Everything this runtime knows to be secret: environment, `.env`, configuration, its own token files. */
export function addKnownSecrets(secrets: SecretRegistry, config: LoadedConfig): void {
  secrets.patterns = config.values.security.redact_patterns;
  secrets.addFromEnv(config.env);
  for (const name of config.dotenvNames) secrets.add(name, config.env[name] ?? "");
  const keys: readonly ConfigKey[] = CONFIG_KEYS;
  for (const key of keys) {
    const value = key.path.split(".").reduce<unknown>(child, config.values);
    if (key.secret === true && typeof value === "string" && value !== "")
      addValue(secrets, { path: key.path, value, env: config.env });
    else if (key.type.kind === "map") addNamed(secrets, { path: key.path, value, env: config.env });
  }
  for (const name of TOKEN_FILES) addFile(secrets, name, join(config.paths.home, name));
  for (const name of filesIn(join(config.paths.home, TOKEN_FOLDER))) {
    addFile(secrets, `mcp:${name}`, join(config.paths.home, TOKEN_FOLDER, name));
  }
}

function child(parent: unknown, name: string): unknown {
  return typeof parent === "object" && parent !== null ? Reflect.get(parent, name) : undefined;
}

/**
 * Texts below names that say "secret", at any depth of a section whose shape is a tool's own business; under `…_env`
 * stands the name of a variable that holds one.
 */
function addNamed(
  secrets: SecretRegistry,
  section: { readonly path: string; readonly value: unknown; readonly env: LoadedConfig["env"] },
): void {
  const { path, value, env } = section;
  if (typeof value !== "object" || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    if (typeof inner === "string" && name.endsWith("_env")) {
      const held = env[inner];
      if (held !== undefined && held !== "") secrets.add(inner, held);
    } else if (typeof inner === "string" && namesSecret(name))
      addValue(secrets, { path: `${path}.${name}`, value: inner, env });
    else addNamed(secrets, { path: `${path}.${name}`, value: inner, env });
  }
}

/** `${NAME}`, also behind the scheme of a header, only names a secret: a backup that masked the name would lose it. */
const REFERENCE = /^(?:(?:bearer|basic|token) +)?\$\{(\w+)\}$/i;

function addValue(
  secrets: SecretRegistry,
  { path, value, env }: { readonly path: string; readonly value: string; readonly env: LoadedConfig["env"] },
): void {
  const [, variable] = REFERENCE.exec(value.trim()) ?? [];
  if (variable === undefined) secrets.add(path, value);
  else if ((env[variable] ?? "") !== "") secrets.add(variable, env[variable] ?? "");
}

function filesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** A bare token, or JSON with tokens in it. What cannot be read cannot leak from here either. */
function addFile(secrets: SecretRegistry, name: string, path: string): void {
  let content: string;
  try {
    content = readFileSync(path, "utf8").slice(0, LONGEST_TOKEN_FILE).trim();
  } catch {
    return;
  }
  if (!content.startsWith("{")) {
    secrets.add(name, content);
    return;
  }
  try {
    addNamed(secrets, { path: name, value: JSON.parse(content), env: {} });
  } catch {
    secrets.add(name, content);
  }
}
