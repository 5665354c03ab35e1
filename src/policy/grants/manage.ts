import { messageOf } from "../../base/errno.js";
import { removeGrants } from "../../config/edit-grants.js";
import type { LoadedConfig } from "../../config/types.js";
import { type Failure, failure } from "../../tool/errors.js";
import { placeOf } from "./from-config.js";
import { type Grant, grantId, grantOf } from "./grant.js";
import { GrantState } from "./grant-state.js";

export interface ListedGrant extends Grant {
  /** `unknown` uses count as used up. */
  readonly state: "in force" | "expired" | "used up" | "too wide";
  readonly uses: number | undefined;
  readonly lastUsed?: string;
}

/** Every grant of a configuration with how often it was used and whether it still counts. */
export function listGrants(
  config: LoadedConfig,
  {
    now = Date.now,
    onTrouble = () => undefined,
  }: { readonly now?: () => number; onTrouble?(message: string): void } = {},
): readonly ListedGrant[] {
  const state = new GrantState({ home: config.paths.home, now, onTrouble });
  return config.values.command_allowlist.map((entry) => {
    const grant = grantOf(entry, placeOf(config, entry));
    const uses = state.usesOf(grant.id);
    const lastUsed = state.lastUseOf(grant.id);
    const spent = grant.maxUses !== undefined && (uses ?? grant.maxUses) >= grant.maxUses;
    const expired = grant.expiresAt !== undefined && now() >= grant.expiresAt;
    return {
      ...grant,
      state: grant.tooWide ? "too wide" : expired ? "expired" : spent ? "used up" : "in force",
      uses,
      ...(lastUsed !== undefined && { lastUsed }),
    };
  });
}

/** Takes one grant out of the home config.yaml; processes that are running stop using it too. */
export async function revokeGrant(
  config: LoadedConfig,
  id: string,
): Promise<{ readonly ok: true; readonly file: string } | ({ readonly ok: false } & Failure)> {
  const { home } = config.paths;
  const outcome = await removeGrants({ home, chosen: (entry) => grantId(entry) === id });
  if (!outcome.ok) return outcome;
  if (!outcome.changed) return { ok: false, ...notThere(config, id) };
  try {
    await new GrantState({ home, now: Date.now, onTrouble: () => undefined }).revoke(id);
  } catch (error) {
    const why = messageOf(error);
    const what = `the grant is gone from ${outcome.file}, but running programs could not be told: ${why}`;
    return { ok: false, ...failure("failed", what, "Restart them.") };
  }
  return { ok: true, file: outcome.file };
}

function notThere(config: LoadedConfig, id: string): Failure {
  const elsewhere = config.values.command_allowlist.find((entry) => grantId(entry) === id);
  if (elsewhere === undefined) {
    return failure("not_found", `There is no grant ${id}`, 'Run "hermes approvals grants" to see their ids.');
  }
  const { file, line } = placeOf(config, elsewhere);
  const where = file === undefined ? "a variable or flag" : `${file}${line === undefined ? "" : `:${line}`}`;
  return failure("denied", `Grant ${id} is set by ${where}, not by your own config.yaml`, "Remove it there.");
}
