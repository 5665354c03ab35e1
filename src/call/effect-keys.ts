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
}

const EVERYTHING = "*";

export function keysClash(a: EffectKey, b: EffectKey): boolean {
  return a.space === b.space && (a.write || b.write) && contains(a.path, b.path);
}

export function anyClash(left: readonly EffectKey[], right: readonly EffectKey[]): boolean {
  return left.some((a) => right.some((b) => keysClash(a, b)));
}

function contains(a: string | undefined, b: string | undefined): boolean {
  if (a === undefined || b === undefined || a === b) return true;
  return b.startsWith(a.endsWith("/") ? a : `${a}/`) || a.startsWith(b.endsWith("/") ? b : `${b}/`);
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
  const keys: EffectKey[] = [
    {
      space: `session:${sessionRoot}`,
      path: undefined,
      write: effects.some((effect) => effect.mode === "execute"),
    },
  ];
  for (const effect of effects) {
    if (effect.mode === "execute") continue;
    const domain = effect.action.slice(0, effect.action.indexOf(":"));
    const isPath = domain === "file" && effect.resource !== EVERYTHING;
    keys.push({
      space: `${domain}@${environment.name}`,
      path: isPath
        ? await environment.files.realpath(effect.resource)
        : effect.resource === EVERYTHING
          ? undefined
          : effect.resource,
      write: effect.mode === "write",
    });
  }
  return keys;
}
