import { didYouMean } from "../../config/did-you-mean.js";
import { type ConfigNode, describeNode, type MapEntry, type MapNode } from "../../config/node.js";
import type { Place } from "../../config/types.js";

/** Something that the manifest must name before a plugin may bring it. */
export type Brings =
  | "tools"
  | "hooks"
  | "toolsets"
  | "commands"
  | "environments"
  | "approvers"
  | "model_providers";

export const BRINGS: readonly Brings[] = [
  "tools",
  "hooks",
  "toolsets",
  "commands",
  "environments",
  "approvers",
  "model_providers",
];

/** What a plugin says about itself before any of its code runs. */
export interface PluginManifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly author: string;
  /** Relative to the plugin's folder; looked for when it is not said. */
  readonly main: string | undefined;
  readonly requiresEnv: readonly string[];
  readonly brings: Readonly<Record<Brings, readonly string[]>>;
  /** Hooks of this plugin without which no call may run: also not while the plugin cannot be loaded. */
  readonly closedHooks: readonly string[];
  /** Permissions that its tools may ask for. */
  readonly capabilities: readonly string[];
  /** How long `register` may take. */
  readonly timeoutSeconds: number;
}

export interface ManifestProblem {
  readonly message: string;
  readonly hint?: string | undefined;
  readonly place?: Place | undefined;
}

export type ReadManifest =
  | { readonly ok: true; readonly manifest: PluginManifest }
  | { readonly ok: false; readonly problems: readonly ManifestProblem[] };

const DEFAULT_TIMEOUT_SECONDS = 30;
const MAX_TIMEOUT_SECONDS = 600;
const LONGEST_TEXT = 500;

const PLUGIN_NAME = /^[a-z0-9][a-z0-9_-]{0,47}$/;
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
const ENTRY_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/;
const CAPABILITY = /^[a-z][a-z0-9_-]*:(?:\*|[a-z][a-z0-9_.-]*)$/i;
const MODULE_FILE = /\.m?[jt]s$/;

const FIELDS: readonly string[] = [
  "name",
  "version",
  "description",
  "author",
  "main",
  "requires_env",
  ...BRINGS.map((kind) => `provides_${kind}`),
  "capabilities",
  "timeout",
];

/** `defaults` stand in for fields that are left out: an npm package has told some of them already. */
export function readManifest(
  root: MapNode,
  defaults: Readonly<Record<string, ConfigNode>> = {},
): ReadManifest {
  const reader = new ManifestReader(root, defaults);
  const name = reader.name();
  const hooks = reader.hooks();
  const names = (kind: Brings) =>
    kind === "hooks"
      ? hooks.map((hook) => hook.name)
      : reader.names(`provides_${kind}`, ENTRY_NAME, "a name");
  const manifest: PluginManifest = {
    name,
    version: reader.text("version", "0.0.0"),
    description: reader.text("description", ""),
    author: reader.author(),
    main: reader.main(),
    requiresEnv: reader.names("requires_env", VARIABLE_NAME, "the name of an environment variable"),
    brings: Object.fromEntries(BRINGS.map((kind) => [kind, names(kind)])) as PluginManifest["brings"],
    closedHooks: hooks.filter((hook) => hook.closed).map((hook) => hook.name),
    capabilities: reader.names(
      "capabilities",
      CAPABILITY,
      'a permission such as "network:fetch" or "file:*"',
    ),
    timeoutSeconds: reader.timeout(),
  };
  return reader.problems.length === 0 ? { ok: true, manifest } : { ok: false, problems: reader.problems };
}

class ManifestReader {
  readonly problems: ManifestProblem[] = [];
  readonly #entries = new Map<string, MapEntry>();
  readonly #defaults: Readonly<Record<string, ConfigNode>>;
  readonly #place: Place | undefined;

  constructor(root: MapNode, defaults: Readonly<Record<string, ConfigNode>>) {
    this.#defaults = defaults;
    this.#place = root.place;
    for (const entry of root.entries) {
      if (FIELDS.includes(entry.name)) this.#entries.set(entry.name, entry);
      else {
        const hint = didYouMean(entry.name, FIELDS) ?? `a manifest has ${FIELDS.join(", ")}`;
        this.#complain(`unknown field ${JSON.stringify(entry.name)}`, hint, entry.place);
      }
    }
  }

  name(): string {
    const node = this.#node("name");
    if (node === undefined) {
      this.#complain("name is missing", "give the plugin the name of its folder", this.#place);
      return "";
    }
    const value = node.kind === "scalar" && typeof node.value === "string" ? node.value : "";
    if (PLUGIN_NAME.test(value)) return value;
    const rule = "name must be small letters, digits, dash and underscore, at most 48 of them";
    this.#complain(`${rule}, but it is ${describeNode(node)}`, "rename it", node.place);
    return "";
  }

  text(field: string, otherwise: string): string {
    const node = this.#node(field);
    if (node === undefined) return otherwise;
    const value = node.kind === "scalar" && node.value !== null ? String(node.value) : undefined;
    if (value !== undefined && value.length <= LONGEST_TEXT) return value;
    const problem = value === undefined ? `but it is ${describeNode(node)}` : "but it is longer";
    this.#complain(
      `${field} must be a text of at most ${LONGEST_TEXT} characters, ${problem}`,
      undefined,
      node.place,
    );
    return otherwise;
  }

  /** npm also allows `{ name, email }`. */
  author(): string {
    const node = this.#node("author");
    if (node?.kind !== "map") return this.text("author", "");
    const name = node.entries.find((entry) => entry.name === "name")?.node;
    return name?.kind === "scalar" ? String(name.value ?? "") : "";
  }

  main(): string | undefined {
    const given = this.text("main", "");
    if (given === "") return undefined;
    const main = given.replace(/^\.\//, "");
    const leaves = main.startsWith("/") || main.split(/[\\/]/).includes("..");
    if (!leaves && MODULE_FILE.test(main)) return main;
    const rule = "main must be a .ts, .mts, .js or .mjs file inside the plugin's folder";
    this.#complain(`${rule}, but it is ${JSON.stringify(given)}`, undefined, this.#node("main")?.place);
    return undefined;
  }

  names(field: string, pattern: RegExp, what: string): readonly string[] {
    const names = new Set<string>();
    for (const item of this.#items(field)) {
      const value = item.kind === "scalar" && typeof item.value === "string" ? item.value : "";
      if (pattern.test(value)) names.add(value);
      else this.#complain(`${field}: ${describeNode(item)} is not ${what}`, undefined, item.place);
    }
    return [...names];
  }

  hooks(): readonly { readonly name: string; readonly closed: boolean }[] {
    const hooks = new Map<string, boolean>();
    for (const item of this.#items("provides_hooks")) {
      const fields = item.kind === "map" ? item.entries : [];
      const nameNode = item.kind === "map" ? fields.find(({ name }) => name === "name")?.node : item;
      const onFailure = fields.find(({ name }) => name === "on_failure")?.node;
      const strange = fields.find(({ name }) => name !== "name" && name !== "on_failure");
      const name = nameNode?.kind === "scalar" ? String(nameNode.value ?? "") : "";
      const failing = onFailure?.kind === "scalar" ? onFailure.value : undefined;
      if (!HOOKS.includes(name)) {
        const hint = didYouMean(name, HOOKS) ?? `hooks: ${HOOKS.join(", ")}`;
        this.#complain(`provides_hooks: there is no hook ${JSON.stringify(name)}`, hint, item.place);
      } else if (strange !== undefined) {
        const message = `provides_hooks: unknown field ${JSON.stringify(strange.name)}`;
        this.#complain(message, "a hook has name and on_failure", strange.place);
      } else if (onFailure !== undefined && failing !== "open" && failing !== "closed") {
        const message = `on_failure must be open or closed, but it is ${describeNode(onFailure)}`;
        this.#complain(message, undefined, onFailure.place);
      } else hooks.set(name, hooks.get(name) === true || failing === "closed");
    }
    return [...hooks].map(([name, closed]) => ({ name, closed }));
  }

  timeout(): number {
    const node = this.#node("timeout");
    if (node === undefined) return DEFAULT_TIMEOUT_SECONDS;
    const value = node.kind === "scalar" ? node.value : undefined;
    if (typeof value === "number" && value > 0 && value <= MAX_TIMEOUT_SECONDS) return value;
    const rule = `timeout must be a number of seconds, at most ${MAX_TIMEOUT_SECONDS}`;
    this.#complain(`${rule}, but it is ${describeNode(node)}`, undefined, node.place);
    return DEFAULT_TIMEOUT_SECONDS;
  }

  #items(field: string): readonly ConfigNode[] {
    const node = this.#node(field);
    if (node === undefined) return [];
    if (node.kind === "list") return node.items;
    this.#complain(`${field} must be a list, but it is ${describeNode(node)}`, undefined, node.place);
    return [];
  }

  /** An entry without a value counts as left out. */
  #node(field: string): ConfigNode | undefined {
    const node = this.#entries.get(field)?.node ?? this.#defaults[field];
    return node?.kind === "scalar" && node.value === null ? undefined : node;
  }

  #complain(message: string, hint: string | undefined, place: Place | undefined): void {
    this.problems.push({ message, hint, place });
  }
}

export const HOOKS: readonly string[] = ["pre_tool_call", "post_tool_call", "transform_tool_result"];

/** `file:line:column: what (what to do)`. */
export function formatManifestProblem(problem: ManifestProblem, file: string): string {
  const { message, hint, place } = problem;
  const where = place === undefined ? file : `${file}:${place.line}:${place.column}`;
  return `${where}: ${message}${hint === undefined ? "" : ` (${hint})`}`;
}
