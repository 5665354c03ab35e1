import { randomUUID } from "node:crypto";
import { readFileSync, realpathSync } from "node:fs";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { replaceFile } from "../../base/atomic-write.js";
import { isBelow } from "../../base/path.js";
import { isRecord } from "../../base/record.js";
import { confirmFiles, contentHash, GONE, readConfirmed } from "../../config/confirmed-files.js";
import { restrict } from "../../config/restrict.js";
import { CONFIG_KEYS, type ConfigKey } from "../../config/schema.js";
import type { LoadedConfig } from "../../config/types.js";
import { isAlive } from "../../store/process-owner.js";
import { readOrMakeSecret } from "../../store/secret-file.js";
import type { FileSnapshot } from "./file-snapshot.js";
import type { WatchedPlaces } from "./watched-places.js";

export interface HeldFile {
  readonly path: string;
  /** Of its content, so that the yes counts for what was shown. */
  readonly hash: string;
}

/** Where programs that are not this one find out what waits: a list for each that holds something. */
function heldFolder(home: string): string {
  return join(home, "cache", "changes-held");
}

/** What waits in all programs of this home that run, each file once. */
export async function heldFiles(home: string): Promise<readonly HeldFile[]> {
  const found = new Map<string, HeldFile>();
  for (const name of await readdir(heldFolder(home)).catch(() => [])) {
    if (!isOfRunning(name)) continue;
    const read: unknown = JSON.parse(await readFile(join(heldFolder(home), name), "utf8").catch(() => "[]"));
    for (const each of Array.isArray(read) ? read : []) {
      if (!isRecord(each) || typeof each.path !== "string" || typeof each.hash !== "string") continue;
      found.set(`${each.path}\0${each.hash}`, { path: each.path, hash: each.hash });
    }
  }
  return [...found.values()];
}

function isOfRunning(name: string): boolean {
  const pid = Number(/^(\d+)-/.exec(name)?.[1]);
  return Number.isSafeInteger(pid) && isAlive(pid);
}

/**
 * What has changed while a server runs and waits for a person's yes: new or changed code of tools, and settings. What
 * is in force is what was there when the server was started, and what a person has confirmed since.
 */
export class HeldChanges {
  readonly #home: string;
  /** Also code of tools; without it, an author's changes are taken up at once. */
  readonly #tools: boolean;
  readonly #inForce = new Map<string, string>();
  readonly #held = new Map<string, string>();
  readonly #list: string;
  #folders: readonly string[] = [];
  #settingsWait = false;
  #accepted: LoadedConfig;

  constructor(options: { readonly config: LoadedConfig; readonly tools: boolean }) {
    this.#home = options.config.paths.home;
    this.#tools = options.tools;
    this.#list = join(heldFolder(this.#home), `${process.pid}-${randomUUID()}.json`);
    this.#accepted = options.config;
  }

  /** Nobody can confirm anything without a key. */
  async begin(snapshot: FileSnapshot, places: WatchedPlaces): Promise<void> {
    this.#folders = places.folders.filter((folder) => !places.whole.includes(folder)).map(realPathOf);
    await readOrMakeSecret({
      file: join(this.#home, "approvals.key"),
      accepts: /^[\w-]{43}$/,
      what: "a key for approvals",
    });
    for (const [path, { hash }] of snapshot.files) this.#inForce.set(path, hash);
    for (const name of await readdir(heldFolder(this.#home)).catch(() => []))
      if (!isOfRunning(name)) await rm(join(heldFolder(this.#home), name), { force: true });
  }

  /** Of what has changed, what may be taken up; the rest is held. Also what was held and has been confirmed. */
  async sort(look: {
    readonly changed: readonly string[];
    readonly now: FileSnapshot;
    readonly places: WatchedPlaces;
  }): Promise<readonly string[]> {
    const confirmed = await readConfirmed(this.#home);
    const taken: string[] = [];
    for (const path of new Set([...look.changed, ...this.#held.keys()])) {
      const hash = look.now.files.get(path)?.hash ?? GONE;
      const isSetting = look.places.settings.includes(path);
      const isFree = isSetting ? path.endsWith("/.env") : hash === GONE || !this.#isCode(path, look.places);
      const isKnown = hash === (this.#inForce.get(path) ?? GONE) || confirmed.get(path) === hash;
      const wasHeld = this.#held.delete(path);
      if (isFree || isKnown) {
        this.#inForce.set(path, hash);
        if (wasHeld || look.changed.includes(path)) taken.push(path);
      } else this.#held.set(path, hash);
    }
    this.#settingsWait = look.places.settings.some((path) => this.#held.has(path));
    await this.#write();
    return taken;
  }

  /** Plugins have a yes of their own for their files, and a mark brings nothing by itself. */
  #isCode(path: string, { whole }: WatchedPlaces): boolean {
    if (!this.#tools || basename(path).startsWith(".")) return false;
    return !whole.some((folder) => isBelow(path, folder));
  }

  get files(): readonly HeldFile[] {
    return [...this.#held].map(([path, hash]) => ({ path, hash }));
  }

  /** By what it holds at this moment: between a look and the reading, a file can change once more. */
  isHeld(path: string): boolean {
    if (this.#held.has(path)) return true;
    if (!this.#tools) return false;
    const known = this.#inForce.get(path) ?? this.#inForceOf(realPathOf(path));
    if (known === undefined) return this.#folders.some((folder) => isBelow(realPathOf(path), folder));
    try {
      return known !== contentHash(readFileSync(path));
    } catch {
      return false;
    }
  }

  #inForceOf(real: string): string | undefined {
    for (const [path, hash] of this.#inForce) if (realPathOf(path) === real) return hash;
    return undefined;
  }

  /** The settings that may be in force: all of them, or only what is stricter in them while a file of them waits. */
  settingsFrom(next: LoadedConfig): LoadedConfig {
    if (this.#settingsWait) return stricterOf(this.#accepted, next, CONFIG_KEYS);
    const unasked = CONFIG_KEYS.filter((key) => isLoosenedInDotenv(key, this.#accepted, next));
    this.#accepted = unasked.length === 0 ? next : stricterOf(this.#accepted, next, unasked);
    return this.#accepted;
  }

  /** A person's yes to what they were shown; what has changed since goes on waiting. */
  async accept(shown: readonly HeldFile[]): Promise<readonly HeldFile[]> {
    const meant = shown.filter(({ path, hash }) => this.#held.get(path) === hash);
    await confirmFiles(this.#home, new Map(meant.map(({ path, hash }) => [path, hash])));
    return meant;
  }

  /** Nobody waits here any more. */
  async end(): Promise<void> {
    await rm(this.#list, { force: true });
  }

  async #write(): Promise<void> {
    const path = this.#list;
    if (this.#held.size === 0) await rm(path, { force: true });
    else {
      // A new home has no such folder before something is kept there.
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await replaceFile({ path, data: `${JSON.stringify(this.files)}\n`, mode: 0o600 });
    }
  }
}

/** Nobody is asked about `.env`, since secrets in it are wanted at once; its other settings can only grow stricter. */
function isLoosenedInDotenv(key: ConfigKey, accepted: LoadedConfig, next: LoadedConfig): boolean {
  if (key.secret === true) return false;
  if (![accepted, next].some((config) => config.origin(key.path).source === "dotenv")) return false;
  const parts = key.path.split(".");
  const [before, now] = [at(accepted.values, parts), at(next.values, parts)];
  return !isDeepStrictEqual(before, now) && restrict(key, before, now).loosens;
}

/** For these keys the stricter value; a folder that was not trusted is not trusted now. */
function stricterOf(accepted: LoadedConfig, next: LoadedConfig, keys: readonly ConfigKey[]): LoadedConfig {
  const values = structuredClone(next.values);
  for (const key of keys) {
    const parts = key.path.split(".");
    const { value } = restrict(key, at(accepted.values, parts), at(next.values, parts));
    const parent = at(values, parts.slice(0, -1));
    if (typeof parent === "object" && parent !== null) Reflect.set(parent, parts.at(-1) ?? "", value);
  }
  const trusts = next.project?.trusted === true && accepted.project?.trusted !== true;
  return { ...next, values, project: trusts ? accepted.project : next.project };
}

function at(from: unknown, parts: readonly string[]): unknown {
  return parts.reduce<unknown>(
    (value, name) => (typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined),
    from,
  );
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
