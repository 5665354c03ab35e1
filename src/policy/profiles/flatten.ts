import { didYouMean } from "../../config/did-you-mean.js";
import type { ConfigProblem } from "../../config/types.js";
import type { ListedRule, PermissionSource, Profile, Restriction, RuleSet, WrittenProfile } from "./types.js";

interface Written {
  readonly profile: WrittenProfile;
  readonly source: PermissionSource;
}

/**
 * Profiles with what they extend. Definitions come from low to high precedence; the last of a name counts, and
 * one that extends its own name builds on the one below it.
 */
export function flattenProfiles(
  written: readonly Written[],
  report: (problem: ConfigProblem) => void,
): Map<string, Profile> {
  const flat = new Map<string, Profile>();
  for (const { profile, source } of written) {
    const rules = flatten({ at: written.length, name: profile.name, written, seen: [], report });
    if (rules === undefined) flat.delete(profile.name);
    else {
      const { within, ...own } = rules;
      flat.set(profile.name, {
        name: profile.name,
        description: profile.description,
        extends: profile.parents,
        within,
        source,
        origin: profile.origin,
        levels: [
          { name: `profile:${profile.name}`, ...own, ...(within.length > 0 && { opensNothing: true }) },
        ],
      });
    }
  }
  return flat;
}

interface FlatRules extends RuleSet {
  readonly within: readonly string[];
}

/** The rules of the last definition of a name before `at`; undefined when it builds on something that is not there. */
function flatten(search: {
  readonly at: number;
  readonly name: string;
  readonly written: readonly Written[];
  readonly seen: readonly number[];
  readonly report: (problem: ConfigProblem) => void;
}): FlatRules | undefined {
  const { written, seen, report } = search;
  const index = written.findLastIndex(
    ({ profile }, place) => place < search.at && profile.name === search.name,
  );
  const found = written[index];
  if (found === undefined) return undefined;
  const { profile } = found;
  const outside = profile.within.find(
    (name) => name === profile.name || !written.some((each) => each.profile.name === name),
  );
  if (outside !== undefined) {
    report(cannot(found, `lie within ${outside}`, outside, written));
    return undefined;
  }
  const own: FlatRules = {
    within: profile.within,
    allow: profile.allow,
    deny: profile.deny,
    ask: profile.ask,
    restrictions: profile.restrictions,
    tools: profile.tools,
  };
  let rules: FlatRules | undefined;
  for (const parent of profile.parents) {
    const circle = seen.includes(index);
    const inherited = circle
      ? undefined
      : flatten({
          at: parent === profile.name ? index : written.length,
          name: parent,
          written,
          seen: [...seen, index],
          report: () => undefined,
        });
    if (inherited === undefined) {
      report(cannot(found, `extend ${parent}`, parent, written));
      return undefined;
    }
    rules = rules === undefined ? inherited : join(rules, inherited);
  }
  return rules === undefined ? own : join(rules, own);
}

function cannot(
  { profile, source }: Written,
  what: string,
  other: string,
  written: readonly Written[],
): ConfigProblem {
  const names = written.map((each) => each.profile.name);
  const why = !names.includes(other)
    ? "there is no such profile"
    : other === profile.name && profile.within.includes(other)
      ? "that is the profile itself"
      : "they extend each other in a circle";
  return {
    severity: "error",
    source: source === "builtin" ? "default" : source,
    message: `profile ${profile.name} cannot ${what}: ${why}`,
    hint: (names.includes(other) ? undefined : didYouMean(other, names)) ?? "the profile is not used",
    file: profile.origin.file,
    line: profile.origin.line,
  };
}

/** Lists are added to those of the parent, a number takes the place of the parent's. No denial gets lost. */
function join(parent: FlatRules, own: FlatRules): FlatRules {
  return {
    within: [...new Set([...parent.within, ...own.within])],
    allow: [...parent.allow, ...own.allow],
    deny: [...parent.deny, ...own.deny],
    ask: [...parent.ask, ...own.ask],
    restrictions: joinRestrictions(parent.restrictions, own.restrictions),
    tools: [...parent.tools, ...own.tools],
  };
}

function joinRestrictions(
  parent: readonly Restriction[],
  own: readonly Restriction[],
): readonly Restriction[] {
  const joined = new Map(parent.map((restriction) => [restriction.permission, restriction]));
  for (const restriction of own) {
    const below = joined.get(restriction.permission);
    joined.set(restriction.permission, below === undefined ? restriction : joinOne(below, restriction));
  }
  return [...joined.values()];
}

const LISTS = [
  "allowed_paths",
  "denied_paths",
  "allowed_commands",
  "denied_commands",
  "allowed_hosts",
  "denied_hosts",
  "allowed_methods",
  "environments",
] as const;

function joinOne(parent: Restriction, own: Restriction): Restriction {
  const lists: Partial<Record<(typeof LISTS)[number], readonly ListedRule[]>> = {};
  for (const name of LISTS) {
    const both = [...(parent[name] ?? []), ...(own[name] ?? [])];
    if (parent[name] !== undefined || own[name] !== undefined) lists[name] = both;
  }
  const limit = own.max_bytes ?? parent.max_bytes;
  return {
    permission: own.permission,
    origin: own.origin,
    ...lists,
    ...(limit !== undefined && { max_bytes: limit }),
  };
}
