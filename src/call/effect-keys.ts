import { isTidyAtOrBelow } from "../base/path.js";
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

export function keysClash(a: EffectKey, b: EffectKey): boolean {
  return a.space === b.space && (a.write || b.write) && contains(a.path, b.path);
}

export function anyClash(left: readonly EffectKey[], right: readonly EffectKey[]): boolean {
  return left.some((a) => right.some((b) => keysClash(a, b)));
}

/** The keys of many calls, kept so that looking for a clash does not mean looking at all of them. */
export class HeldKeys {
  readonly #reads = new Map<string, EffectKey[]>();
  readonly #writes = new Map<string, EffectKey[]>();

  add(keys: readonly EffectKey[]): void {
    for (const key of keys) {
      const spaces = key.write ? this.#writes : this.#reads;
      const held = spaces.get(key.space);
      if (held === undefined) spaces.set(key.space, [key]);
      // A key without a path covers its whole space; one of its kind is enough.
      else if (held[0]?.path !== undefined) {
        if (key.path === undefined) held.length = 0;
        held.push(key);
      }
    }
  }

  clashWith(keys: readonly EffectKey[]): boolean {
    return keys.some(
      (key) =>
        this.#writes.get(key.space)?.some((other) => keysClash(key, other)) === true ||
        (key.write && this.#reads.get(key.space)?.some((other) => keysClash(key, other)) === true),
    );
  }
}

function contains(a: string | undefined, b: string | undefined): boolean {
  if (a === undefined || b === undefined || a === b) return true;
  // Asked for every pair of calls that wait.
  return a.length < b.length ? isTidyAtOrBelow(b, a) : isTidyAtOrBelow(a, b);
}

/**
 * Keys of a call's effects. Paths are compared by their real path, so two names of one file clash. Running a
 * program may touch anything: it excludes every other effect of its own session, but not other sessions,
 * which would otherwise wait minutes for each other's commands.
 */
export async function keysOf(options: {
  readonly effects: readonly Effect[];
  readonly environment: Environment;
  readonly sessionRoot: string;
}): Promise<readonly EffectKey[]> {
  const { effects, environment, sessionRoot } = options;
  if (effects.length === 0) return [];
  const keys: EffectKey[] = [];
  // Ending or closing a process of the session must not wait for the command that runs in front.
  if (!effects.every((effect) => effect.action.startsWith("process:"))) {
    keys.push({
      space: `session:${sessionRoot}`,
      path: undefined,
      write: effects.some((effect) => effect.mode === "execute"),
    });
  }
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
      const real = await environment.files.realpath(resource).catch(() => undefined);
      keys.push({ space, path: real ?? resource, write, name: real && resource });
    }
  }
  return keys;
}
