import type { Layer, LayerEntry } from "./layer.js";
import { allowedDirection, restrict, union } from "./restrict.js";
import { CONFIG_KEYS, type ConfigKey, findKey } from "./schema.js";
import type { ConfigProblem, HermesConfig, Origin, Place } from "./types.js";

export interface Merged {
  readonly values: HermesConfig;
  origin(path: string): Origin;
}

interface Slot {
  value: unknown;
  origins: Origin[];
}

/** Layers go from low to high precedence. Lists of refusals add up, maps merge by entry, the rest replaces. */
export function mergeLayers(layers: readonly Layer[], problems: ConfigProblem[]): Merged {
  const slots = new Map<string, Slot>(
    CONFIG_KEYS.map((key) => [key.path, { value: key.default, origins: [] }]),
  );
  const entryOrigins = new Map<string, Origin>();
  for (const layer of layers) {
    for (const [path, entry] of layer.entries) {
      const key = findKey(path);
      const slot = slots.get(path);
      if (key === undefined || slot === undefined) continue;
      const origin = originOf(layer, entry);
      for (const [name, place] of placesInside(key, entry)) {
        const known = key.project === "unite" ? entryOrigins.get(`${path}.${name}`) : undefined;
        // What a list of refusals holds already is not the later file's doing, unless only a project had asked for it.
        if (known === undefined || known.source === "project")
          entryOrigins.set(`${path}.${name}`, { ...origin, ...place });
      }
      if (layer.onlyRestricts) {
        tighten({ key, slot, entry, layer, origin, problems });
        continue;
      }
      if (layer.source === "managed") reportOverruled({ key, slot, entry, layer, problems });
      if (key.project === "unite") {
        slot.value = union(slot.value, entry.value);
        slot.origins.push(origin);
      } else if (key.type.kind === "map") {
        slot.value = { ...asMap(slot.value), ...asMap(entry.value) };
        slot.origins = [origin];
        for (const name of Object.keys(asMap(entry.value))) {
          if (!entry.inside?.has(name)) entryOrigins.set(`${path}.${name}`, origin);
        }
      } else {
        slot.value = entry.value;
        slot.origins = [origin];
      }
    }
  }
  keepSearchLimitsInOrder(slots);
  return { values: nest(slots), origin: (path) => lookUp(path, slots, entryOrigins) };
}

/** The entries of a list or map with their places, where the layer has any. */
function placesInside(key: ConfigKey, entry: LayerEntry): Iterable<readonly [string, Place | undefined]> {
  if (key.project !== "unite") return entry.inside ?? [];
  return union(entry.value, []).map((item) => [item, entry.inside?.get(item)] as const);
}

interface Tightening {
  readonly key: ConfigKey;
  readonly slot: Slot;
  readonly entry: LayerEntry;
  readonly layer: Layer;
  readonly origin: Origin;
  readonly problems: ConfigProblem[];
}

function tighten({ key, slot, entry, layer, origin, problems }: Tightening): void {
  const isProject = layer.source === "project";
  if (key.project === "never" && !isProject) {
    slot.value = entry.value;
    slot.origins = [origin];
    return;
  }
  const outcome = restrict(key, slot.value, entry.value);
  if (!sameValue(outcome.value, slot.value)) {
    slot.value = outcome.value;
    slot.origins = key.project === "unite" ? [...slot.origins, origin] : [origin];
  }
  if (!outcome.loosens || !isProject) return;
  problems.push({
    severity: "warning",
    source: "project",
    message: `${key.path}: a project file ${allowedDirection(key)}; what would loosen it is ignored`,
    hint: "set it in the config.yaml of the Hermes home instead",
    key: key.path,
    file: layer.file,
    ...entry.place,
  });
}

function reportOverruled(overruling: {
  key: ConfigKey;
  slot: Slot;
  entry: LayerEntry;
  layer: Layer;
  problems: ConfigProblem[];
}): void {
  const { key, slot, entry, layer, problems } = overruling;
  const asked = slot.origins.at(-1);
  if (asked === undefined || key.project === "unite" || key.type.kind === "map") return;
  if (asked.source === "managed" || sameValue(slot.value, entry.value)) return;
  const where = asked.name ?? asked.file ?? asked.source;
  problems.push({
    severity: "warning",
    source: asked.source,
    message: `${key.path} is set by ${layer.file ?? "the managed settings"}; ${where} cannot change it`,
    hint: "ask the administrator of this machine",
    key: key.path,
    file: asked.file,
    line: asked.line,
  });
}

/** A default above the maximum would make every search fail; two files can disagree without being wrong. */
function keepSearchLimitsInOrder(slots: Map<string, Slot>): void {
  const limit = slots.get("tools.tool_search.search_default_limit");
  const most = slots.get("tools.tool_search.max_search_limit");
  if (limit && most) limit.value = Math.min(Number(limit.value), Number(most.value));
}

function originOf(layer: Layer, entry: LayerEntry): Origin {
  return {
    source: layer.source,
    file: layer.file,
    ...entry.place,
    name: entry.name,
    lastGood: layer.lastGood,
  };
}

function lookUp(path: string, slots: Map<string, Slot>, entryOrigins: Map<string, Origin>): Origin {
  for (let rest = path; rest !== ""; rest = rest.slice(0, Math.max(0, rest.lastIndexOf(".")))) {
    const entry = entryOrigins.get(rest);
    if (entry !== undefined) return entry;
    const origins = slots.get(rest)?.origins;
    const last = origins?.at(-1);
    if (last !== undefined) return origins && origins.length > 1 ? { ...last, from: origins } : last;
  }
  return { source: "default" };
}

function nest(slots: Map<string, Slot>): HermesConfig {
  const root: Record<string, unknown> = {};
  for (const [path, slot] of slots) {
    const parts = path.split(".");
    const leaf = parts.pop() ?? path;
    let section = root;
    for (const part of parts) {
      section[part] ??= {};
      section = section[part] as Record<string, unknown>;
    }
    section[leaf] = deepFreeze(slot.value);
  }
  return deepFreeze(root) as HermesConfig;
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null) return value;
  for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}

function asMap(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function sameValue(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
