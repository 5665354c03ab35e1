import { describeThrown } from "../../tool/thrown.js";
import type { Runtime } from "../runtime.js";
import { differences, EMPTY_SNAPSHOT, type FileSnapshot, takeSnapshot } from "./file-snapshot.js";
import { FolderWatchers } from "./folder-watchers.js";
import { HeldChanges, type HeldFile } from "./held-changes.js";
import { reload } from "./reload.js";
import { ProgramWatchers } from "./watch-programs.js";
import { type WatchedPlaces, watchedPlaces } from "./watched-places.js";

export interface WatchOptions {
  /** Quiet time after a change before it is read; `reload.debounce_ms` when left out. */
  readonly debounceMs?: number;
  /** How often everything is looked at although the system has said nothing (network disks do not tell). */
  readonly pollMs?: number;
  /** What loosens waits for a person: everything, or settings alone for somebody who writes tools. */
  readonly hold?: "everything" | "settings" | undefined;
}

export interface ReloadWatch {
  /** Looks now and takes up what has changed; resolves when that is done. */
  look(): Promise<void>;
  /** A person's yes to what waits and was shown to them; what was taken up. */
  accept(shown: readonly HeldFile[]): Promise<readonly HeldFile[]>;
  /** A change that is being taken up is finished first. */
  close(): Promise<void>;
}

/** What waits for a person's yes while a server runs. */
export interface WaitingChanges {
  readonly held: readonly HeldFile[];
  isHeld(path: string): boolean;
  /** Looks now and takes up what may be; resolves when that is done. */
  look(): Promise<void>;
  accept(shown: readonly HeldFile[]): Promise<readonly HeldFile[]>;
}

const POLL_MS = 10_000;
/** Where the system cannot tell anything, looking is all there is. */
const BLIND_POLL_MS = 1_000;
/** Where it is never quiet, files are read all the same. */
const LONGEST_BURST_MS = 2_000;

const NOT_WATCHING: ReloadWatch = { look: async () => {}, accept: async () => [], close: async () => {} };

/**
 * Takes up changes of tools, plugins and configuration while the runtime lives. Changes happen one after the other;
 * calls that run are not touched. Ends with the runtime and keeps no process alive.
 */
export async function watchForChanges(runtime: Runtime, options: WatchOptions = {}): Promise<ReloadWatch> {
  if (!runtime.config.values.reload.enabled) return NOT_WATCHING;
  const watching = new Watching(runtime, options);
  await watching.start();
  return watching;
}

class Watching implements ReloadWatch, WaitingChanges {
  readonly #runtime: Runtime;
  readonly #options: WatchOptions;
  readonly #watchers = new FolderWatchers(() => this.#hint());
  readonly #programs: ProgramWatchers;
  readonly #forget: () => void;
  readonly #holding: HeldChanges | undefined;
  #snapshot: FileSnapshot = EMPTY_SNAPSHOT;
  #working: Promise<void> = Promise.resolve();
  #quiet: NodeJS.Timeout | undefined;
  #poll: NodeJS.Timeout | undefined;
  #burstSince: number | undefined;
  #closed = false;

  constructor(runtime: Runtime, options: WatchOptions) {
    this.#runtime = runtime;
    this.#options = options;
    this.#programs = new ProgramWatchers(runtime);
    const { hold } = options;
    if (hold !== undefined) {
      this.#holding = new HeldChanges({ config: runtime.config, tools: hold === "everything" });
      runtime.changes = this;
    }
    this.#forget = runtime.beforeClose(() => this.close());
  }

  /** What has changed since it was first read and before anybody watched is taken up without a word. */
  async start(): Promise<void> {
    const { loadedAt } = this.#runtime.config;
    const places = this.#places();
    this.#watchers.follow(places, (await takeSnapshot(places)).folders);
    this.#snapshot = await takeSnapshot(places);
    await this.#holding?.begin(this.#snapshot, places);
    const settings = places.settings.filter(
      (path) => (this.#snapshot.files.get(path)?.changedAt ?? 0) >= loadedAt,
    );
    await reload({
      runtime: this.#runtime,
      settings,
      tools: [],
      quietMs: this.#quietMs(),
      silent: true,
    });
    await this.#followNewPlaces(places);
    this.#lookLater();
  }

  look(): Promise<void> {
    clearTimeout(this.#quiet);
    this.#quiet = undefined;
    this.#burstSince = undefined;
    this.#working = this.#working.then(() => this.#takeUp());
    return this.#working;
  }

  get held(): readonly HeldFile[] {
    return this.#holding?.files ?? [];
  }

  isHeld(path: string): boolean {
    return this.#holding?.isHeld(path) === true;
  }

  async accept(shown: readonly HeldFile[]): Promise<readonly HeldFile[]> {
    const accepted = (await this.#holding?.accept(shown)) ?? [];
    await this.look();
    return accepted;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#forget();
    clearTimeout(this.#quiet);
    clearTimeout(this.#poll);
    this.#watchers.close();
    this.#programs.close();
    await this.#working;
    await this.#holding?.end();
  }

  /** Something may have happened. A save is a burst of events; it is read when the burst is over. */
  #hint(): void {
    if (this.#closed) return;
    const now = performance.now();
    this.#burstSince ??= now;
    const left = this.#burstSince + LONGEST_BURST_MS - now;
    clearTimeout(this.#quiet);
    this.#quiet = setTimeout(() => void this.look(), Math.max(0, Math.min(this.#quietMs(), left)));
    this.#quiet.unref();
  }

  #lookLater(): void {
    if (this.#closed) return;
    const usual = this.#options.pollMs ?? POLL_MS;
    const afterMs = this.#watchers.isBlind ? Math.min(usual, BLIND_POLL_MS) : usual;
    this.#poll = setTimeout(() => void this.look().then(() => this.#lookLater()), afterMs);
    this.#poll.unref();
  }

  async #takeUp(): Promise<void> {
    if (this.#closed) return;
    const before = this.#snapshot;
    try {
      const places = this.#places();
      const now = await takeSnapshot(places, this.#snapshot);
      const seen = differences(this.#snapshot, now);
      this.#snapshot = now;
      const taken = await this.#taken(seen, { now, places });
      const settings = (list: readonly string[]) => list.filter((path) => places.settings.includes(path));
      const tools = taken.filter((path) => !places.settings.includes(path));
      // Settings that wait are read all the same: what is stricter in them counts at once.
      if (seen.length + taken.length > 0)
        await reload({
          runtime: this.#runtime,
          settings: [...new Set([...settings(taken), ...settings(seen)])],
          tools,
          quietMs: this.#quietMs(),
          holding: this.#holding,
        });
      await this.#followNewPlaces(places);
    } catch (thrown) {
      // Seen, but not in force: the next look has to find it again.
      this.#snapshot = before;
      this.#runtime.log.error(`changes could not be taken up: ${describeThrown(thrown).message}`);
    }
  }

  async #taken(
    changed: readonly string[],
    { now, places }: { readonly now: FileSnapshot; readonly places: WatchedPlaces },
  ): Promise<readonly string[]> {
    const holding = this.#holding;
    if (holding === undefined || changed.length === 0) return changed;
    const before = new Set(holding.files.map(({ path, hash }) => `${path} ${hash}`));
    const taken = await holding.sort({ changed, now, places });
    const fresh = holding.files.filter(({ path, hash }) => !before.has(`${path} ${hash}`));
    if (fresh.length === 0) return taken;
    const files = fresh.map(({ path }) => path);
    for (const file of files) this.#runtime.log.warn(`${file} has changed and waits for a person's yes`);
    this.#runtime.events.emit({ type: "reload.held", files, at: Date.now() });
    return taken;
  }

  /** A project may be trusted now, a module may import another file: what lies there has been read a moment ago. */
  async #followNewPlaces(before: WatchedPlaces): Promise<void> {
    if (this.#closed) return;
    this.#programs.follow();
    const places = this.#places();
    if (this.#watchers.follow(places, this.#snapshot.folders)) this.#hint();
    if (pathsOf(places) === pathsOf(before)) return;
    this.#snapshot = await takeSnapshot(places, this.#snapshot);
    if (this.#watchers.follow(places, this.#snapshot.folders)) this.#hint();
    await reload({ runtime: this.#runtime, settings: [], tools: [], quietMs: this.#quietMs() });
  }

  #places(): WatchedPlaces {
    const { config, cwd, sources } = this.#runtime;
    return watchedPlaces(config, { cwd, toolFiles: sources.modules?.files() ?? [] });
  }

  #quietMs(): number {
    return this.#options.debounceMs ?? this.#runtime.config.values.reload.debounce_ms;
  }
}

function pathsOf({ settings, folders, files }: WatchedPlaces): string {
  return [...settings, ...folders, ...[...files].sort()].join("\n");
}
