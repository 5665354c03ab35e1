import { didYouMean, nearest } from "../../config/did-you-mean.js";
import type { ConfigProblem, ConfigSource } from "../../config/types.js";
import { type Failure, failure } from "../../tool/errors.js";
import { builtInProfiles } from "./builtin.js";
import { flattenProfiles } from "./flatten.js";
import {
  type Level,
  NO_RULES,
  type PermissionSource,
  type Profile,
  type RuleSet,
  type WrittenProfile,
  type WrittenRules,
} from "./types.js";

/** The rules of one file and what they may do. */
export interface RuleLayer extends WrittenRules {
  readonly source: PermissionSource;
  readonly file: string;
  /** Rules may be added by it, never taken away: a project's file, or what is left of a broken one. */
  readonly onlyRestricts?: boolean;
}

/** All rules that hold for one session. */
export interface Authority {
  readonly names: readonly string[];
  /** Every level, whichever profile it belongs to. */
  readonly levels: readonly Level[];
  /** For each profile the levels that may grant something under it. */
  readonly granting: readonly (readonly Level[])[];
  /** False when no rule is about a tool: then none needs to be looked for. */
  readonly hasToolRules: boolean;
  /** True when no rule denies and each profile allows everything: then nothing needs to be looked up. */
  readonly isOpen: boolean;
}

/** Every profile there is, and the rules that hold under all of them. */
export class PermissionTable {
  readonly problems: readonly ConfigProblem[];
  /** Set when rules were written that nobody can read: then nothing may be touched. */
  readonly broken: string | undefined;
  readonly #profiles: ReadonlyMap<string, Profile>;
  readonly #global: readonly Level[];
  readonly #authorities = new Map<string, Authority>();

  constructor(parts: {
    readonly layers?: readonly RuleLayer[];
    readonly problems?: readonly ConfigProblem[];
    readonly broken?: string | undefined;
  }) {
    const problems = [...(parts.problems ?? [])];
    const layers = parts.layers ?? [];
    this.#profiles = profilesFrom(layers, problems);
    this.#global = layers
      .filter(({ global }) => hasRules(global))
      .map((layer) => asLevel("global", layer.global, layer.onlyRestricts === true));
    this.problems = problems;
    this.broken = parts.broken;
  }

  get profiles(): readonly Profile[] {
    return [...this.#profiles.values()];
  }

  get global(): readonly Level[] {
    return this.#global;
  }

  /**
   * The rules under a profile. Several names joined with `+` hold together: allowed is only what each of them
   * allows, which is how a session hands on less than it has.
   */
  authorityOf(profile: string): Authority | undefined {
    const known = this.#authorities.get(profile);
    if (known !== undefined) return known;
    const names = this.#withOuter(profile.split("+"));
    const profiles = names.flatMap((name) => this.#profiles.get(name) ?? []);
    if (profiles.length !== names.length) return undefined;
    const levels = [...this.#global, ...profiles.flatMap((each) => each.levels)];
    const granting = profiles.map((each) =>
      [...this.#global, ...each.levels].filter(({ onlyRestricts }) => onlyRestricts !== true),
    );
    const hasToolRules = levels.some(({ tools }) => tools.length > 0);
    const made: Authority = {
      names,
      levels,
      granting,
      hasToolRules,
      isOpen:
        !hasToolRules &&
        levels.every(({ deny }) => deny.length === 0) &&
        granting.every((own) => own.some(({ allow }) => allow.some(({ text }) => text === "*"))),
    };
    this.#authorities.set(profile, made);
    return made;
  }

  /** The profiles that these lie within hold together with them. */
  #withOuter(names: readonly string[]): readonly string[] {
    const all = new Set(names);
    // What is added to a set while it is walked is walked too.
    for (const name of all) for (const outer of this.#profiles.get(name)?.within ?? []) all.add(outer);
    return [...all];
  }

  /** Rules about tools that do not exist: a misspelt name must not pass for a rule. */
  unknownTools(known: Iterable<string>): readonly ConfigProblem[] {
    const names = new Set(known);
    const rules = [...this.#global, ...this.profiles.flatMap(({ levels }) => levels)].flatMap(
      ({ tools }) => tools,
    );
    const unknown = [...new Set(rules)].filter(({ tool }) => !tool.includes("*") && !names.has(tool));
    return unknown.map(({ tool, origin }) => ({
      severity: "warning",
      source: "home",
      message: `there is a rule about the tool ${tool}, but no tool of that name`,
      hint: didYouMean(tool, names) ?? "the rule counts as soon as there is one",
      file: origin.file,
      line: origin.line,
    }));
  }

  /** Why there is no such profile. */
  unknown(profile: string): Failure | undefined {
    if (this.authorityOf(profile) !== undefined) return undefined;
    const names = [...this.#profiles.keys()];
    const missing = profile.split("+").find((name) => !this.#profiles.has(name)) ?? profile;
    const close = nearest(missing, names);
    return failure(
      "not_found",
      `Unknown permission profile: ${missing}`,
      close.length > 0 ? `Did you mean ${close.join(", ")}?` : `There are: ${names.join(", ")}.`,
    );
  }
}

const PRECEDENCE: readonly PermissionSource[] = ["builtin", "home", "managed"];

function profilesFrom(layers: readonly RuleLayer[], problems: ConfigProblem[]): ReadonlyMap<string, Profile> {
  const written: { readonly profile: WrittenProfile; readonly source: PermissionSource }[] =
    builtInProfiles().map((profile) => ({ profile, source: "builtin" }));
  const giving = layers.filter(({ onlyRestricts }) => onlyRestricts !== true);
  for (const source of PRECEDENCE) {
    for (const layer of giving) {
      if (layer.source !== source) continue;
      for (const profile of layer.profiles) written.push({ profile, source });
    }
  }
  reportOverruled(written, problems);
  const profiles = flattenProfiles(written, (problem) => problems.push(problem));
  for (const layer of layers) {
    if (layer.onlyRestricts !== true) continue;
    for (const { name, origin, ...rules } of layer.profiles) {
      const profile = profiles.get(name);
      if (profile !== undefined) {
        const level = asLevel(`profile:${name}`, rules, true);
        const within = rules.within.filter((outer) => outer !== name && profiles.has(outer));
        profiles.set(name, {
          ...profile,
          within: [...profile.within, ...within],
          levels: [...profile.levels, level],
        });
      } else if (layer.source === "project") {
        problems.push({
          severity: "warning",
          source: "project",
          message: `a project may only restrict profiles that exist; there is no profile ${name}`,
          hint:
            didYouMean(name, profiles.keys()) ??
            "define it in the hermes_permissions.yaml of your Hermes home",
          file: origin.file,
          line: origin.line,
        });
      }
    }
  }
  return profiles;
}

function reportOverruled(
  written: readonly { readonly profile: WrittenProfile; readonly source: PermissionSource }[],
  problems: ConfigProblem[],
): void {
  const managed = new Set(
    written.flatMap(({ profile, source }) => (source === "managed" ? profile.name : [])),
  );
  for (const { profile, source } of written) {
    if (source !== "home" || !managed.has(profile.name)) continue;
    problems.push({
      severity: "warning",
      source: "home" satisfies ConfigSource,
      message: `profile ${profile.name} is set by the managed permissions; this one is not used`,
      hint: "give it another name, or ask the administrator of this machine",
      file: profile.origin.file,
      line: profile.origin.line,
    });
  }
}

/** What only restricts loses everything that would give. */
function asLevel(name: string, rules: RuleSet, onlyRestricts: boolean): Level {
  if (!onlyRestricts) {
    const { allow, deny, ask, restrictions, tools } = rules;
    return { name, allow, deny, ask, restrictions, tools };
  }
  const tools = rules.tools.map(({ answer, ...rule }) =>
    answer === undefined || answer === "allow" ? rule : { ...rule, answer },
  );
  const { deny, ask, restrictions } = rules;
  return { ...NO_RULES, name, deny, ask, restrictions, tools, onlyRestricts: true };
}

function hasRules(rules: RuleSet): boolean {
  return [rules.allow, rules.deny, rules.ask, rules.restrictions, rules.tools].some(
    (list) => list.length > 0,
  );
}
