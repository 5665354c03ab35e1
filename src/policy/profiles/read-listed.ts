import { type ConfigNode, describeNode } from "../../config/node.js";
import type { Place } from "../../config/types.js";
import {
  itemsOf,
  originOf,
  type RuleReading,
  sectionOf,
  textOf,
  unknownField,
  wrong,
} from "./read-fields.js";
import type { ListedRule } from "./types.js";

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
  readonly matches?: (rule: string, example: string) => boolean;
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
