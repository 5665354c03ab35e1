import { messageOf } from "../../base/errno.js";
import { removeGrants } from "../../config/edit-grants.js";
import { entryName } from "../../config/grant-entry.js";
import type { AllowlistEntry, LoadedConfig } from "../../config/types.js";
import { judgeCommand } from "../../shell/analysis.js";
import { type Failure, failure } from "../../tool/errors.js";
import { type Allowlist, type AllowlistOptions, createAllowlist } from "./allowlist.js";
import { type Grant, type GrantPlace, grantId, grantOf } from "./grant.js";
import { GrantState } from "./grant-state.js";

/** The allowlist a configuration describes. */
export function allowlistFrom(
  config: LoadedConfig,
  options: Pick<AllowlistOptions, "canonical" | "redact" | "onTrouble"> = {},
): Allowlist {
  const origin = config.origin("command_allowlist");
  return createAllowlist({
    canonical: canonicalText,
    ...options,
    entries: config.values.command_allowlist,
    home: config.paths.home,
    readAt: config.loadedAt,
    placeOf: (entry) => placeOf(config, entry),
    managedBy: origin.source === "managed" ? (origin.file ?? "the administrator") : undefined,
  });
}

/** What a single command comes to, so that a grant may be written in any spelling of it. */
function canonicalText(command: string): string | undefined {
  const { segments } = judgeCommand(command);
  return segments.length === 1 ? segments[0]?.canonical : undefined;
}

export function placeOf(config: LoadedConfig, entry: AllowlistEntry): GrantPlace {
  const { file, line } = config.origin(`command_allowlist.${entryName(entry)}`);
  return { file, line };
}

export interface ListedGrant extends Grant {
  /** `unknown` uses count as used up. */
  readonly state: "in force" | "expired" | "used up" | "too wide";
  readonly uses: number | undefined;
  readonly lastUsed?: string | undefined;
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
      lastUsed,
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
