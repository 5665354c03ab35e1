import { statfsSync } from "node:fs";
import { errnoOf, messageOf } from "../base/errno.js";

export type DatabaseErrorKind =
  | "busy"
  | "full"
  | "io"
  | "readonly"
  | "corrupt"
  | "cannot_open"
  | "constraint"
  | "other";

const kindOfResultCode: Readonly<Record<number, DatabaseErrorKind>> = {
  5: "busy",
  6: "busy",
  8: "readonly",
  10: "io",
  11: "corrupt",
  13: "full",
  14: "cannot_open",
  19: "constraint",
  26: "corrupt",
};

const adviceFor: Readonly<Record<DatabaseErrorKind, string>> = {
  busy: "another process holds the database for too long; look for a stuck one",
  full: "the disk is full; free some space and try again",
  io: "the disk reported an error; check it and the free space",
  readonly: "the file or its folder is read-only; check the permissions",
  corrupt: "the file is damaged; it is moved aside at the next start",
  cannot_open: "check that the folder exists and may be written",
  constraint: "the rows contradict the schema",
  other: "see the message above",
};

/** What either driver throws, so that no caller has to know which SQLite is underneath. */
export class DatabaseError extends Error {
  readonly kind: DatabaseErrorKind;

  constructor(kind: DatabaseErrorKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "DatabaseError";
    this.kind = kind;
  }

  get advice(): string {
    return adviceFor[this.kind];
  }
}

/** `resultCode` is SQLite's (possibly extended) result code; its low byte is the kind of error. */
export function databaseError(resultCode: number | undefined, cause: unknown): DatabaseError {
  const message = messageOf(cause);
  const kind = resultCode === undefined ? "other" : (kindOfResultCode[resultCode & 0xff] ?? "other");
  return new DatabaseError(kind, message, cause);
}

/** "disk I/O error: the disk reported …": one clause that says what happened and what to do. */
export function explainStorageError(error: unknown): string {
  if (error instanceof DatabaseError) return `${error.message} (${error.advice})`;
  const message = messageOf(error);
  const code = errnoOf(error);
  if (code === "ENOSPC" || code === "EDQUOT") return `${message} (${adviceFor.full})`;
  if (code === "EIO") return `${message} (${adviceFor.io})`;
  if (code === "EROFS" || code === "EACCES" || code === "EPERM") return `${message} (${adviceFor.readonly})`;
  return message;
}

/** True when something failed because the disk of this folder has no room left, also where SQLite says less. */
export function isDiskFull(error: unknown, folder: string): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const code = errnoOf(cause);
    if (code === "ENOSPC" || code === "EDQUOT") return true;
    if (!(cause instanceof DatabaseError)) continue;
    if (cause.kind === "full") return true;
    if (cause.kind === "io" || cause.kind === "cannot_open") return hasNoRoom(folder);
  }
  return false;
}

/** SQLite needs some pages for its index of the log. */
const LEAST_BYTES = 64 * 1024;

function hasNoRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize < LEAST_BYTES;
  } catch {
    return false;
  }
}
