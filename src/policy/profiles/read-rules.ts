import { homedir } from "node:os";
import { compileGlob, segmentsOf } from "../../base/glob.js";
import { didYouMean } from "../../config/did-you-mean.js";
import { type ConfigNode, describeNode, type MapEntry } from "../../config/node.js";
import { hostMatches } from "../../net/hosts.js";
import { TOOL_ALIASES } from "../../registry/aliases.js";
import { compileLinear } from "../../tool/safe-pattern.js";
import { commandRuleMatches } from "./command-rules.js";
import {
  domainOf,
  isPermission,
  KNOWN_PERMISSIONS,
  misspelt,
  permissionMatches,
} from "./permission-names.js";
import {
  itemsOf,
  numberOf,
  originOf,
  type RuleReading,
  readListed,
  sectionOf,
  textOf,
  unknownField,
  wrong,
} from "./read-fields.js";
import {
  type Answer,
  type ListedRule,
  NO_RULES,
  type ParameterRule,
  type Restriction,
  type RuleSet,
  type Scalar,
  type ToolRule,
  type WrittenProfile,
  type WrittenRules,
} from "./types.js";

const FILE_FIELDS = ["profiles", "global"];
const SET_FIELDS = ["allow", "deny", "approval_required", "restrictions", "tools"];
const PROFILE_FIELDS = ["extends", "within", "description", ...SET_FIELDS];
const PROFILE_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

/** Everything a permissions file says. What cannot be read is reported and left out. */
export function readRules(root: ConfigNode, reading: RuleReading): WrittenRules {
  let global: RuleSet = NO_RULES;
  const profiles: WrittenProfile[] = [];
  for (const entry of sectionOf(root, "the file", reading)) {
    if (entry.name === "global") global = readSet(entry.node, "global", reading);
    else if (entry.name === "profiles") {
      for (const profile of sectionOf(entry.node, "profiles", reading)) {
        const read = readProfile(profile, reading);
        if (read !== undefined) profiles.push(read);
      }
    } else if (SET_FIELDS.includes(entry.name)) {
      const hint = `put it under "global:" or into a profile`;
      wrong(reading, `${entry.name} cannot stand at the top of the file`, entry.place, hint);
    } else unknownField({ entry, within: "the file", known: FILE_FIELDS, reading });
  }
  return { global, profiles };
}

function readProfile(entry: MapEntry, reading: RuleReading): WrittenProfile | undefined {
  const { name, node } = entry;
  if (!PROFILE_NAME.test(name)) {
    const hint = "use letters, digits, dot, dash and underscore";
    wrong(reading, `${JSON.stringify(name)} is no usable profile name`, entry.place, hint);
    return undefined;
  }
  const within = `profiles.${name}`;
  const field = (wanted: string) =>
    node.kind === "map" ? node.entries.find((each) => each.name === wanted)?.node : undefined;
  const names = (wanted: "extends" | "within") => {
    const listed = field(wanted);
    if (listed === undefined) return [];
    return itemsOf(listed).flatMap((item) => textOf(item, `${within}.${wanted}`, reading) ?? []);
  };
  const description = field("description");
  return {
    name,
    description:
      description === undefined ? "" : (textOf(description, `${within}.description`, reading) ?? ""),
    parents: names("extends"),
    within: names("within"),
    origin: originOf(reading, entry.place),
    ...readSet(node, within, reading, PROFILE_FIELDS),
  };
}

function readSet(
  node: ConfigNode,
  within: string,
  reading: RuleReading,
  known: readonly string[] = SET_FIELDS,
): RuleSet {
  const permissions = (list: ConfigNode, field: string) =>
    readPermissions(list, `${within}.${field}`, reading);
  let rules: RuleSet = NO_RULES;
  for (const entry of sectionOf(node, within, reading)) {
    const at = `${within}.${entry.name}`;
    switch (entry.name) {
      case "allow":
        rules = { ...rules, allow: permissions(entry.node, "allow") };
        break;
      case "deny":
        rules = { ...rules, deny: permissions(entry.node, "deny") };
        break;
      case "approval_required":
        rules = { ...rules, ask: permissions(entry.node, "approval_required") };
        break;
      case "restrictions": {
        const entries = sectionOf(entry.node, at, reading);
        const restrictions = entries.flatMap((each) => {
          checkPermission(each.name, `${at}.${each.name}`, each.place, reading);
          return isPermission(each.name) ? readRestriction(each, at, reading) : [];
        });
        rules = { ...rules, restrictions };
        break;
      }
      case "tools": {
        const entries = sectionOf(entry.node, at, reading);
        rules = { ...rules, tools: entries.map((each) => readToolRule(each, at, reading)) };
        break;
      }
      default:
        if (!known.includes(entry.name)) unknownField({ entry, within, known, reading });
    }
  }
  return rules;
}

function readPermissions(node: ConfigNode, within: string, reading: RuleReading): readonly ListedRule[] {
  const rules = readListed({
    node,
    within,
    field: "permission",
    reading,
    matches: permissionMatches,
  });
  for (const { text, place } of rules) checkPermission(text, within, place, reading);
  return rules.filter(({ text }) => isPermission(text)).map(({ place: _place, ...rule }) => rule);
}

function checkPermission(
  text: string,
  within: string,
  place: ConfigNode["place"],
  reading: RuleReading,
): void {
  if (!isPermission(text)) {
    const hint = didYouMean(text, KNOWN_PERMISSIONS) ?? `write domain:verb, "domain:*" or "*"`;
    wrong(reading, `${within}: ${JSON.stringify(text)} is no permission`, place, hint);
    return;
  }
  const slip = misspelt(text);
  if (slip === undefined) return;
  if (slip.certain) {
    wrong(
      reading,
      `${within}: ${text} matches nothing: permissions are written in lower case`,
      place,
      slip.hint,
    );
    return;
  }
  // Tools may bring permissions of their own, so this is no error; the rule stays in force.
  const message = `${within}: no built-in tool asks for ${text}`;
  reading.report({ severity: "warning", message, hint: slip.hint, place });
}

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
    matches: matches && ((rule, example) => matches(rule, example, name)),
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

const ANSWERS: Readonly<Record<string, Answer>> = { allow: "allow", deny: "deny", approval_required: "ask" };
const TOOL_FIELDS = ["rule", "reason", "parameters"];
const PARAMETER_FIELDS = [
  "allow",
  "deny",
  "pattern",
  "not_pattern",
  "min",
  "max",
  "max_length",
  "required",
] as const;

/** In place of a pattern that cannot be used: whatever is sent, the rule refuses it. */
const NOTHING = /$^/;
const ANYTHING = /^/;

/** `NAME: deny`, or `NAME: {rule, reason, parameters: {ARGUMENT: {…}}}`. */
export function readToolRule(entry: MapEntry, within: string, reading: RuleReading): ToolRule {
  const at = `${within}.${entry.name}`;
  const tool = Object.hasOwn(TOOL_ALIASES, entry.name) ? (TOOL_ALIASES[entry.name] ?? "") : entry.name;
  const rule = { tool, origin: originOf(reading, entry.place), parameters: [] };
  if (entry.node.kind === "scalar") return { ...rule, answer: readAnswer(entry.node, at, reading) };
  let answer: Answer | undefined;
  let reason: string | undefined;
  let parameters: readonly ParameterRule[] = [];
  for (const field of sectionOf(entry.node, at, reading)) {
    if (field.name === "rule") answer = readAnswer(field.node, `${at}.rule`, reading);
    else if (field.name === "reason") reason = textOf(field.node, `${at}.reason`, reading);
    else if (field.name === "parameters") {
      const entries = sectionOf(field.node, `${at}.parameters`, reading);
      parameters = entries.map((each) => readParameter(each, `${at}.parameters`, reading));
    } else unknownField({ entry: field, within: at, known: TOOL_FIELDS, reading });
  }
  return {
    ...rule,
    parameters,
    answer,
    reason,
  };
}

/** A word nobody understands is taken for the strictest one. */
function readAnswer(node: ConfigNode, at: string, reading: RuleReading): Answer {
  const word = node.kind === "scalar" ? String(node.value) : "";
  const answer = Object.hasOwn(ANSWERS, word) ? ANSWERS[word] : undefined;
  if (answer !== undefined) return answer;
  const known = Object.keys(ANSWERS).join(", ");
  wrong(reading, `${at} must be one of ${known}, but it is ${describeNode(node)}`, node.place);
  return "deny";
}

function readParameter(entry: MapEntry, within: string, reading: RuleReading): ParameterRule {
  const at = `${within}.${entry.name}`;
  let rule: ParameterRule = { path: entry.name.split("."), origin: originOf(reading, entry.place) };
  for (const { name, node, place } of sectionOf(entry.node, at, reading)) {
    const field = `${at}.${name}`;
    switch (name) {
      case "allow":
      case "deny":
        rule = { ...rule, [name]: itemsOf(node).flatMap((item) => readScalar(item, field, reading)) };
        break;
      case "pattern":
      case "not_pattern":
        rule = {
          ...rule,
          [name]: readPattern(node, field, reading) ?? (name === "pattern" ? NOTHING : ANYTHING),
        };
        break;
      case "min":
      case "max":
      case "max_length": {
        const value = numberOf(node, field, reading);
        if (value !== undefined) rule = { ...rule, [name]: value };
        break;
      }
      case "required":
        if (node.kind === "scalar" && typeof node.value === "boolean")
          rule = { ...rule, required: node.value };
        else wrong(reading, `${field} must be true or false, but it is ${describeNode(node)}`, node.place);
        break;
      default:
        unknownField({
          entry: { name, node, place: place || undefined },
          within: at,
          known: PARAMETER_FIELDS,
          reading,
        });
    }
  }
  return rule;
}

function readScalar(node: ConfigNode, field: string, reading: RuleReading): Scalar | [] {
  if (node.kind === "scalar" && node.value !== null) return node.value;
  wrong(reading, `an entry of ${field} must be a plain value, but it is ${describeNode(node)}`, node.place);
  return [];
}

/** RE2, so that no text a model sends can make it slow. */
function readPattern(node: ConfigNode, field: string, reading: RuleReading): RegExp | undefined {
  const text = textOf(node, field, reading);
  const pattern = text === undefined ? undefined : compileLinear(text);
  if (text !== undefined && pattern === undefined) {
    const hint = "look-around and back-references are not available";
    wrong(reading, `${field}: ${JSON.stringify(text)} is no usable pattern`, node.place, hint);
  }
  return pattern;
}
