import { dirname } from "node:path/posix";
import { quoteIfNeeded } from "../../../base/quote.js";
import type { Effect, EffectScope } from "../../../tool/effects.js";
import { absolutePath } from "../../files/paths.js";

/**
 * What a tool touches that runs a program of the project on files. Which program turns out while running, and is
 * judged then, see `runTool`; what is declared beforehand is that one will be.
 */
export function codeEffects(
  call: { readonly path?: string | undefined; readonly writes: boolean; readonly program: string },
  scope: EffectScope,
): readonly Effect[] {
  if (call.path === undefined) return [];
  const path = absolutePath(call.path, scope);
  const effects: Effect[] = [
    // Settings of the project lie beside the files or above them.
    { action: "file:read", resource: dirname(path), mode: "read", reversible: true },
    { action: "file:read", resource: path, mode: "read", reversible: true },
    { action: "terminal:execute", resource: `${call.program} ${quoteIfNeeded(path)}`, mode: "execute" },
  ];
  if (scope.cwd !== dirname(path))
    effects.push({ action: "file:read", resource: scope.cwd, mode: "read", reversible: true });
  if (call.writes) effects.push({ action: "file:write", resource: path, mode: "write", reversible: true });
  return effects;
}
