import { homedir } from "node:os";
import { networkRules } from "../net/rules.js";
import { createPolicy } from "../policy/engine.js";
import { allowlistFrom } from "../policy/grants/config-grants.js";
import { loadUrlRules } from "../policy/judge-url.js";
import { loadPermissions } from "../policy/profiles/load.js";
import { type Simulation, simulate } from "../policy/profiles/simulate.js";
import { loadAnalysis } from "../shell/analysis.js";
import { HermesError } from "../tool/errors.js";
import type { Runtime } from "./runtime.js";

const MOST_CALLS = 100_000;
const DAY_MS = 86_400_000;

/** What another profile would have done with the calls of the journal. Throws a HermesError when there is no such profile. */
export async function simulateProfile(
  runtime: Runtime,
  { profile, days }: { readonly profile: string; readonly days: number },
): Promise<Simulation> {
  const { config } = runtime;
  const { home } = config.paths;
  const permissions = await loadPermissions({ home, project: config.project, systemDir: config.systemDir });
  const unknown = permissions.unknown(profile);
  if (unknown !== undefined) throw new HermesError(unknown);
  await Promise.all([loadAnalysis(), loadUrlRules()]);
  const journal = await runtime.journal();
  return simulate({
    rows: await journal.recent({ limit: MOST_CALLS, sinceMs: Date.now() - days * DAY_MS }),
    profile,
    permissions,
    policy: createPolicy({
      hermesHome: home,
      permissions,
      denyCommands: config.values.approvals.deny,
      allowlist: allowlistFrom(config),
      readOnly: config.policyIncomplete,
      anyFolder: true,
      network: networkRules(config.values),
    }),
    cwd: runtime.cwd,
    home: config.env.HOME || homedir(),
  });
}
