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

/**
 * Whether one has to wait for the other when they come from different messages, which promise no order. Looking at a
 * folder is then no reason to wait for a change of one thing in it, which is there whole or not at all: hundreds of
 * sessions in one folder would form one line.
 */
export function keysExclude(a: EffectKey, b: EffectKey): boolean {
  if (!keysClash(a, b)) return false;
  if (a.write === b.write || a.path === undefined || b.path === undefined) return true;
  const [looking, changing] = a.write ? [b.path, a.path] : [a.path, b.path];
  return looking.length >= changing.length;
}

export function anyExclude(left: readonly EffectKey[], right: readonly EffectKey[]): boolean {
  return left.some((a) => right.some((b) => keysExclude(a, b)));
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
}): Promise<readonly EffectKey[]> {
  const { effects, environment, sessionRoot } = options;
  if (effects.length === 0) return [];
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
      const real = await environment.files.realpath(resource).catch(() => undefined);
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
