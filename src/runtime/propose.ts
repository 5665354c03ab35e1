import { loadPermissions } from "../policy/profiles/load.js";
import { readPermissionText } from "../policy/profiles/permission-file.js";
import type { PermissionTable } from "../policy/profiles/permission-table.js";
import { PROPOSED, type Proposal, propose } from "../policy/profiles/propose.js";
import { saveProfile } from "../policy/profiles/save-profile.js";
import { type Failure, failure, HermesError } from "../tool/errors.js";
import { recordedRules } from "./recorded-rules.js";
import type { Runtime } from "./runtime.js";

/**
 * The narrowest profile that still allows what the calls of the journal used, within the one in force; `acceptProposal`
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

/**
 * Writes a proposal into the permissions of the home. Whoever sends it, it is held against what a proposal is: one profile
 * that lies within another, under a name of its own.
 */
export async function acceptProposal(
  runtime: Runtime,
  { name, yaml }: Pick<Proposal, "name" | "yaml">,
): Promise<{ readonly file: string; readonly changed: boolean }> {
  const { paths, project, systemDir } = runtime.config;
  const permissions = await loadPermissions({ home: paths.home, project, systemDir });
  const refused = whyTaken(permissions, name) ?? (await whyNoProposal(permissions, { name, yaml }));
  if (refused !== undefined) throw new HermesError(refused);
  const saved = await saveProfile({ home: paths.home, name, yaml });
  if (!saved.ok) throw new HermesError(saved);
  return { file: saved.file, changed: saved.changed };
}

async function whyNoProposal(
  permissions: PermissionTable,
  { name, yaml }: Pick<Proposal, "name" | "yaml">,
): Promise<Failure | undefined> {
  let wrong: string | undefined;
  const { profiles, global } = await readPermissionText(yaml, "the proposal", ({ severity, message }) => {
    if (severity !== "warning") wrong ??= message;
  });
  const [profile, ...others] = profiles;
  const within = profile?.within ?? [];
  if (profile?.name !== name || others.length > 0) wrong ??= `it does not hold just the profile ${name}`;
  else if (Object.values(global).some((rules) => rules.length > 0))
    wrong ??= "it has rules for every profile";
  else if (!profile.description.startsWith(PROPOSED))
    wrong ??= `its description does not begin with "${PROPOSED}"`;
  else if (profile.parents.length > 0) wrong ??= "it extends another profile";
  else if (within.length === 0 || within.includes(name)) wrong ??= "it lies within no other profile";
  else wrong ??= permissions.unknown(within.join("+"))?.message;
  if (wrong === undefined) return undefined;
  return failure("bad_request", `this is no proposal: ${wrong}`, "Send it as `propose` gave it.");
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
