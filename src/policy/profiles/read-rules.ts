import { didYouMean } from "../../config/did-you-mean.js";
import type { ConfigNode, MapEntry } from "../../config/node.js";
import { isPermission, KNOWN_PERMISSIONS, misspelt, permissionMatches } from "./permission-names.js";
import {
  itemsOf,
  originOf,
  type RuleReading,
  sectionOf,
  textOf,
  unknownField,
  wrong,
} from "./read-fields.js";
import { readListed } from "./read-listed.js";
import { readRestriction } from "./read-restriction.js";
import { readToolRule } from "./read-tool-rule.js";
import { type ListedRule, NO_RULES, type RuleSet, type WrittenProfile, type WrittenRules } from "./types.js";

const FILE_FIELDS = ["profiles", "global"];
const SET_FIELDS = ["allow", "deny", "approval_required", "restrictions", "tools"];
const PROFILE_FIELDS = ["extends", "description", ...SET_FIELDS];
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
  const parents = field("extends");
  const description = field("description");
  return {
    name,
    description:
      description === undefined ? "" : (textOf(description, `${within}.description`, reading) ?? ""),
    parents:
      parents === undefined
        ? []
        : itemsOf(parents).flatMap((item) => textOf(item, `${within}.extends`, reading) ?? []),
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
