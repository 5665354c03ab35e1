import type { ListedGrant } from "./config-grants.js";

/** A grant as programs and the page get it; what is not known or not limited is null. */
export interface GrantRow {
  readonly id: string;
  readonly kind: ListedGrant["kind"];
  readonly what: string;
  readonly scope: string | null;
  readonly added: string | null;
  readonly expires: string | null;
  readonly max_uses: number | null;
  readonly uses: number | null;
  readonly last_used: string | null;
  readonly origin: string | null;
  readonly state: ListedGrant["state"];
  readonly file: string | null;
  readonly line: number | null;
}

export function grantRow(grant: ListedGrant): GrantRow {
  return {
    id: grant.id,
    kind: grant.kind,
    what: grant.text,
    scope: grant.scope ?? null,
    added: grant.added ?? null,
    expires: grant.expires ?? null,
    max_uses: grant.maxUses ?? null,
    uses: grant.uses ?? null,
    last_used: grant.lastUsed ?? null,
    origin: grant.origin ?? null,
    state: grant.state,
    file: grant.file ?? null,
    line: grant.line ?? null,
  };
}
