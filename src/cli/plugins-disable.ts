import { appendConfigValue, removeConfigValue } from "../config/edit.js";
import { loadConfig } from "../config/load.js";
import { forgetTrust } from "../sources/plugins/trust-rows.js";
import { openStore } from "../store/store.js";
import { failure, HermesError } from "../tool/errors.js";
import { assertPerson } from "./approvals-store.js";
import type { CommandContext } from "./globals.js";

/** The plugin no longer runs, and the yes to its files is forgotten. */
export async function run(
  { out, home, configFlags }: CommandContext,
  [name = ""]: readonly string[],
): Promise<void> {
  // A plugin may be the one that guards calls.
  assertPerson("Plugins are switched off");
  const read = () => loadConfig({ home, cwd: process.cwd(), env: process.env, flags: configFlags });
  const before = await read();
  if (!before.values.plugins.enabled.includes(name)) {
    const names = before.values.plugins.enabled.join(", ") || "none";
    throw new HermesError(failure("not_found", `${name} is not enabled`, `Enabled: ${names}.`));
  }
  const taken = await removeConfigValue({ home, key: "plugins.enabled", items: [name] });
  if (!taken.ok) throw new HermesError(taken);
  // Another file may enable it too; the list of those that never run is stronger than all of them.
  const elsewhere = (await read()).values.plugins.enabled.includes(name);
  if (elsewhere) {
    const refused = await appendConfigValue({ home, key: "plugins.disabled", items: [name] });
    if (!refused.ok) throw new HermesError(refused);
  }
  const store = await openStore({ path: before.paths.stateDb });
  await forgetTrust(store, name);
  await store.close();
  if (out.json) out.value({ name, enabled: false });
  else out.line(`${out.mark("ok")} ${name} is disabled`);
}
