import { errnoOf, errnoText } from "../../base/errno.js";
import { ToolError } from "../../tool/errors.js";

const HINTS: Readonly<Record<string, string>> = {
  ENOENT: "Check the path; list the parent folder to see what is there.",
  EISDIR: "Name a file.",
  ENOSPC: "Free some space and try again; the old content is untouched.",
  EDQUOT: "Free some space and try again; the old content is untouched.",
  ERR_FS_FILE_TOO_LARGE: "Read it in ranges.",
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
  const code = errnoOf(error);
  if (code === undefined) return error;
  const hint = HINTS[code];
  return new ToolError(`Cannot ${action} ${path}: ${errnoText(code)}.`, {
    cause: error,
    details: { errno: code, path },
    hint,
  });
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
