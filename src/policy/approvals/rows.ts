import { type SqlRow, textOfBlob } from "../../store/driver.js";
import type { Store } from "../../store/store.js";
import type { ApprovalRecord, ApprovalStatus, ShownQuestion, StoredCall } from "./record.js";
import { type ApprovalSigner, digest, type SignedAnswer, sameSignature } from "./signature.js";

/** Texts as blobs: what was damaged on disk may not be UTF-8. */
export const APPROVAL_COLUMNS = [
  ...["id", "hash", "tool", "owner", "status", "audience", "shown", "call", "call_digest", "signature"],
  ...["answer", "answer_signature"],
]
  .map((name) => `CAST(${name} AS BLOB) AS ${name}`)
  .concat("created_at", "expires_at")
  .join(", ");

/** What one row takes; texts count as characters, which is near enough. */
export const ROW_BYTES = "length(shown) + coalesce(length(call), 0) + 500";

/** The room that questions take, and how many of them wait. */
export function approvalRoom({ db }: Store): { readonly bytes: number; readonly waiting: number } {
  const row = db
    .prepare(`SELECT sum(${ROW_BYTES}) AS bytes, sum(status = 'pending') AS waiting FROM approvals`)
    .get();
  return { bytes: Number(row?.bytes ?? 0), waiting: Number(row?.waiting ?? 0) };
}

const STATUSES: readonly string[] = ["pending", "approved", "denied", "expired", "consumed"];

/** Undefined when the row was damaged, or written by somebody without the key: such a row counts for nothing. */
export function decodeApproval(row: SqlRow, signer: ApprovalSigner): ApprovalRecord | undefined {
  const text = (name: string) => textOfBlob(row[name]);
  const optional = (name: string) => (row[name] === null ? undefined : text(name));
  const [id, hash, tool, status] = [text("id"), text("hash"), text("tool"), text("status")];
  const owner = text("owner");
  const [createdAt, expiresAt] = [Number(row.created_at), Number(row.expires_at)];
  const [shown, sealedCall, callDigest] = [text("shown"), optional("call"), text("call_digest")];
  try {
    const call = sealedCall === undefined ? undefined : signer.unseal(sealedCall);
    const audience = parsed<readonly string[]>(optional("audience"));
    const signed = { id, tool, hash, createdAt, expiresAt, owner, audience, shown, callDigest };
    const signature = text("signature");
    if (!STATUSES.includes(status) || !sameSignature(signature, signer.question(signed))) return undefined;
    if (call !== undefined && digest(call) !== callDigest) return undefined;
    const answer = parsed<SignedAnswer>(optional("answer"));
    const seal = status === "consumed" ? "used" : "answer";
    const sealed =
      answer !== undefined && sameSignature(text("answer_signature"), signer[seal]({ id, hash }, answer));
    // Without its seal, an approval is nobody's.
    if (!sealed && (answer !== undefined || status === "approved" || status === "consumed")) return undefined;
    return {
      id,
      hash,
      tool,
      createdAt,
      expiresAt,
      owner,
      status: status as ApprovalStatus,
      ...(audience !== undefined && { audience }),
      shown: JSON.parse(shown) as ShownQuestion,
      ...(call !== undefined && { call: JSON.parse(call) as StoredCall }),
      ...(answer !== undefined && { answer }),
      signature,
    };
  } catch {
    return undefined;
  }
}

function parsed<Value>(json: string | undefined): Value | undefined {
  return json === undefined ? undefined : (JSON.parse(json) as Value);
}
