import { setTimeout as pause } from "node:timers/promises";
import { type ConfigProblem, formatProblem, type LoadedConfig } from "../../config/types.js";
import { loadPermissions } from "../../policy/profiles/load.js";
import type { Runtime } from "../runtime.js";
import { broughtBy, changesBetween, newTroubles, shownPath } from "./changes.js";

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
    await runtime.applyConfig(read.config);
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
  const files = settings.filter((file) => !broken.has(file)).map((file) => shownPath(file, config));
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
    problems: problems.filter(isError).map((problem) => runtime.secrets.redact(formatProblem(problem))),
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
  const problems = troubles.map(({ text }) => runtime.secrets.redact(text));
  for (const problem of problems) log.warn(`not reloaded: ${problem}`);
  events.emit({ type: "reload.failed", what: "tools", files: [...places], problems, at });
}
