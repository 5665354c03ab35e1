import { type Simulation, simulate } from "../policy/profiles/simulate.js";
import { HermesError } from "../tool/errors.js";
import { recordedRules } from "./recorded-rules.js";
import type { Runtime } from "./runtime.js";

/** What another profile would have done with the calls of the journal. Throws a HermesError when there is no such profile. */
export async function simulateProfile(
  runtime: Runtime,
  { profile, days }: { readonly profile: string; readonly days: number },
): Promise<Simulation> {
  const rules = await recordedRules(runtime, days);
  const unknown = rules.permissions.unknown(profile);
  if (unknown !== undefined) throw new HermesError(unknown);
  return simulate({ ...rules, profile, policy: rules.policyFor(rules.permissions) });
}
