import { isAbsolute, relative } from "node:path";
import { isBelow } from "../../base/path.js";
import type { LoadedConfig } from "../../config/types.js";
import type { Entry } from "../../registry/entry.js";
import type { SourceStatus } from "../../sources/types.js";
import type { Runtime } from "../runtime.js";

/** What the sources had brought at one moment. */
export interface Brought {
  readonly entries: ReadonlyMap<string, Entry>;
  /** Tool → the plugin that brings it. */
  readonly plugins: ReadonlyMap<string, string>;
  /** By source, why it is not in order. */
  readonly troubles: ReadonlyMap<string, string>;
}

export function broughtBy(runtime: Runtime): Brought {
  const statuses = runtime.sources.status();
  return {
    entries: runtime.registry.snapshot().entries,
    plugins: new Map(
      statuses.flatMap(({ source, tools }) =>
        source.startsWith("plugin:") ? tools.map((tool) => [tool, source] as const) : [],
      ),
    ),
    troubles: new Map(
      statuses.flatMap((status) => {
        const trouble = troubleOf(status);
        return trouble === undefined ? [] : [[status.source, trouble] as const];
      }),
    ),
  };
}

/** Of what comes from files: a server that is away tells of it itself. */
function troubleOf(status: SourceStatus): string | undefined {
  if (status.source.startsWith("mcp:")) return undefined;
  const left = status.quarantined.map(({ name, reason }) => `${name} is left out: ${reason}`);
  const isBroken = status.state === "failed" || status.state === "degraded";
  const parts = [...(isBroken ? [withFix(status)] : []), ...left];
  return parts.length === 0 ? undefined : parts.join("; ");
}

function withFix({ reason = "it could not be loaded", fix }: SourceStatus): string {
  return fix === undefined ? reason : `${reason} (${fix})`;
}

/** One line for each source whose tools are not what they were, and for each that is in order again. */
export function changesBetween(before: Brought, now: Brought, config: LoadedConfig): readonly string[] {
  const counts = new Map<string, Record<"added" | "changed" | "removed", number>>();
  const count = (entry: Entry, what: "added" | "changed" | "removed"): void => {
    const plugin = (what === "removed" ? before : now).plugins.get(entry.name);
    const source =
      plugin === undefined ? (entry.provenance.source ?? entry.provenance.kind) : placeOf(plugin);
    const known = counts.get(source) ?? { added: 0, changed: 0, removed: 0 };
    known[what] += 1;
    counts.set(source, known);
  };
  for (const [name, entry] of now.entries) {
    const earlier = before.entries.get(name);
    if (earlier === undefined) count(entry, "added");
    else if (earlier !== entry) count(entry, "changed");
  }
  for (const [name, entry] of before.entries) if (!now.entries.has(name)) count(entry, "removed");
  const lines = [...counts].map(([source, counted]) => `${shownPath(source, config)}: ${inWords(counted)}`);
  const mended = [...before.troubles.keys()]
    .filter((source) => !now.troubles.has(source) && !counts.has(placeOf(source)))
    .map((source) => `${shownPath(placeOf(source), config)}: in order again`);
  return [...lines, ...mended].sort();
}

function inWords(counted: Readonly<Record<string, number>>): string {
  return Object.entries(counted)
    .flatMap(([what, count]) => (count === 0 ? [] : `${count} ${what}`))
    .join(", ");
}

export interface Trouble {
  /** The file or folder, as it is shown. */
  readonly place: string;
  /** Begins with the place. */
  readonly text: string;
}

/** What is not in order now and was, or was for another reason. */
export function newTroubles(before: Brought, now: Brought, config: LoadedConfig): readonly Trouble[] {
  return [...now.troubles].flatMap(([source, trouble]) => {
    if (before.troubles.get(source) === trouble) return [];
    const path = placeOf(source);
    const place = shownPath(path, config);
    const text = trouble.replaceAll(path, place);
    return { place, text: text.startsWith(place) ? text : `${place}: ${text}` };
  });
}

/** `yaml:/path/file.yaml` → the path; `plugin:weather` → `plugin weather`, wherever it lies. */
function placeOf(source: string): string {
  return source.startsWith("plugin:") ? source.replace(":", " ") : source.slice(source.indexOf(":") + 1);
}

/** As short as the person would say it: `tools/weather.ts`, `.hermes/tools/x.yaml`. */
export function shownPath(path: string, { paths, project }: LoadedConfig): string {
  if (!isAbsolute(path)) return path;
  for (const root of [paths.home, project?.folder]) {
    if (root !== undefined && isBelow(path, root)) return relative(root, path);
  }
  return path;
}
