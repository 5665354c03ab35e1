import { didYouMean, nearest } from "../config/did-you-mean.js";
import {
  type ConfigNode,
  describeNode,
  type MapEntry,
  type MapNode,
  plainValue,
  shorten,
} from "../config/node.js";
import type { Problems } from "./problems.js";

interface Wanted {
  readonly required?: boolean;
}

const ADVICE: Readonly<Record<string, string>> = {
  "<<": "merge keys are not supported; an alias can stand for a whole value, and defaults fill in what tools share",
};

/**
 * One map of a tool file, read key by key. What has the wrong shape is a problem and reads as absent; a key that
 * nobody asked for is a problem when reading ends.
 */
export class Section {
  readonly node: MapNode;
  /** For messages: `tool jira_create_ticket`, `auth`. */
  readonly what: string;
  readonly problems: Problems;
  readonly #asked = new Set<string>();
  readonly #entries: ReadonlyMap<string, MapEntry>;

  constructor(parts: { readonly node: MapNode; readonly what: string; readonly problems: Problems }) {
    this.node = parts.node;
    this.what = parts.what;
    this.problems = parts.problems;
    this.#entries = new Map(parts.node.entries.map((entry) => [entry.name, entry]));
  }

  has(name: string): boolean {
    return this.#entries.has(name);
  }

  /** The value as it was written; nothing when it is absent or empty. */
  get(name: string, { required = false }: Wanted = {}): ConfigNode | undefined {
    this.#asked.add(name);
    const node = this.#entries.get(name)?.node;
    const given = node === undefined || (node.kind === "scalar" && node.value === null) ? undefined : node;
    if (given === undefined && required) {
      const [meant] = nearest(name, this.#entries.keys(), 1).filter((key) => key !== name);
      const hint = meant === undefined ? undefined : `"${meant}" is written there; did you mean "${name}"?`;
      this.wrong(undefined, `${this.what} needs "${name}"`, hint);
    }
    return given;
  }

  text(name: string, wanted: Wanted = {}): string | undefined {
    const node = this.get(name, wanted);
    if (node === undefined) return undefined;
    if (node.kind === "scalar" && typeof node.value === "string" && node.value.trim() !== "")
      return node.value;
    return this.#misfit(name, node, "text");
  }

  boolean(name: string): boolean | undefined {
    const node = this.get(name);
    if (node === undefined) return undefined;
    if (node.kind === "scalar" && typeof node.value === "boolean") return node.value;
    return this.#misfit(name, node, "true or false");
  }

  number(
    name: string,
    range: { readonly min: number; readonly max: number; readonly whole?: boolean },
  ): number | undefined {
    const node = this.get(name);
    if (node === undefined) return undefined;
    const value = node.kind === "scalar" ? node.value : undefined;
    const fits =
      typeof value === "number" &&
      value >= range.min &&
      value <= range.max &&
      (range.whole !== true || Number.isInteger(value));
    const kind = range.whole === true ? "a whole number" : "a number";
    return fits ? value : this.#misfit(name, node, `${kind} from ${range.min} to ${range.max}`);
  }

  choice<const Choice extends string>(
    name: string,
    choices: readonly Choice[],
    wanted: Wanted = {},
  ): Choice | undefined {
    const node = this.get(name, wanted);
    if (node === undefined) return undefined;
    const given = node.kind === "scalar" ? String(node.value) : undefined;
    const chosen = choices.find((choice) => choice === given);
    if (chosen !== undefined) return chosen;
    const hint = given === undefined ? undefined : didYouMean(given, choices);
    return this.#misfit(name, node, `one of ${choices.join(", ")}`, hint);
  }

  texts(name: string): readonly string[] | undefined {
    const items = this.items(name);
    if (items === undefined) return undefined;
    return items.flatMap((item) => {
      if (item.kind === "scalar" && item.value !== null && item.value !== "") return [String(item.value)];
      this.wrong(item, `"${name}" of ${this.what} must be a list of texts, not ${describeNode(item)}`);
      return [];
    });
  }

  items(name: string, wanted: Wanted = {}): readonly ConfigNode[] | undefined {
    const node = this.get(name, wanted);
    if (node === undefined) return undefined;
    return node.kind === "list" ? node.items : this.#misfit(name, node, "a list");
  }

  section(name: string, what = name): Section | undefined {
    const node = this.get(name);
    if (node === undefined) return undefined;
    if (node.kind === "map") return new Section({ node, what, problems: this.problems });
    return this.#misfit(name, node, "a section");
  }

  /** The plain value, whatever it is. */
  value(name: string): unknown {
    const node = this.get(name);
    return node === undefined ? undefined : plainValue(node);
  }

  wrong(
    at: { readonly place?: MapEntry["place"] | undefined } | undefined,
    message: string,
    hint?: string,
  ): void {
    this.problems.add(at?.place === undefined ? this.node : { place: at.place }, message, hint);
  }

  /** Told when all keys that mean something have been asked for. */
  finish(advice: Readonly<Record<string, string>> = {}): void {
    for (const entry of this.#entries.values()) {
      if (this.#asked.has(entry.name)) continue;
      const known = { ...ADVICE, ...advice };
      const hint = Object.hasOwn(known, entry.name)
        ? known[entry.name]
        : (didYouMean(entry.name, this.#asked) ?? `known here: ${[...this.#asked].sort().join(", ")}`);
      this.wrong(entry, `${this.what} has an unknown key ${JSON.stringify(shorten(entry.name))}`, hint);
    }
  }

  #misfit(name: string, node: ConfigNode, wanted: string, hint?: string): undefined {
    this.wrong(node, `"${name}" of ${this.what} must be ${wanted}, not ${describeNode(node)}`, hint);
    return undefined;
  }
}
