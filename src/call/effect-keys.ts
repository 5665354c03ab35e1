import type { Environment } from "../env/environment.js";
import type { Effect } from "../tool/effects.js";

/**
 * What a call holds while it runs. Two keys clash when they lie in one space, at least one writes, and one
 * path contains the other; a key without a path covers its whole space.
 */
export interface EffectKey {
  readonly space: string;
  readonly path: string | undefined;
  readonly write: boolean;
  /** Of a file: the name that was found to lead to this path. */
  readonly name?: string | undefined;
}

const EVERYTHING = "*";

/** Keys of many calls. Finding a clash takes as long as a path is deep, however many there are. */
export class KeyIndex<Owner> {
  readonly #reads = new Map<string, KeysOfSpace<Owner>>();
  readonly #writes = new Map<string, KeysOfSpace<Owner>>();

  add(owner: Owner, keys: readonly EffectKey[]): void {
    for (const key of keys) {
      const spaces = key.write ? this.#writes : this.#reads;
      let space = spaces.get(key.space);
      if (space === undefined) {
        space = { at: new Map(), below: new Map() };
        spaces.set(key.space, space);
      }
      append(space.at, key.path, owner);
      for (const folder of foldersOf(key.path)) append(space.below, folder, owner);
    }
  }

  delete(owner: Owner, keys: readonly EffectKey[]): void {
    for (const key of keys) {
      const spaces = key.write ? this.#writes : this.#reads;
      const space = spaces.get(key.space);
      if (space === undefined) continue;
      remove(space.at, key.path, owner);
      for (const folder of foldersOf(key.path)) remove(space.below, folder, owner);
      if (space.at.size === 0) spaces.delete(key.space);
    }
  }

  /** Whether some key clashes with one of these. */
  clashesWith(keys: readonly EffectKey[]): boolean {
    return keys.some(({ space, path, write }) =>
      [this.#writes.get(space), write ? this.#reads.get(space) : undefined].some(
        (held) =>
          held !== undefined &&
          (held.at.has(path) ||
            held.below.has(path) ||
            foldersOf(path).some((folder) => held.at.has(folder))),
      ),
    );
  }

  /**
   * Who has to wait for the owner of these keys or is to be waited for, when they come from different messages, which
   * promise no order. Looking at a folder is then no reason to wait for a change of one thing in it, which is there
   * whole or not at all: hundreds of sessions in one folder would form one line. In lists, each in the order they were
   * added.
   */
  excluding(keys: readonly EffectKey[]): readonly (readonly Owner[])[] {
    const found: (readonly Owner[] | undefined)[] = [];
    for (const { space, path, write } of keys) {
      const writes = this.#writes.get(space);
      if (writes !== undefined) {
        found.push(writes.at.get(path), ...foldersOf(path).map((folder) => writes.at.get(folder)));
        if (write || path === undefined) found.push(writes.below.get(path));
      }
      const reads = write ? this.#reads.get(space) : undefined;
      if (reads !== undefined) {
        found.push(reads.at.get(path), reads.below.get(path));
        if (path !== undefined) found.push(reads.at.get(undefined));
      }
    }
    return found.filter((owners) => owners !== undefined);
  }
}

interface KeysOfSpace<Owner> {
  /** By the path of the key; undefined is the whole space. */
  readonly at: OwnersByPath<Owner>;
  /** By every folder above it; undefined is above all. */
  readonly below: OwnersByPath<Owner>;
}

type OwnersByPath<Owner> = Map<string | undefined, Owner[]>;

function append<Owner>(lists: OwnersByPath<Owner>, path: string | undefined, owner: Owner): void {
  const owners = lists.get(path);
  if (owners === undefined) lists.set(path, [owner]);
  else owners.push(owner);
}

function remove<Owner>(lists: OwnersByPath<Owner>, path: string | undefined, owner: Owner): void {
  const owners = lists.get(path) ?? [];
  const index = owners.indexOf(owner);
  if (index >= 0) owners.splice(index, 1);
  if (owners.length === 0) lists.delete(path);
}

/** Everything above a path, up to the whole space. */
function foldersOf(path: string | undefined): readonly (string | undefined)[] {
  if (path === undefined) return [];
  const folders: (string | undefined)[] = [undefined];
  if (path.startsWith("/") && path !== "/") folders.push("/");
  for (let end = path.indexOf("/", 1); end !== -1; end = path.indexOf("/", end + 1)) {
    folders.push(path.slice(0, end));
  }
  return folders;
}

/**
 * Keys of a call's effects: one for each that runs no program, in their order, then the session's. Paths are
 * compared by their real path, so two names of one file clash. Running a program may touch anything: it excludes
 * every change of its own session, but not other sessions, which would otherwise wait minutes for each other's
 * commands. What only reads does not wait for it either: within one message commands run alone anyway, and what
 * comes beside that message has no place in its order.
 */
export async function keysOf(options: {
  readonly effects: readonly Effect[];
  readonly environment: Environment;
  readonly sessionRoot: string;
  /** Files elsewhere are waited for no longer than this. */
  readonly signal?: AbortSignal | undefined;
}): Promise<readonly EffectKey[]> {
  const { effects, environment, sessionRoot, signal } = options;
  if (effects.length === 0) return [];
  const files = (signal && environment.files.until?.(signal)) ?? environment.files;
  const keys: EffectKey[] = [];
  for (const effect of effects) {
    if (effect.mode === "execute") continue;
    if (effect.lock !== undefined) {
      keys.push({ space: `lock:${effect.lock.name}`, path: undefined, write: !effect.lock.shared });
      continue;
    }
    const { action, resource, mode } = effect;
    const domain = action.slice(0, action.indexOf(":"));
    const space = `${domain}@${environment.name}`;
    const write = mode === "write";
    if (resource === EVERYTHING) keys.push({ space, path: undefined, write });
    else if (domain !== "file") keys.push({ space, path: resource, write });
    else {
      // A name that no file can have is left to the tool, which says so in its own words.
      const real = await files.realpath(resource).catch(() => undefined);
      keys.push({ space, path: real ?? resource, write, name: real && resource });
    }
  }
  // Ending or closing a process of the session must not wait for the command that runs in front.
  const waits = effects.some(({ mode, action }) => mode !== "read" && !action.startsWith("process:"));
  if (waits) {
    const write = effects.some((effect) => effect.mode === "execute");
    keys.push({ space: `session:${sessionRoot}`, path: undefined, write });
  }
  return keys;
}
