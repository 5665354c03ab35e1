import { homedir } from "node:os";
import { compileGlob, segmentsOf } from "../../base/glob.js";
import type { MapEntry } from "../../config/node.js";
import { hostMatches } from "../../net/hosts.js";
import { commandRuleMatches } from "./command-rules.js";
import { domainOf } from "./permission-names.js";
import { numberOf, originOf, type RuleReading, sectionOf, unknownField, wrong } from "./read-fields.js";
import { readListed } from "./read-listed.js";
import type { ListedRule, Restriction } from "./types.js";

const LISTS = {
  allowed_paths: "path",
  denied_paths: "path",
  allowed_commands: "command",
  denied_commands: "command",
  allowed_hosts: "host",
  denied_hosts: "host",
  allowed_methods: "method",
  environments: "environment",
} as const;

type ListField = keyof typeof LISTS;
const FIELDS = [...Object.keys(LISTS), "max_bytes"];

/** Which fields say something about a domain. Other domains, and wildcards, may have any. */
const MEANINGFUL: Readonly<Record<string, readonly string[]>> = {
  file: ["path", "environment", "max_bytes"],
  terminal: ["command", "environment", "max_bytes"],
  network: ["host", "method", "environment", "max_bytes"],
};

export function readRestriction(entry: MapEntry, within: string, reading: RuleReading): Restriction {
  const at = `${within}.${entry.name}`;
  const meaningful = MEANINGFUL[domainOf(entry.name)];
  const lists: Partial<Record<ListField, readonly ListedRule[]>> = {};
  let limit: Restriction["max_bytes"];
  for (const field of sectionOf(entry.node, at, reading)) {
    if (!FIELDS.includes(field.name)) {
      unknownField({ entry: field, within: at, known: FIELDS, reading });
      continue;
    }
    const kind = isList(field.name) ? LISTS[field.name] : field.name;
    if (meaningful !== undefined && !meaningful.includes(kind)) {
      const hint = `${domainOf(entry.name)} permissions are restricted by ${fieldsFor(meaningful).join(", ")}`;
      wrong(reading, `${at}.${field.name} would have no effect there`, field.place, hint);
    }
    if (isList(field.name)) lists[field.name] = readList(field.name, field, at, reading);
    else {
      const value = numberOf(field.node, `${at}.max_bytes`, reading);
      if (value !== undefined && value < 0) wrong(reading, `${at}.max_bytes is below 0`, field.place);
      // What cannot be read must not lift the limit.
      limit = { value: Math.max(0, value ?? 0), origin: originOf(reading, field.place) };
    }
  }
  return {
    permission: entry.name,
    origin: originOf(reading, entry.place),
    ...lists,
    ...(limit !== undefined && { max_bytes: limit }),
  };
}

function isList(name: string): name is ListField {
  return Object.hasOwn(LISTS, name);
}

function fieldsFor(kinds: readonly string[]): readonly string[] {
  return FIELDS.filter((name) => kinds.includes(isList(name) ? LISTS[name] : name));
}

function readList(name: ListField, entry: MapEntry, at: string, reading: RuleReading): readonly ListedRule[] {
  const kind = LISTS[name];
  const within = `${at}.${name}`;
  const matches = EXAMPLES[kind];
  const rules = readListed({
    node: entry.node,
    within,
    field: kind,
    reading,
    ...(matches !== undefined && { matches: (rule, example) => matches(rule, example, name) }),
  });
  for (const { text, place } of rules) {
    if (kind === "path" && compileGlob(text, whereFor(name)) === undefined) {
      const hint = "it is empty, too long, or its braces stand for too many patterns";
      wrong(reading, `${within}: ${JSON.stringify(text)} is no usable path pattern`, place, hint);
    }
    if (kind === "path" && /(?:^|\/)\.\.(?:\/|$)/.test(text)) {
      wrong(reading, `${within}: ${JSON.stringify(text)} climbs with ".."`, place, "write where it leads");
    }
  }
  return rules.map(({ place: _place, ...rule }) => rule);
}

/** How an example is tried. Paths are compared by name alone: a rule is checked before there are files. */
const EXAMPLES: Readonly<
  Record<string, ((rule: string, example: string, list: ListField) => boolean) | undefined>
> = {
  path: (rule, example, list) =>
    compileGlob(rule, whereFor(list))?.matches(segmentsOf(example.replace(/^~(?=\/|$)/, homedir()))) === true,
  command: (rule, example, list) =>
    commandRuleMatches(rule, example, list === "allowed_commands" ? "allow" : "deny"),
  host: (rule, example) => hostMatches(example.toLowerCase(), rule),
};

function whereFor(list: ListField): Parameters<typeof compileGlob>[1] {
  return { cwd: "/", home: homedir(), purpose: list === "denied_paths" ? "deny" : "allow" };
}
