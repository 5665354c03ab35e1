import { visible } from "../base/visible-text.js";
import { appendConfigValue, removeConfigValue } from "../config/edit.js";
import { builtinManifest } from "../registry/builtin-manifest.gen.js";
import { markConfirmed } from "../sources/plugins/confirmed-mark.js";
import { type Fingerprint, fingerprintOf } from "../sources/plugins/fingerprint.js";
import type { PluginManifest } from "../sources/plugins/manifest.js";
import type { FoundPlugin } from "../sources/plugins/read-plugin.js";
import { confirmPlugin, findTrust, type PluginTrust } from "../sources/plugins/trust-rows.js";
import { openStore } from "../store/store.js";
import { failure, HermesError } from "../tool/errors.js";
import { describeThrown } from "../tool/thrown.js";
import { assertPerson } from "./approvals-store.js";
import { confirmed } from "./confirm.js";
import { EXIT } from "./exit-codes.js";
import type { CommandContext } from "./globals.js";
import { bringsLines, pluginNamed } from "./plugins-found.js";
import { buildProgram } from "./program.js";

/** Shows what a plugin brings, asks, and lets these very files run. */
export async function run(
  context: CommandContext,
  [name = ""]: readonly string[],
  options: Readonly<Record<string, unknown>>,
): Promise<void> {
  assertPerson("Plugins are switched on");
  const { out, home } = context;
  const { plugin, config } = await pluginNamed(context, name);
  const manifest = usableManifest(plugin);
  const fingerprint = await fingerprintOf(plugin.folder).catch((error: unknown) => {
    throw new HermesError(failure("bad_request", `${name} cannot be used: ${describeThrown(error).message}`));
  });
  const dev = options.dev === true;
  const store = await openStore({ path: config.paths.stateDb });
  try {
    const before = findTrust(store, plugin);
    for (const line of question({ plugin, manifest, fingerprint, before, dev })) out.note(line);
    const yes = context.flags.yes === true || options.yes === true;
    if (!(await confirmed({ question: `Let ${name} run?`, yes }))) {
      throw new HermesError(failure("denied", `${name} was not enabled`, "Nothing was changed."));
    }
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
    throw new HermesError(failure("bad_request", message, "Mend the plugin first; nothing was changed."));
  }
  const own = new Set(buildProgram({ completion: true }).commands.map((command) => command.name()));
  const taken = plugin.manifest.brings.commands.find((command) => own.has(command) || command === "help");
  if (taken === undefined) return plugin.manifest;
  throw new HermesError(
    failure("bad_request", `hermes ${taken} is a command of its own`, "The plugin must choose another name."),
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
    out.value({
      name,
      enabled: true,
      dev,
      fingerprint: fingerprint.hash,
      state,
      tools,
      ...(reason !== undefined && { reason }),
    });
  } else if (state === "ready") out.line(`${out.mark("ok")} ${name} is enabled`);
  else out.line(`${out.mark("error")} ${name} is enabled, but it is ${state}: ${visible(reason ?? "")}`);
  if (state === "failed") process.exitCode = EXIT.unavailable;
}
