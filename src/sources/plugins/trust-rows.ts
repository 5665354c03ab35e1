import type { Store } from "../../store/store.js";
import type { Fingerprint } from "./fingerprint.js";
import type { FoundPlugin } from "./read-plugin.js";

/** A person's yes to the files of one plugin folder. */
export interface PluginTrust {
  readonly name: string;
  /** Real path: the same name elsewhere is another plugin. */
  readonly folder: string;
  readonly fingerprint: string;
  /** Changes of the folder are trusted too. */
  readonly dev: boolean;
  /** It was confirmed as one that guards calls: without it none may run. */
  readonly guards: boolean;
  readonly at: number;
}

export function findTrust(
  store: Store,
  plugin: Pick<PluginTrust, "name" | "folder">,
): PluginTrust | undefined {
  const row = store.db
    .prepare("SELECT fingerprint, dev, guards, at FROM plugin_trust WHERE name = ? AND folder = ?")
    .get(plugin.name, plugin.folder);
  if (row === undefined) return undefined;
  return {
    name: plugin.name,
    folder: plugin.folder,
    fingerprint: String(row.fingerprint),
    dev: row.dev === 1,
    guards: row.guards === 1,
    at: Number(row.at),
  };
}

/** A person has said yes to these files. Resolves when that is on disk. */
export async function confirmPlugin(
  store: Store,
  confirmed: { readonly plugin: FoundPlugin; readonly fingerprint: Fingerprint; readonly dev: boolean },
): Promise<void> {
  const { plugin, fingerprint, dev } = confirmed;
  const { name, folder, manifest } = plugin;
  const guards = (manifest?.closedHooks.length ?? 0) > 0;
  await saveTrust(store, { name, folder, fingerprint: fingerprint.hash, dev, guards, at: Date.now() });
}

async function saveTrust(store: Store, trust: PluginTrust): Promise<void> {
  store.db
    .prepare(
      "INSERT OR REPLACE INTO plugin_trust (name, folder, fingerprint, dev, guards, at) VALUES (?, ?, ?, ?, ?, ?)",
    )
    .run(trust.name, trust.folder, trust.fingerprint, trust.dev ? 1 : 0, trust.guards ? 1 : 0, trust.at);
  await store.syncWal();
}

export async function forgetTrust(store: Store, name: string): Promise<void> {
  store.db.prepare("DELETE FROM plugin_trust WHERE name = ?").run(name);
  await store.syncWal();
}

/** Whether any plugin of this name was confirmed as one that guards calls, wherever it lay. */
export function guardsCalls(store: Store, name: string): boolean {
  return store.db.prepare("SELECT 1 FROM plugin_trust WHERE name = ? AND guards = 1").get(name) !== undefined;
}
