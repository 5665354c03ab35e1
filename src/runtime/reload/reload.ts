import { isAbsolute, relative } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { isBelow } from "../../base/path.js";
import { type ConfigProblem, formatProblem, type LoadedConfig } from "../../config/types.js";
import { loadPermissions } from "../../policy/profiles/load.js";
import type { Entry } from "../../registry/entry.js";
import type { SourceStatus } from "../../sources/types.js";
import type { Runtime } from "../runtime.js";
import type { HeldChanges } from "./held-changes.js";

export interface ReloadRequest {
  readonly runtime: Runtime;
  /** Files of settings that have changed; none when it is only about tools. */
  readonly settings: readonly string[];
  /** Other files that have changed. */
  readonly tools: readonly string[];
  /** How long an unfinished file is given before it counts as broken. */
  readonly quietMs: number;
  /** True says nothing about what changes. */
  readonly silent?: boolean;
  /** What waits for a person's yes. */
  readonly holding?: HeldChanges | undefined;
}

/**
 * Takes up what has changed. What is in force afterwards is what a start would give, except that tools of a broken
 * file stay as they were. Whatever seems broken is read once more after the quiet time: it may just be half-written.
 */
export async function reload(request: ReloadRequest): Promise<void> {
  const { runtime, settings, quietMs } = request;
  const before = broughtBy(runtime);
  let problems: readonly ConfigProblem[] = [];
  if (settings.length > 0) {
    let read = await readSettings(request);
    if (read.problems.some(isError)) {
      await pause(quietMs, undefined, { ref: false });
      read = await readSettings(request);
    }
    problems = read.problems;
    const { holding } = request;
    const config = holding?.settingsFrom(read.config) ?? read.config;
    await runtime.applyConfig(config, { held: config !== read.config });
  } else await runtime.sources.refresh(runtime.config);
  if (newTroubles(before, broughtBy(runtime), runtime.config).length > 0) {
    await pause(quietMs, undefined, { ref: false });
    await runtime.sources.refresh(runtime.config);
  }
  if (request.silent !== true) {
    if (settings.length > 0) tellOfSettings(request, problems);
    tellOfTools(request, before);
  }
}

async function readSettings({ runtime, settings }: ReloadRequest): Promise<{
  readonly config: LoadedConfig;
  readonly problems: readonly ConfigProblem[];
}> {
  const config = await runtime.readConfig();
  const { paths, project, systemDir } = config;
  const permissions = await loadPermissions({ home: paths.home, project, systemDir });
  const problems = [...config.problems, ...permissions.problems].filter(
    ({ file }) => file !== undefined && settings.includes(file),
  );
  return { config, problems };
}

function isError({ severity }: ConfigProblem): boolean {
  return severity === "error";
}

function tellOfSettings(request: ReloadRequest, problems: readonly ConfigProblem[]): void {
  const { runtime, settings } = request;
  const { events, log, config } = runtime;
  const broken = new Set(problems.filter(isError).map(({ file }) => file));
  const waits = (file: string) => request.holding?.isHeld(file) === true;
  const files = settings
    .filter((file) => !broken.has(file) && !waits(file))
    .map((file) => shownPath(file, config));
  const at = Date.now();
  if (files.length > 0) {
    const changes = files.map((file) => `${file}: in force`);
    for (const line of changes) log.info(`reloaded ${line}`);
    events.emit({ type: "reload.applied", what: "config", files, changes, at });
  }
  for (const problem of problems) log.warn(formatProblem(problem));
  if (broken.size === 0) return;
  events.emit({
    type: "reload.failed",
    what: "config",
    files: settings.filter((file) => broken.has(file)).map((file) => shownPath(file, config)),
    problems: problems.filter(isError).map((problem) => runtime.redact(formatProblem(problem))),
    at,
  });
}

function tellOfTools(request: ReloadRequest, before: ReturnType<typeof broughtBy>): void {
  const { runtime, tools } = request;
  const { events, log, config } = runtime;
  const now = broughtBy(runtime);
  const changes = changesBetween(before, now, config);
  const troubles = newTroubles(before, now, config);
  const places = new Set(troubles.map(({ place }) => place));
  const files = tools.map((file) => shownPath(file, config)).filter((file) => !places.has(file));
  const at = Date.now();
  for (const line of changes) log.info(`reloaded ${line}`);
  if (changes.length > 0) events.emit({ type: "reload.applied", what: "tools", files, changes, at });
  if (troubles.length === 0) return;
  const problems = troubles.map(({ text }) => runtime.redact(text));
  for (const problem of problems) log.warn(`not reloaded: ${problem}`);
  events.emit({ type: "reload.failed", what: "tools", files: [...places], problems, at });
}

/** What the sources had brought at one moment. */
interface Brought {
  readonly entries: ReadonlyMap<string, Entry>;
  /** Tool → the plugin that brings it. */
  readonly plugins: ReadonlyMap<string, string>;
  /** By source, why it is not in order. */
  readonly troubles: ReadonlyMap<string, string>;
}

function broughtBy(runtime: Runtime): Brought {
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
function changesBetween(before: Brought, now: Brought, config: LoadedConfig): readonly string[] {
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

interface Trouble {
  /** The file or folder, as it is shown. */
  readonly place: string;
  /** Begins with the place. */
  readonly text: string;
}

/** What is not in order now and was, or was for another reason. */
function newTroubles(before: Brought, now: Brought, config: LoadedConfig): readonly Trouble[] {
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
function shownPath(path: string, { paths, project }: LoadedConfig): string {
  if (!isAbsolute(path)) return path;
  for (const root of [paths.home, project?.folder]) {
    if (root !== undefined && isBelow(path, root)) return relative(root, path);
  }
  return path;
}
