import { isRecord } from "../base/record.js";
import { type Failure, failure } from "../tool/errors.js";
import { unknownKey } from "./edit-result.js";
import { CONFIG_KEYS, resolveKey } from "./schema.js";
import type { LoadedConfig, Origin } from "./types.js";

export type Looked =
  | { readonly ok: true; readonly value: unknown; readonly origin: Origin; readonly secret: boolean }
  | ({ readonly ok: false } & Failure);

/** A key, an entry of a map or a whole section. Secrets are masked unless `reveal` is set. */
export function getConfigValue(loaded: LoadedConfig, key: string, reveal = false): Looked {
  const target = resolveKey(key);
  const isSection = CONFIG_KEYS.some((candidate) => candidate.path.startsWith(`${key}.`));
  if (target === undefined && !isSection) return unknownKey(key);
  let value: unknown = loaded.values;
  for (const part of key.split(".")) {
    const section = typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
    value = Object.hasOwn(section, part) ? section[part] : undefined;
  }
  if (value === undefined) {
    return {
      ok: false,
      ...failure("not_found", `${key} is not set`, `set it with: hermes config set ${key} …`),
    };
  }
  const origin = loaded.origin(key);
  const secret = target?.key.secret === true;
  return { ok: true, value: reveal ? value : masked(key, value), origin, secret };
}

function masked(path: string, value: unknown): unknown {
  if (resolveKey(path)?.key.secret) return value === "" ? "" : "********";
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, masked(`${path}.${name}`, inner)]),
  );
}
