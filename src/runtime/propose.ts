import type { PermissionTable } from "../policy/profiles/permission-table.js";
import { PROPOSED, type Proposal, propose } from "../policy/profiles/propose.js";
import { type Failure, failure, HermesError } from "../tool/errors.js";
import { recordedRules } from "./recorded-rules.js";
import type { Runtime } from "./runtime.js";

/**
 * The narrowest profile that still allows what the calls of the journal used, within the one in force; `saveProfile`
 * writes it. Throws a HermesError when the name cannot be used or the profile does not exist.
 */
export async function proposeProfile(
  runtime: Runtime,
  wanted: {
    readonly name: string;
    readonly days: number;
    /** The one in force when left out. */
    readonly profile?: string | undefined;
  },
): Promise<Proposal> {
  const { name, days } = wanted;
  const rules = await recordedRules(runtime, days);
  const inForce = wanted.profile ?? runtime.config.values.permissions.profile;
  const refused = whyTaken(rules.permissions, name) ?? rules.permissions.unknown(inForce);
  if (refused !== undefined) throw new HermesError(refused);
  // A proposal that is in force is made anew for the profile it lies within, since no profile lies within itself.
  const outer = rules.permissions.profiles.find((profile) => profile.name === name)?.within ?? [];
  const names = [...new Set(inForce.split("+").flatMap((each) => (each === name ? outer : each)))];
  return propose({ ...rules, name, profile: names.join("+") });
}

const USABLE_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

/** Only a profile that was proposed itself is replaced by another proposal. */
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
