import { visible } from "../../base/visible-text.js";
import { appendConfigValue, removeConfigValue } from "../../config/edit.js";
import { builtinManifest } from "../../registry/builtin-manifest.gen.js";
import { bundledPlugins } from "../../registry/bundled-plugins.gen.js";
import { markConfirmed } from "../../sources/plugins/confirmed-mark.js";
import { type Fingerprint, fingerprintOf } from "../../sources/plugins/fingerprint.js";
import type { PluginManifest } from "../../sources/plugins/manifest.js";
import type { FoundPlugin } from "../../sources/plugins/read-plugin.js";
import { confirmPlugin, findTrust, forgetTrust, type PluginTrust } from "../../sources/plugins/trust-rows.js";
import { openStore } from "../../store/store.js";
import { HermesError } from "../../tool/errors.js";
import { describeThrown } from "../../tool/thrown.js";
import { COMMANDS } from "../commands.js";
import type { CommandContext } from "../context.js";
import { commandError, EXIT } from "../errors.js";
import { assertPerson, confirm } from "../person.js";
import { bringsLines, pluginNamed } from "./found.js";

/** Shows what a plugin brings, asks, and lets these very files run. */
export async function enable(context: CommandContext): Promise<void> {
  const { out, home, options } = context;
  const [name = ""] = context.args;
  assertPerson("Plugins are switched on by a person");
  if (isBundled(name)) return switchBundled(context, { name, on: true });
  const { plugin, config } = await pluginNamed(context, name);
  const manifest = usableManifest(plugin);
  const fingerprint = await fingerprintOf(plugin.folder).catch((error: unknown) => {
    throw commandError("bad_request", `${name} cannot be used: ${describeThrown(error).message}`);
  });
  const dev = options.dev === true;
  const store = await openStore({ path: config.paths.stateDb });
  try {
    const before = findTrust(store, plugin);
    for (const line of question({ plugin, manifest, fingerprint, before, dev })) out.note(line);
    const yes = context.flags.yes === true || options.yes === true;
    const refused = `${name} was not enabled`;
    await confirm({ question: `Let ${name} run?`, yes, refused, hint: "Nothing was changed." });
    await confirmPlugin(store, { plugin, fingerprint, dev });
  } finally {
    await store.close();
  }
  const change = { home, items: [name] };
  for (const done of [
    await appendConfigValue({ ...change, key: "plugins.enabled" }),
    await removeConfigValue({ ...change, key: "plugins.disabled" }),
  ]) {
    if (!done.ok) throw new HermesError(done);
  }
  await markConfirmed(home, name);
  await reportState(context, { name, fingerprint, dev });
}

function usableManifest(plugin: FoundPlugin): PluginManifest {
  const [problem] = plugin.problems;
  if (problem !== undefined || plugin.manifest === undefined) {
    const message = problem ?? `${plugin.manifestFile} cannot be used`;
    throw commandError("bad_request", message, "Mend the plugin first; nothing was changed.");
  }
  const taken = plugin.manifest.brings.commands.find(
    (command) => Object.hasOwn(COMMANDS, command) || command === "help",
  );
  if (taken === undefined) return plugin.manifest;
  throw commandError(
    "bad_request",
    `hermes ${taken} is a command of its own`,
    "The plugin must choose another name.",
  );
}

function question(asked: {
  readonly plugin: FoundPlugin;
  readonly manifest: PluginManifest;
  readonly fingerprint: Fingerprint;
  readonly before: PluginTrust | undefined;
  readonly dev: boolean;
}): readonly string[] {
  const { plugin, manifest, fingerprint, before, dev } = asked;
  const author = manifest.author === "" ? "" : `, by ${manifest.author}`;
  const lines = [
    `${manifest.name} ${manifest.version}${author}`,
    `  ${manifest.description}`,
    `  from ${plugin.folder}`,
  ];
  for (const line of bringsLines(manifest)) lines.push(`  brings ${line}`);
  const builtin = new Set(builtinManifest.map(({ name }) => name));
  const covered = manifest.brings.tools.filter((name) => builtin.has(name));
  if (covered.length > 0) lines.push(`  may take the place of built-in tools: ${covered.join(", ")}`);
  if (manifest.requiresEnv.length > 0) lines.push(`  reads ${manifest.requiresEnv.join(", ")}`);
  if (manifest.capabilities.length > 0)
    lines.push(`  its tools may ask for ${manifest.capabilities.join(", ")}`);
  lines.push(`  ${fingerprint.files.length} files, fingerprint ${fingerprint.hash.slice(0, 16)}`);
  if (before !== undefined && before.fingerprint !== fingerprint.hash) {
    lines.push(`  CHANGED since you confirmed it on ${new Date(before.at).toISOString().slice(0, 10)}`);
  }
  lines.push("  Its code runs inside Hermes with all your rights.");
  if (dev) lines.push("  --dev: every later change of the folder is trusted as well.");
  return lines.filter((line) => line.trim() !== "").map(visible);
}

/** It is loaded once, so that a plugin that cannot work is known now. */
async function reportState(
  { out, runtime: open }: CommandContext,
  done: { readonly name: string; readonly fingerprint: Fingerprint; readonly dev: boolean },
): Promise<void> {
  const { name, fingerprint, dev } = done;
  const runtime = await open();
  const status = runtime.sources.status().find(({ source }) => source === `plugin:${name}`);
  await runtime.close();
  const { state = "failed", reason, tools = [] } = status ?? {};
  if (out.json) {
    out.value({ name, enabled: true, dev, fingerprint: fingerprint.hash, state, tools, reason });
  } else if (state === "ready") out.line(`${out.mark("ok")} ${name} is enabled`);
  else out.line(`${out.mark("error")} ${name} is enabled, but it is ${state}: ${visible(reason ?? "")}`);
  if (state === "failed") process.exitCode = EXIT.unavailable;
}

function isBundled(name: string): boolean {
  return bundledPlugins.some((plugin) => plugin.name === name);
}

/** What comes with the package is on unless `plugins.disabled` names it. */
async function switchBundled(
  { out, home }: CommandContext,
  { name, on }: { readonly name: string; readonly on: boolean },
): Promise<void> {
  const change = on ? removeConfigValue : appendConfigValue;
  const done = await change({ home, key: "plugins.disabled", items: [name] });
  if (!done.ok) throw new HermesError(done);
  out.result({ name, enabled: on }, `${out.mark("ok")} ${name} is ${on ? "enabled" : "disabled"}`);
}

/** The plugin no longer runs, and the yes to its files is forgotten. */
export async function disable(context: CommandContext): Promise<void> {
  const { out, home, config, args } = context;
  const [name = ""] = args;
  // A plugin may be the one that guards calls.
  assertPerson("Plugins are switched off by a person");
  if (isBundled(name)) return switchBundled(context, { name, on: false });
  const before = await config();
  if (!before.values.plugins.enabled.includes(name)) {
    const names = before.values.plugins.enabled.join(", ") || "none";
    throw commandError("not_found", `${name} is not enabled`, `Enabled: ${names}.`);
  }
  const taken = await removeConfigValue({ home, key: "plugins.enabled", items: [name] });
  if (!taken.ok) throw new HermesError(taken);
  // Another file may enable it too; the list of those that never run is stronger than all of them.
  const elsewhere = (await config()).values.plugins.enabled.includes(name);
  if (elsewhere) {
    const refused = await appendConfigValue({ home, key: "plugins.disabled", items: [name] });
    if (!refused.ok) throw new HermesError(refused);
  }
  const store = await openStore({ path: before.paths.stateDb });
  await forgetTrust(store, name);
  await store.close();
  out.result({ name, enabled: false }, `${out.mark("ok")} ${name} is disabled`);
}
