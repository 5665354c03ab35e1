import { ToolError } from "../../tool/errors.js";

const REASONS: Readonly<Record<string, readonly [reason: string, hint?: string]>> = {
  ENOENT: ["there is no such file or folder", "Check the path; list the parent folder to see what is there."],
  ENOTDIR: ["a part of the path is a file, not a folder"],
  EISDIR: ["it is a folder", "Name a file."],
  EACCES: ["permission denied"],
  EPERM: ["the operation is not permitted"],
  EROFS: ["the file system is read-only"],
  ENOSPC: ["the disk is full", "Free some space and try again; the old content is untouched."],
  EDQUOT: ["the disk quota is used up", "Free some space and try again; the old content is untouched."],
  ENAMETOOLONG: ["the name is too long"],
  ELOOP: ["the links lead in a circle"],
  ENOTEMPTY: ["the folder is not empty"],
  EEXIST: ["it exists already"],
  EBUSY: ["it is in use (for example a mount point)"],
  EMFILE: ["too many files are open in this process"],
  ENFILE: ["too many files are open on this machine"],
  EIO: ["the disk reported an input/output error"],
  ERR_FS_FILE_TOO_LARGE: ["it is too large to read at once", "Read it in ranges."],
};

/** Turns a system error into one that says what, why and what to do; other errors pass unchanged. */
export function fileError({
  error,
  path,
  action,
}: {
  error: unknown;
  path: string;
  action: string;
}): unknown {
  if (ToolError.isInstance(error)) return error;
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  if (typeof code !== "string") return error;
  const [reason, hint] = REASONS[code] ?? [`the system answered ${code}`];
  return new ToolError(`Cannot ${action} ${path}: ${reason}.`, {
    cause: error,
    details: { errno: code, path },
    ...(hint === undefined ? {} : { hint }),
  });
}

/** True when the path, or a folder on the way to it, does not exist. */
export function isMissing(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  return code === "ENOENT" || code === "ENOTDIR";
}

/** A file that is not what somebody who wants to replace it has seen. */
export function conflict(found: {
  readonly path: string;
  readonly expected: string | undefined;
  readonly actual: string | undefined;
}): ToolError {
  const { path, expected, actual } = found;
  const what =
    actual === undefined
      ? "it no longer exists"
      : expected === undefined
        ? "it exists already"
        : "its content has changed since it was read";
  return new ToolError(`Did not write ${path}: ${what}.`, {
    hint: "Read the file again and repeat the change on what it holds now.",
    details: { conflict: true, path, expected_sha256: expected ?? null, actual_sha256: actual ?? null },
  });
}
