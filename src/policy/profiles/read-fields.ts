import { didYouMean } from "../../config/did-you-mean.js";
import { type ConfigNode, describeNode, type MapEntry } from "../../config/node.js";
import type { Place } from "../../config/types.js";
import type { ListedRule, RuleOrigin } from "./types.js";

/** One remark about a permissions file. An error makes the whole file count as broken. */
export interface RuleFinding {
  readonly severity: "error" | "warning";
  readonly message: string;
  readonly hint?: string | undefined;
  readonly place?: Place | undefined;
}

export interface RuleReading {
  readonly file: string;
  report(finding: RuleFinding): void;
}

export function originOf({ file }: RuleReading, place: Place | undefined): RuleOrigin {
  return place === undefined ? { file } : { file, line: place.line };
}

/** The entries of a section; anything else than a section is reported. Nothing written is an empty one. */
export function sectionOf(node: ConfigNode, what: string, reading: RuleReading): readonly MapEntry[] {
  if (node.kind === "map") {
    const unusable = node.entries.find(({ name }) => name === "__proto__" || name.trim() === "");
    if (unusable !== undefined) wrong(reading, `${what} has an entry without a usable name`, unusable.place);
    return node.entries.filter((entry) => entry !== unusable);
  }
  if (node.kind !== "scalar" || node.value !== null) {
    wrong(reading, `${what} must be a section, but it is ${describeNode(node)}`, node.place);
  }
  return [];
}

export function unknownField(options: {
  readonly entry: MapEntry;
  readonly within: string;
  readonly known: readonly string[];
  readonly reading: RuleReading;
}): void {
  const { entry, within, known, reading } = options;
  const meant = FORMER[entry.name];
  const hint = meant !== undefined && known.includes(meant) ? `did you mean "${meant}"?` : undefined;
  reading.report({
    severity: "error",
    message: `unknown key ${JSON.stringify(entry.name).slice(1, -1)} in ${within}`,
    hint: hint ?? didYouMean(entry.name, known) ?? `it may hold ${known.join(", ")}`,
    place: entry.place,
  });
}

/** What other systems call it. */
const FORMER: Readonly<Record<string, string>> = {
  ask: "approval_required",
  approve: "approval_required",
  requires_approval: "approval_required",
  denied: "deny",
  forbid: "deny",
  block: "deny",
  allowed: "allow",
  inherits: "extends",
  parent: "extends",
  paths: "allowed_paths",
  commands: "allowed_commands",
  hosts: "allowed_hosts",
  args: "parameters",
  arguments: "parameters",
};

/** A text, or undefined after reporting. */
export function textOf(node: ConfigNode, what: string, reading: RuleReading): string | undefined {
  const value = node.kind === "scalar" ? node.value : null;
  if (typeof value === "string" && value.trim() !== "" && !/[\u0000-\u001f]/.test(value)) return value;
  wrong(reading, `${what} must be a text, but it is ${describeNode(node)}`, node.place);
  return undefined;
}

/** The items of a list; a single value is a list of one, nothing written is an empty list. */
export function itemsOf(node: ConfigNode): readonly ConfigNode[] {
  if (node.kind === "list") return node.items;
  return node.kind === "scalar" && node.value === null ? [] : [node];
}

export function numberOf(node: ConfigNode, what: string, reading: RuleReading): number | undefined {
  const value = node.kind === "scalar" ? node.value : undefined;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  wrong(reading, `${what} must be a number, but it is ${describeNode(node)}`, node.place);
  return undefined;
}

export function wrong(reading: RuleReading, message: string, place: Place | undefined, hint?: string): void {
  reading.report({ severity: "error", message, place, hint });
}

export interface ListedAt extends ListedRule {
  readonly place: Place | undefined;
}

interface ListOptions {
  readonly node: ConfigNode;
  /** For messages: `profiles.x.deny`. */
  readonly within: string;
  /** What an entry is called when it is written as a section: `permission`, `path`, `command`, `host`. */
  readonly field: string;
  readonly reading: RuleReading;
  /** Tries an example; left out where examples make no sense. */
  readonly matches?: ((rule: string, example: string) => boolean) | undefined;
}

/**
 * A list of rules. An entry is a text, or a section `{FIELD, reason, match, not_match}`, whose examples must
 * hold: a rule that does not do what its author thinks is an error here and not a surprise later.
 */
export function readListed(options: ListOptions): readonly ListedAt[] {
  return itemsOf(options.node).flatMap((item) => {
    const rule = item.kind === "map" ? readSection(item, options) : readText(item, options);
    return rule ?? [];
  });
}

function readText(node: ConfigNode, { within, reading }: ListOptions): ListedAt | undefined {
  const text = textOf(node, `an entry of ${within}`, reading);
  return text === undefined ? undefined : { text, origin: originOf(reading, node.place), place: node.place };
}

function readSection(node: ConfigNode, options: ListOptions): ListedAt | undefined {
  const { within, field, reading, matches } = options;
  const known = [field, "reason", ...(matches === undefined ? [] : ["match", "not_match"])];
  const found = new Map<string, ConfigNode>();
  for (const entry of sectionOf(node, within, reading)) {
    if (known.includes(entry.name)) found.set(entry.name, entry.node);
    else unknownField({ entry, within: `an entry of ${within}`, known, reading });
  }
  const written = found.get(field);
  if (written === undefined) {
    wrong(reading, `an entry of ${within} has no "${field}"`, node.place, `it is ${describeNode(node)}`);
    return undefined;
  }
  const rule = readText(written, options);
  if (rule === undefined) return undefined;
  for (const [name, expected] of [
    ["match", true],
    ["not_match", false],
  ] as const) {
    const examples = found.get(name);
    if (examples === undefined || matches === undefined) continue;
    for (const item of itemsOf(examples)) {
      const example = textOf(item, `${within}: ${name}`, reading);
      if (example === undefined || matches(rule.text, example) === expected) continue;
      const does = expected ? "does not match" : "matches";
      wrong(
        reading,
        `${within}: the rule ${JSON.stringify(rule.text)} ${does} its example ${JSON.stringify(example)}`,
        item.place,
        "correct the rule or the example",
      );
    }
  }
  const why = found.get("reason");
  const reason = why === undefined ? undefined : textOf(why, `${within}: reason`, reading);
  return reason === undefined ? rule : { ...rule, reason };
}
