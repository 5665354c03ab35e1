import { createLogger } from "../observe/log.js";
import type { AnyTool } from "../tool/tool.js";
import type { Provenance } from "./entry.js";
import { type AddOptions, type Registration, type RegistrationExtras, ToolRegistry } from "./registry.js";

/** The registry of programs that never make another one. */
export const defaultRegistry = new ToolRegistry({ logger: createLogger() });

let active: { readonly registry: ToolRegistry; readonly provenance: Provenance } = {
  registry: defaultRegistry,
  provenance: { kind: "code" },
};

let turn: Promise<unknown> = Promise.resolve();

/**
 * While `load` imports a module, top-level `registry.register(...)` calls inside it land in `registry` and
 * carry `provenance`. Loads take turns, also those of different runtimes, so a plain variable is enough.
 */
export function withActiveRegistry<T>(
  target: { readonly registry: ToolRegistry; readonly provenance: Provenance },
  load: () => Promise<T>,
): Promise<T> {
  const mine = turn.then(async () => {
    const previous = active;
    active = target;
    try {
      return await load();
    } finally {
      active = previous;
    }
  });
  turn = mine.catch(() => undefined);
  return mine;
}

/** What tool modules import: `registry.register({...})` at top level. */
export const registry = {
  register(registration: (Registration & RegistrationExtras) | AnyTool): boolean {
    return active.registry.register(registration, active.provenance);
  },
  add(tool: AnyTool, options: AddOptions = {}): boolean {
    return active.registry.add(tool, { provenance: active.provenance, ...options });
  },
  deregister(name: string): boolean {
    return active.registry.deregister(name);
  },
  aliasToolset(alias: string, canonical: string): void {
    active.registry.aliasToolset(alias, canonical);
  },
};
