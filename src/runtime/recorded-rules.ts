import { homedir } from "node:os";
import type { JournalRow } from "../call/journal.js";
import { networkRules } from "../net/rules.js";
import { createPolicy, type PermissionPolicy } from "../policy/engine.js";
import { allowlistFrom } from "../policy/grants/config-grants.js";
import { loadUrlRules } from "../policy/judge-url.js";
import { loadPermissions } from "../policy/profiles/load.js";
import type { PermissionTable } from "../policy/profiles/permission-table.js";
import { loadAnalysis } from "../shell/analysis.js";
import type { Runtime } from "./runtime.js";

const MOST_CALLS = 100_000;
const DAY_MS = 86_400_000;

/** Recorded calls, and the rules in force to hold them against. */
export interface RecordedRules {
  readonly rows: readonly JournalRow[];
  readonly permissions: PermissionTable;
  policyFor(permissions: PermissionTable): PermissionPolicy;
  /** The rules in force with a file beside them that is not written yet. */
  tableWith(yaml: string): Promise<PermissionTable>;
  readonly cwd: string;
  readonly home: string;
}

export async function recordedRules(runtime: Runtime, days: number): Promise<RecordedRules> {
  const { config } = runtime;
  const { project, systemDir, values, paths } = config;
  const places = { home: paths.home, project, systemDir };
  const [permissions, journal] = await Promise.all([
    loadPermissions(places),
    runtime.journal(),
    loadAnalysis(),
    loadUrlRules(),
  ]);
  return {
    rows: await journal.recent({ limit: MOST_CALLS, sinceMs: Date.now() - days * DAY_MS }),
    permissions,
    policyFor: (table) =>
      createPolicy({
        hermesHome: paths.home,
        permissions: table,
        denyCommands: values.approvals.deny,
        allowlist: allowlistFrom(config),
        readOnly: config.policyIncomplete,
        // The journal does not know where a session worked.
        anyFolder: true,
        network: networkRules(values),
      }),
    tableWith: (yaml) => loadPermissions(places, yaml),
    cwd: runtime.cwd,
    home: config.env.HOME || homedir(),
  };
}
