import type { JournalRow } from "../../call/journal.js";
import type { Effect } from "../../tool/effects.js";
import type { PermissionPolicy } from "../engine.js";
import { domainOf, KNOWN_PERMISSIONS, permissionMatches } from "./permission-names.js";
import type { PermissionTable } from "./permission-table.js";
import { commandLimits, hostLimits, type Limits, pathLimits, type Use, writtenBy } from "./propose-limits.js";
import { kindOf, parsed, RowJudge } from "./row-judge.js";
import { type Simulation, simulate, type UnusedRule, verdictIn } from "./simulate.js";

/** A rule in force that nothing needed; for one about many permissions, which of them. */
export interface UnneededRule extends UnusedRule {
  readonly permission?: string;
}

/** Field names are part of the public interface (`hermes permissions propose --json`). */
export interface Proposal {
  readonly name: string;
  /** The profile it was made for, which it lies within. */
  readonly within: string;
  /** The profile as a whole file of permissions. */
  readonly yaml: string;
  /** Recorded calls that were let through, and that today's rules would let through as well. */
  readonly calls: number;
  /** How many of them it treats as before. */
  readonly covered: number;
  readonly never_used: readonly UnneededRule[];
  /** What could not be narrowed and why, and which calls were left aside. */
  readonly notes: readonly string[];
}

export interface ProposalOptions {
  readonly name: string;
  readonly rows: readonly JournalRow[];
  /** The profile in force: nothing outside it is proposed. */
  readonly profile: string;
  readonly permissions: PermissionTable;
  /** A policy under these rules that asks about no folder (see `SimulationOptions`). */
  readonly policyFor: (permissions: PermissionTable) => PermissionPolicy;
  /** Reads a file of permissions beside those in force, as it would be read once it is written. */
  readonly tableWith: (yaml: string) => Promise<PermissionTable>;
  readonly cwd: string;
  readonly home: string;
}

/** How the description of every proposal begins: only such a profile is replaced by another proposal. */
export const PROPOSED = "What was used, within ";

/**
 * The narrowest profile that still allows what was used. It lies within the one in force, so it cannot allow more, and
 * what that one asks about is asked about still.
 */
export async function propose(options: ProposalOptions): Promise<Proposal> {
  const notes: string[] = [];
  const judge = new RowJudge({ ...options, policy: options.policyFor(options.permissions) });
  const rows = await usedRows(options, judge, notes);
  const uses = usesOf(rows, options.cwd);
  const dropped = new Set<string>();
  let draft = await draftOf({ options, uses, dropped, notes });
  let outcome = await trial(draft, rows, options);
  // What a list turns out not to cover after all is not limited by it: a link, a name that means two places.
  for (let failing = limitsBehind(outcome); failing.length > 0; failing = limitsBehind(outcome)) {
    for (const limit of failing) {
      dropped.add(limit);
      notes.push(`${limit} is not limited: the list did not cover all that was used`);
    }
    draft = await draftOf({ options, uses, dropped, notes });
    outcome = await trial(draft, rows, options);
  }
  return {
    name: options.name,
    within: options.profile,
    yaml: draft,
    calls: rows.length,
    covered: outcome.unchanged + sum(outcome.newly_allowed),
    never_used: await neverUsed(rows, options, judge),
    notes: [...new Set(notes)],
  };
}

/** Calls that were allowed, by a rule or by a person, and that the rules in force would not refuse now. */
async function usedRows(
  options: ProposalOptions,
  judge: RowJudge,
  notes: string[],
): Promise<readonly JournalRow[]> {
  const left = { refused: 0, closed: 0, unreadable: 0 };
  const rows: JournalRow[] = [];
  for (const row of options.rows) {
    const verdict = verdictIn(row.decision);
    if (verdict === undefined || verdict === "deny" || !wasAllowed(row)) {
      left.refused += 1;
      continue;
    }
    // Of long arguments the journal keeps a part; what a call touched it keeps whole.
    const { args_bytes: _cut, ...whole } = row;
    const judged = await judge.judge(whole);
    if (judged === undefined) left.unreadable += 1;
    else if (judged.decision.verdict === "deny") left.closed += 1;
    else rows.push(whole);
  }
  if (left.refused > 0) notes.push(`${left.refused} calls that were refused are left aside`);
  if (left.closed > 0) notes.push(`${left.closed} calls that today's rules refuse are left aside`);
  if (left.unreadable > 0) notes.push(`${left.unreadable} calls are unreadable in the journal`);
  return rows;
}

function wasAllowed({ decision, state }: JournalRow): boolean {
  return decision === "allow" || state === "done" || state === "partial";
}

/** Each different use of each permission. */
function usesOf(rows: readonly JournalRow[], cwd: string): ReadonlyMap<string, readonly Use[]> {
  const uses = new Map<string, Map<string, Use>>();
  for (const row of rows) {
    const effects = parsed(row.effects) as readonly Effect[];
    for (const effect of effects) {
      const use: Use = {
        resource: effect.resource,
        asked: row.decision !== "allow",
        isLocal: kindOf(row.environment) === "local",
        cwd: effect.cwd ?? cwd,
      };
      const known = uses.get(effect.action) ?? new Map<string, Use>();
      uses.set(effect.action, known.set(JSON.stringify(use), use));
    }
  }
  return new Map([...uses].map(([action, found]) => [action, [...found.values()]]));
}

interface Draft {
  readonly options: ProposalOptions;
  readonly uses: ReadonlyMap<string, readonly Use[]>;
  /** `permission.list` for every list that is to be left out. */
  readonly dropped: ReadonlySet<string>;
  readonly notes: string[];
}

/** Written by hand, since `yaml` would be loaded for nothing else: every text is quoted as JSON, which YAML reads. */
async function draftOf({ options, uses, dropped, notes }: Draft): Promise<string> {
  const actions = [...uses.keys()].sort();
  const limits: string[] = [];
  for (const action of actions) {
    const [list, found] = (await limitsFor({ options, uses, dropped, notes }, action)) ?? [];
    if (list === undefined || found === undefined || dropped.has(`${action}.${list}`)) continue;
    if ("why" in found) notes.push(`${action} is not limited: ${found.why}`);
    else limits.push(`      ${text(action)}:`, ...listLines(list, found));
  }
  const outer = options.profile.split("+").map(text).join(", ");
  return [
    "profiles:",
    `  ${text(options.name)}:`,
    `    description: ${JSON.stringify(PROPOSED + options.profile)}`,
    `    within: [${outer}]`,
    `    allow: [${actions.map(text).join(", ")}]`,
    ...(limits.length === 0 ? [] : ["    restrictions:", ...limits]),
    "",
  ].join("\n");
}

async function limitsFor(
  { options, uses }: Draft,
  action: string,
): Promise<readonly [string, Limits] | undefined> {
  const own = uses.get(action) ?? [];
  const line = { home: options.home };
  switch (domainOf(action)) {
    case "file": {
      // The paths of file:write bind what commands write, too.
      const commands = action === "file:write" ? (uses.get("terminal:execute") ?? []) : [];
      return ["allowed_paths", pathLimits([...own, ...writtenBy(commands, line)], options.home)];
    }
    case "terminal":
      return ["allowed_commands", await commandLimits(own, line)];
    case "network":
    case "browser":
      return ["allowed_hosts", hostLimits(own)];
    default:
      return undefined;
  }
}

function listLines(list: string, entries: readonly string[]): readonly string[] {
  return [`        ${list}:`, ...entries.map((entry) => `          - ${text(entry)}`)];
}

const PLAIN = /^[A-Za-z/~][\w:/~.-]*$/;

function text(value: string): string {
  return PLAIN.test(value) && !/:$|^(?:true|false|null|yes|no|on|off|~)$/i.test(value)
    ? value
    : JSON.stringify(value);
}

async function trial(
  yaml: string,
  rows: readonly JournalRow[],
  options: ProposalOptions,
): Promise<Simulation> {
  const permissions = await options.tableWith(yaml);
  const policy = options.policyFor(permissions);
  const { name: profile, cwd, home } = options;
  return simulate({ rows, profile, permissions, policy, cwd, home });
}

const OF_LIST = /\/restrictions\.(.+\.allowed_(?:paths|commands|hosts))$/;

function limitsBehind({ newly_denied, newly_asked }: Simulation): readonly string[] {
  const named = [...newly_denied, ...newly_asked].flatMap(({ rule }) => OF_LIST.exec(rule)?.[1] ?? []);
  return [...new Set(named)];
}

function sum(changes: readonly { readonly calls: number }[]): number {
  return changes.reduce((total, { calls }) => total + calls, 0);
}

/** Rules no call met, and for rules about many permissions those among them that no call asked for. */
async function neverUsed(
  rows: readonly JournalRow[],
  options: ProposalOptions,
  judge: RowJudge,
): Promise<readonly UnneededRule[]> {
  const policy = options.policyFor(options.permissions);
  const { never_fired: unmet } = await simulate({ ...options, policy, rows, judge });
  const used = new Set(usesOf(rows, options.cwd).keys());
  const unused = KNOWN_PERMISSIONS.filter((permission) => !used.has(permission));
  const levels = options.permissions.authorityOf(options.profile)?.levels ?? [];
  const wide = levels.flatMap(({ name, allow }) =>
    allow.filter(({ text }) => text.includes("*")).map((rule) => ({ ...rule, id: `${name}/${rule.text}` })),
  );
  return [
    ...unmet,
    ...wide.flatMap(({ id, text: pattern, origin }) =>
      unmet.some(({ rule }) => rule === id)
        ? []
        : unused
            .filter((permission) => permissionMatches(pattern, permission))
            .map((permission) => ({ rule: id, list: "allow", permission, ...origin })),
    ),
  ];
}
