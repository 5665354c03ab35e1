import { homedir } from "node:os";
import type { JournalRow } from "../../call/journal.js";
import type { LoadedConfig } from "../../config/types.js";
import { networkRules } from "../../net/rules.js";
import { loadAnalysis } from "../../shell/analysis.js";
import { type Failure, failure } from "../../tool/errors.js";
import { createPolicy, type PermissionPolicy } from "../engine.js";
import { allowlistFrom } from "../grants/config-grants.js";
import { loadUrlRules } from "../judge-url.js";
import { loadPermissions } from "./load.js";
import type { PermissionTable } from "./permission-table.js";
import { PROPOSED, type Proposal, propose } from "./propose.js";
import { type Simulation, simulate } from "./simulate.js";

/** As many calls as are looked at at once. */
export const MOST_RECORDED_CALLS = 100_000;

export interface RecordedUse {
  readonly config: LoadedConfig;
  readonly rows: readonly JournalRow[];
  readonly cwd?: string;
}

/** What another profile would have done with recorded calls. */
export async function simulateRecorded(
  use: RecordedUse & { readonly profile: string },
): Promise<Simulation | Failure> {
  const { rows, profile } = use;
  const rules = await rulesOf(use);
  const unknown = rules.permissions.unknown(profile);
  if (unknown !== undefined) return unknown;
  return simulate({ ...rules, rows, profile, policy: rules.policyFor(rules.permissions) });
}

/** The narrowest profile that still allows what recorded calls used, within the one in force. */
export async function proposeRecorded(
  use: RecordedUse & { readonly name: string; readonly profile?: string },
): Promise<Proposal | Failure> {
  const { rows, name } = use;
  const rules = await rulesOf(use);
  const taken = whyTaken(rules.permissions, name);
  if (taken !== undefined) return taken;
  const inForce = use.profile ?? use.config.values.permissions.profile;
  const unknown = rules.permissions.unknown(inForce);
  if (unknown !== undefined) return unknown;
  // A proposal that is in force is made anew for the profile it lies within, since no profile lies within itself.
  const outer = rules.permissions.profiles.find((profile) => profile.name === name)?.within ?? [];
  const names = [...new Set(inForce.split("+").flatMap((each) => (each === name ? outer : each)))];
  return propose({ ...rules, rows, name, profile: names.join("+") });
}

const USABLE_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

function whyTaken(permissions: PermissionTable, name: string): Failure | undefined {
  if (!USABLE_NAME.test(name)) {
    const hint = "Use letters, digits, dot, dash and underscore.";
    return failure("bad_request", `${JSON.stringify(name)} is no usable profile name`, hint);
  }
  const there = permissions.profiles.find((profile) => profile.name === name);
  if (there === undefined || (there.source === "home" && there.description.startsWith(PROPOSED))) {
    return undefined;
  }
  const where = there.source === "builtin" ? "comes with the program" : `is written in ${there.origin.file}`;
  return failure("bad_request", `the profile ${name} ${where}`, "Choose another name.");
}

async function rulesOf({ config, cwd = process.cwd() }: RecordedUse) {
  const { project, systemDir, values, paths } = config;
  const places = { home: paths.home, project, systemDir };
  const [permissions] = await Promise.all([loadPermissions(places), loadAnalysis(), loadUrlRules()]);
  const policyFor = (table: PermissionTable): PermissionPolicy =>
    createPolicy({
      hermesHome: paths.home,
      permissions: table,
      denyCommands: values.approvals.deny,
      allowlist: allowlistFrom(config),
      readOnly: config.policyIncomplete,
      // The journal does not know where a session worked.
      anyFolder: true,
      network: networkRules(values),
    });
  const tableWith = (yaml: string) => loadPermissions(places, yaml);
  return { permissions, policyFor, tableWith, cwd, home: process.env.HOME || homedir() };
}
