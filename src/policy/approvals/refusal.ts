import { ageText } from "../../base/human.js";
import type { Failure } from "../../tool/errors.js";
import type { ApprovalRecord, ApprovalStatus } from "./record.js";

/** Why an answer, or an attempt to use one, changed nothing. The set is closed: programs switch on it. */
export type RefusalReason =
  | "unknown_id"
  | "wrong_hash"
  | "wrong_person"
  | "wrong_signature"
  | "already_answered"
  | "not_approved"
  | "expired"
  | "no_room";

export interface Refused extends Failure {
  readonly refused: RefusalReason;
}

export function isRefused(value: object): value is Refused {
  return "refused" in value;
}

export function unknownId(id: string): Refused {
  return {
    refused: "unknown_id",
    code: "not_found",
    message: `No approval has the id ${JSON.stringify(id.slice(0, 80))}`,
    hint: "List them with: hermes approvals list --all",
  };
}

export function wrongHash(id: string): Refused {
  return denied("wrong_hash", `The hash is not the one ${id} asks about, so the answer was not taken`);
}

export function wrongSignature(id: string): Refused {
  return denied("wrong_signature", `The signature does not belong to ${id}, so the answer was not taken`);
}

export function wrongPerson(id: string, by: string): Refused {
  return denied("wrong_person", `${by} was not asked about ${id} and cannot answer it`);
}

export function expired({ id, expiresAt }: Pick<ApprovalRecord, "id" | "expiresAt">): Refused {
  return {
    ...denied(
      "expired",
      `${id} expired ${ageText(Date.now() - expiresAt)} ago and can no longer be approved or run`,
    ),
    hint: "Ask again. To have more time for answers: hermes config set approvals.timeout SECONDS",
  };
}

/** Those that wait fill all the room there is. */
export function noRoom(maxBytes: number): Refused {
  return {
    ...denied(
      "no_room",
      `the questions that wait for an answer take ${maxBytes / 1024 ** 2} MB, and there is no room for more`,
    ),
    hint: "Answer some: hermes approvals list. approvals.max_mb sets the limit.",
  };
}

/** For a record that is not in the state the change needs. */
export function wrongStatus({ id, status, answer }: ApprovalRecord): Refused {
  if (status === "pending") {
    return {
      ...denied("not_approved", `${id} has not been approved`),
      hint: `Approve it first: hermes approvals approve ${id}`,
    };
  }
  const who =
    answer === undefined ? "" : ` (${answer.answer} by ${answer.by}, ${ageText(Date.now() - answer.at)} ago)`;
  return denied("already_answered", `${id} ${MEANING[status]}${who}; nothing was changed`);
}

const MEANING: Readonly<Record<ApprovalStatus, string>> = {
  pending: "waits for an answer",
  approved: "has already been approved",
  denied: "has already been denied",
  expired: "has expired",
  consumed: "has already been approved and used",
};

function denied(refused: RefusalReason, message: string): Refused {
  return { refused, code: "denied", message };
}
