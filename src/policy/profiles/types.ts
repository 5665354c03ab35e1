/** Where a rule is written; `file` is "built-in" for those that come with the program. */
export interface RuleOrigin {
  readonly file: string;
  readonly line?: number | undefined;
}

/** An entry of a list: a permission, a path pattern, a command, a host. */
export interface ListedRule {
  readonly text: string;
  readonly reason?: string | undefined;
  readonly origin: RuleOrigin;
}

/** What a permission is limited to. A list that is absent limits nothing; an empty list of allowed things allows none. */
export interface Restriction {
  /** The permissions it is about; may hold wildcards. */
  readonly permission: string;
  readonly origin: RuleOrigin;
  readonly allowed_paths?: readonly ListedRule[];
  readonly denied_paths?: readonly ListedRule[];
  readonly allowed_commands?: readonly ListedRule[];
  readonly denied_commands?: readonly ListedRule[];
  readonly allowed_hosts?: readonly ListedRule[];
  readonly denied_hosts?: readonly ListedRule[];
  readonly allowed_methods?: readonly ListedRule[];
  readonly environments?: readonly ListedRule[];
  readonly max_bytes?: { readonly value: number; readonly origin: RuleOrigin };
}

export type Scalar = string | number | boolean;

/** What one argument of a tool may be. */
export interface ParameterRule {
  /** Names from the outermost object inwards. */
  readonly path: readonly string[];
  readonly origin: RuleOrigin;
  readonly allow?: readonly Scalar[];
  readonly deny?: readonly Scalar[];
  readonly pattern?: RegExp | undefined;
  readonly not_pattern?: RegExp;
  readonly min?: number;
  readonly max?: number;
  readonly max_length?: number;
  readonly required?: boolean;
}

export type Answer = "allow" | "ask" | "deny";

export interface ToolRule {
  /** Canonical name, or a pattern with `*`. */
  readonly tool: string;
  readonly origin: RuleOrigin;
  readonly answer?: Answer | undefined;
  readonly reason?: string | undefined;
  readonly parameters: readonly ParameterRule[];
}

/** The rules of one section: of a profile, or of `global`. */
export interface RuleSet {
  readonly allow: readonly ListedRule[];
  readonly deny: readonly ListedRule[];
  readonly ask: readonly ListedRule[];
  readonly restrictions: readonly Restriction[];
  readonly tools: readonly ToolRule[];
}

/** Rules that are in force together with all other levels. */
export interface Level extends RuleSet {
  /** "global", or "profile:NAME": how its rules are named in decisions. */
  readonly name: string;
  /** From a project: it takes away and never gives. */
  readonly onlyRestricts?: boolean;
  /** Of a profile inside another one: its paths limit, and lift no question that the other one leaves. */
  readonly opensNothing?: boolean;
}

export type PermissionSource = "builtin" | "home" | "project" | "managed";

/** A profile as it was written, before what it extends is added. */
export interface WrittenProfile extends RuleSet {
  readonly name: string;
  readonly description: string;
  readonly parents: readonly string[];
  /** Profiles that hold as well: it allows nothing that one of them does not. */
  readonly within: readonly string[];
  readonly origin: RuleOrigin;
}

/** Everything one file says. */
export interface WrittenRules {
  readonly global: RuleSet;
  readonly profiles: readonly WrittenProfile[];
}

export interface Profile {
  readonly name: string;
  readonly description: string;
  readonly extends: readonly string[];
  readonly within: readonly string[];
  readonly source: PermissionSource;
  readonly origin: RuleOrigin;
  /** Its own rules with those of the profiles it extends, then what the project adds to it. */
  readonly levels: readonly Level[];
}

export const NO_RULES: RuleSet = { allow: [], deny: [], ask: [], restrictions: [], tools: [] };

/** One rule that was looked at on the way to a decision. */
export interface TraceStep {
  /** Id of the rule, as decisions name it. */
  readonly rule: string;
  /** The list it stands in: `deny`, `approval_required`, `denied_paths` … */
  readonly list?: string | undefined;
  /** What it said; "no match" when it is about something else, "pass" when its limits are kept. */
  readonly outcome: Answer | "no match" | "pass";
  readonly at?: RuleOrigin | undefined;
  /** The effect it was about; absent for rules about the whole call. */
  readonly effect?: string | undefined;
  readonly reason?: string | undefined;
}

/** Takes notes for `explain`; absent while a call is really decided. */
export type Note = ((step: TraceStep) => void) | undefined;
