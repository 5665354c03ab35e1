import { checkValue, type Report } from "./check-value.js";
import { nearest } from "./did-you-mean.js";
import type { Layer, LayerEntry } from "./layer.js";
import { nodeFrom } from "./node.js";
import type { EnvironmentVariables } from "./paths.js";
import { nodeFromText } from "./read-text.js";
import { strictest } from "./restrict.js";
import { CONFIG_KEYS, type ConfigKey, envName, findKey } from "./schema.js";
import type { Place } from "./types.js";

/** HERMES_ names that are read elsewhere and are no settings. */
const OTHER_VARIABLES = ["HERMES_HOME", "HERMES_ASCII", "HERMES_YOLO_MODE", "HERMES_SESSION_KEY"];

/** Settings from variables. An empty variable counts as not set. */
export function variableLayer(options: {
  readonly source: "env" | "dotenv";
  readonly variables: EnvironmentVariables;
  readonly file?: string;
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
    if (checked !== undefined) entries.set(key.path, { ...checked, name, ...(place ? { place } : {}) });
    else if (key.policy && typeof key.project === "object") {
      entries.set(key.path, { value: strictest(key), name, ...(place ? { place } : {}) });
    }
  }
  if (source === "env" && isOn(variables.HERMES_YOLO_MODE)) {
    entries.set("approvals.mode", { value: "off", name: "HERMES_YOLO_MODE" });
  }
  reportMisspelt(options);
  return { source, entries, ...(options.file ? { file: options.file } : {}) };
}

/** Flags are given by their name (`timeout`) or by a key path (`log.level`); undefined means not given. */
export function flagLayer(flags: Readonly<Record<string, unknown>>, report: Report): Layer {
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
