import { aborted } from "../../base/deadline.js";
import { sha256 } from "../../base/hash.js";
import type { Approver } from "../../call/scope.js";
import { didYouMean } from "../../config/did-you-mean.js";
import type { LoadedConfig } from "../../config/types.js";
import { BUILTIN_NAMES } from "../../env/environments.js";
import type { ModelClient } from "../../model/model-client.js";
import { describeThrown } from "../../tool/thrown.js";
import type { SourceHost, SourceStatus, ToolSource } from "../types.js";
import type { Collected } from "./collected.js";
import { findPlugins } from "./find-plugins.js";
import { type Fingerprint, fingerprintOf } from "./fingerprint.js";
import { loadPlugin } from "./load-plugin.js";
import { PluginSlot } from "./plugin-slot.js";
import { type FoundPlugin, readPlugin } from "./read-plugin.js";
import { RunningPlugin } from "./running-plugin.js";
import { findTrust, guardsCalls } from "./trust-rows.js";
import type { EnvironmentFactory, PluginCommand } from "./types.js";

/** What plugins bring besides tools, hooks and toolsets. */
export interface PluginContributions {
  command(name: string): { readonly plugin: string; readonly command: PluginCommand } | undefined;
  environment(name: string): EnvironmentFactory | undefined;
  environmentNames(): readonly string[];
  approver(name: string): (() => Approver | Promise<Approver>) | undefined;
  modelProvider(name: string): (() => ModelClient | Promise<ModelClient>) | undefined;
  modelProviderNames(): readonly string[];
}

export interface PluginSource extends ToolSource, PluginContributions {
  readonly kind: "plugin";
}

/**
 * A slow plugin must not hold up the others, nor a denial that is to be taken up behind it. When everything starts,
 * one with hooks is waited for, since calls must not pass it by.
 */
const STARTING_WAIT_MS = 3_000;
/** Of two plugins that want one name the first in the list gets it, unless it takes too long. */
const EARLIER_WAIT_MS = 2_000;

/** The plugins of the person, of a trusted project and from npm, as far as `plugins.enabled` names them. */
export function createPluginSource(host: SourceHost): PluginSource {
  return new Plugins(host);
}

class Plugins implements PluginSource {
  readonly kind = "plugin";
  readonly #host: SourceHost;
  readonly #slots = new Map<string, PluginSlot>();
  /** No longer wanted; their last calls may still run. */
  readonly #gone = new Map<string, PluginSlot>();
  #disabled: readonly string[] = [];
  #closed = false;

  constructor(host: SourceHost) {
    this.#host = host;
  }

  start(): Promise<void> {
    return this.#bringUpAll(this.#host.config, { waitsForHooks: true });
  }

  refresh(config: LoadedConfig): Promise<void> {
    return this.#bringUpAll(config, { waitsForHooks: false });
  }

  async #bringUpAll(config: LoadedConfig, how: { readonly waitsForHooks: boolean }): Promise<void> {
    if (this.#closed) return;
    const found = await findPlugins(config);
    const { enabled } = config.values.plugins;
    this.#disabled = enabled.filter((name) => isOff(name, { config, found }));
    const wanted = new Set(enabled.filter((name) => !this.#disabled.includes(name)));
    for (const [name, slot] of this.#slots) {
      if (wanted.has(name)) continue;
      this.#slots.delete(name);
      this.#gone.set(name, slot);
      slot.stop();
    }
    const begun: Promise<void>[] = [];
    const waits = [...wanted].map((name) => {
      const slot = this.#slotFor(name);
      const earlier = Promise.all(begun);
      const loading = slot.change((isCurrent) => this.#bringUp({ slot, config, found, earlier, isCurrent }));
      begun.push(loading);
      const isWaitedFor =
        how.waitsForHooks && found.some((plugin) => plugin.name === name && bringsHooks(plugin));
      return isWaitedFor ? loading : Promise.race([loading, pause(STARTING_WAIT_MS)]);
    });
    await Promise.all(waits);
  }

  #slotFor(name: string): PluginSlot {
    const standing = this.#slots.get(name);
    if (standing !== undefined) return standing;
    const slot = this.#gone.get(name) ?? new PluginSlot(name, this.#host);
    this.#gone.delete(name);
    slot.reopen();
    this.#slots.set(name, slot);
    return slot;
  }

  async settled(signal?: AbortSignal): Promise<void> {
    const loading = Promise.all([...this.#slots.values()].map((slot) => slot.loading));
    if (signal === undefined) await loading;
    else await Promise.race([loading, aborted(signal)]);
  }

  status(): readonly SourceStatus[] {
    const off = this.#disabled.map(
      (name): SourceStatus => ({
        source: `plugin:${name}`,
        state: "disabled",
        tools: [],
        reason: "plugins.disabled names it",
        fix: `hermes plugins enable ${name}`,
        quarantined: [],
      }),
    );
    return [...[...this.#slots.values()].map((slot) => slot.status()), ...off];
  }

  async close(): Promise<void> {
    this.#closed = true;
    const slots = [...this.#slots.values(), ...this.#gone.values()];
    await Promise.all(slots.map((slot) => slot.close()));
    this.#slots.clear();
    this.#gone.clear();
  }

  async #bringUp(step: {
    readonly slot: PluginSlot;
    readonly config: LoadedConfig;
    readonly found: readonly FoundPlugin[];
    readonly earlier: Promise<unknown>;
    isCurrent(): boolean;
  }): Promise<void> {
    const { slot, config, found } = step;
    const plugin = found.find(({ name }) => name === slot.name);
    slot.guards ||= (plugin?.manifest?.closedHooks.length ?? 0) > 0;
    const store = await this.#host.store();
    // The manifest may have changed, or may be gone: what a person confirmed counts too.
    slot.guards = guardsCalls(store, slot.name) || (plugin?.manifest?.closedHooks.length ?? 0) > 0;
    if (plugin === undefined) {
      const guess = didYouMean(
        slot.name,
        found.map(({ name }) => name),
      );
      slot.fail({
        reason: `no plugin called ${slot.name} was found${guess === undefined ? "" : `; ${guess}`}`,
        fix: `put it into ${config.paths.plugins}/${slot.name}, or take it out of plugins.enabled`,
      });
      return;
    }
    let fingerprint: Fingerprint;
    try {
      fingerprint = await fingerprintOf(plugin.folder);
    } catch (error) {
      slot.fail({ reason: plugin.problems[0] ?? describeThrown(error).message });
      return;
    }
    if (!step.isCurrent()) return;
    const trust = findTrust(store, plugin);
    if (trust === undefined || (!trust.dev && trust.fingerprint !== fingerprint.hash)) {
      slot.fail({
        reason:
          trust === undefined
            ? `nobody has confirmed the files in ${plugin.folder} yet`
            : `its files have changed since they were confirmed (${plugin.folder})`,
        fix: `look at them, then: hermes plugins enable ${slot.name}`,
      });
      return;
    }
    await this.#load({ ...step, plugin, fingerprint, dev: trust.dev });
  }

  async #load(step: {
    readonly slot: PluginSlot;
    readonly config: LoadedConfig;
    readonly plugin: FoundPlugin;
    readonly fingerprint: Fingerprint;
    /** Changes of the folder are trusted. */
    readonly dev: boolean;
    readonly earlier: Promise<unknown>;
    isCurrent(): boolean;
  }): Promise<void> {
    const { slot, config, plugin, fingerprint } = step;
    const { manifest, main } = plugin;
    const [broken] = plugin.problems;
    if (manifest === undefined || main === undefined || broken !== undefined) {
      slot.keepOld({ reason: broken ?? `${plugin.manifestFile} cannot be used` });
      return;
    }
    const missing = manifest.requiresEnv.filter((name) => !config.env[name]);
    if (missing.length > 0) {
      slot.keepOld({
        reason: `${missing.join(", ")} ${missing.length === 1 ? "is" : "are"} not set`,
        fix: `hermes config set ${missing[0]} VALUE`,
      });
      return;
    }
    const version = versionOf({ fingerprint, manifest, config, dev: step.dev });
    if (slot.running?.version === version) {
      slot.bringLeftOut(plugin.folder);
      return;
    }
    const sameLoading = slot.joins(version);
    if (sameLoading !== undefined) return sameLoading;
    if (slot.tried === version) return;
    await slot.begin(version, plugin.folder);
    const { log, onBlocked } = slot;
    const confirmed = step.dev ? {} : { confirmed: fingerprint.contents };
    let collected: Collected;
    try {
      const files = { manifest, main, fingerprint: fingerprint.hash, ...confirmed };
      collected = await loadPlugin({ ...files, config, log, onBlocked });
    } catch (error) {
      const trouble = { reason: describeThrown(error).message, fix: "mend the plugin, or disable it" };
      const tried = (await isSame(plugin, fingerprint)) ? version : undefined;
      if (step.isCurrent()) slot.keepOld(trouble, tried);
      return;
    }
    await Promise.race([step.earlier, pause(EARLIER_WAIT_MS)]);
    const running = new RunningPlugin({ collected, version, log, onBlocked });
    const problem = (await isSame(plugin, fingerprint))
      ? clashOf(collected, { config, others: [...this.#slots.values()].filter((other) => other !== slot) })
      : `its files changed while they were read (${plugin.folder})`;
    if (step.isCurrent() && problem === undefined) {
      slot.putInForce(running, plugin.folder);
      return;
    }
    running.retire();
    // It is tried again: the name may be free by then, the files whole.
    if (problem !== undefined && step.isCurrent()) slot.keepOld({ reason: problem });
  }

  command(name: string) {
    for (const slot of this.#slots.values()) {
      const command = slot.running?.collected.commands.get(name);
      if (command !== undefined) return { plugin: slot.name, command };
    }
    return undefined;
  }

  environment(name: string): EnvironmentFactory | undefined {
    return this.#first((collected) => collected.environments.get(name));
  }

  environmentNames(): readonly string[] {
    return this.#names((collected) => collected.environments);
  }

  approver(name: string) {
    return this.#first((collected) => collected.approvers.get(name));
  }

  modelProvider(name: string) {
    return this.#first((collected) => collected.modelProviders.get(name));
  }

  modelProviderNames(): readonly string[] {
    return this.#names((collected) => collected.modelProviders);
  }

  #first<Value>(look: (collected: Collected) => Value | undefined): Value | undefined {
    for (const { running } of this.#slots.values()) {
      const value = running === undefined ? undefined : look(running.collected);
      if (value !== undefined) return value;
    }
    return undefined;
  }

  #names(look: (collected: Collected) => ReadonlyMap<string, unknown>): readonly string[] {
    return [...this.#slots.values()]
      .flatMap(({ running }) => (running === undefined ? [] : [...look(running.collected).keys()]))
      .sort();
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}

interface Other {
  readonly name: string;
  readonly running: RunningPlugin | undefined;
}

const KINDS = [
  ["toolset", "toolsets"],
  ["command", "commands"],
  ["environment", "environments"],
  ["approver", "approvers"],
  ["model provider", "modelProviders"],
] as const;

/** A name that somebody else has already. Tools are not looked at: the registry decides about those one by one. */
function clashOf(
  collected: Collected,
  world: { readonly config: LoadedConfig; readonly others: readonly Other[] },
): string | undefined {
  for (const [what, field] of KINDS) {
    for (const name of collected[field].keys()) {
      const owner = world.others.find(({ running }) => running?.collected[field].has(name) === true);
      if (owner !== undefined) return `the ${what} ${name} belongs to the plugin ${owner.name} already`;
    }
  }
  // Grants and the journal know environments by their names: none may be taken for a built-in one.
  const builtin = new RegExp(`^(?:${BUILTIN_NAMES.join("|")})\\b`);
  const environment = [...collected.environments.keys()].find((name) => builtin.test(name));
  if (environment !== undefined) {
    return `the environment ${environment} has the name of a built-in one; choose a name that begins otherwise`;
  }
  const written = world.config.values.custom_toolsets;
  const toolset = [...collected.toolsets.keys()].find((name) => Object.hasOwn(written, name));
  return toolset === undefined ? undefined : `the toolset ${toolset} is written in custom_toolsets already`;
}

/**
 * A project's own file may switch plugins off, but not those that watch calls: that would loosen what the person has
 * put in force.
 */
function isOff(
  name: string,
  { config, found }: { readonly config: LoadedConfig; readonly found: readonly FoundPlugin[] },
): boolean {
  if (!config.values.plugins.disabled.includes(name)) return false;
  if (config.origin(`plugins.disabled.${name}`).source !== "project") return true;
  const plugin = found.find((one) => one.name === name);
  return plugin?.manifest !== undefined && !bringsHooks(plugin);
}

function bringsHooks({ manifest }: FoundPlugin): boolean {
  return (manifest?.brings.hooks.length ?? 0) > 0;
}

/** What code is made of. Other files may be data that the plugin itself writes. */
const CODE_FILE = /\.(?:[cm]?[jt]s|json|ya?ml)$/i;

/** Everything that a run of `register` depends on. */
function versionOf(made: {
  readonly fingerprint: Fingerprint;
  readonly manifest: { readonly name: string; readonly requiresEnv: readonly string[] };
  readonly config: LoadedConfig;
  /** Changes of the folder are trusted: then only those of code make another version. */
  readonly dev: boolean;
}): string {
  const { fingerprint, manifest, config } = made;
  const settings = config.values.tool_settings[manifest.name];
  const env = manifest.requiresEnv.map((name) => config.env[name]);
  const files = made.dev ? codeOf(fingerprint) : fingerprint.hash;
  return sha256(JSON.stringify([files, settings, env]));
}

/** Whether manifest and code are still what was looked at before the code ran. */
async function isSame(plugin: FoundPlugin, fingerprint: Fingerprint): Promise<boolean> {
  const now = await Promise.all([readPlugin(plugin), fingerprintOf(plugin.folder)]).catch(() => undefined);
  return (
    now !== undefined &&
    JSON.stringify(now[0].manifest) === JSON.stringify(plugin.manifest) &&
    JSON.stringify(codeOf(now[1])) === JSON.stringify(codeOf(fingerprint))
  );
}

function codeOf({ contents }: Fingerprint): readonly (readonly [string, string])[] {
  return [...contents].filter(([path]) => CODE_FILE.test(path));
}
