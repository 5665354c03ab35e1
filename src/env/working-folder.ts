import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { errnoOf } from "../base/errno.js";
import { ToolError } from "../tool/errors.js";

const MISSING_FOLDER = "missing_folder";

/** A command cannot start because its working directory is not there. */
export function missingFolder(cwd: string): ToolError {
  return new ToolError(
    `Cannot run in ${JSON.stringify(cwd)}: the working directory does not exist (it may have been deleted).`,
    { hint: "Give an existing folder as the working directory.", details: { [MISSING_FOLDER]: cwd } },
  );
}

export function isMissingFolder(error: unknown, cwd: string): boolean {
  return ToolError.isInstance(error) && error.details?.[MISSING_FOLDER] === cwd;
}

/** Says why no program can start in a folder; `at` is where it lies, when that is somewhere else. */
export async function requireDirectory(cwd: string, at = cwd): Promise<void> {
  const refuse = (why: string) => {
    throw new ToolError(`Cannot run in ${JSON.stringify(cwd)}: ${why}.`, {
      hint: "Give an existing folder as the working directory.",
    });
  };
  if (cwd.includes("\0")) refuse("the path holds a NUL byte");
  if (!isAbsolute(cwd)) refuse("the working directory must be an absolute path");
  try {
    if (!(await stat(at)).isDirectory()) refuse("it is not a folder");
    await access(at, constants.X_OK);
  } catch (error) {
    if (ToolError.isInstance(error)) throw error;
    const code = errnoOf(error);
    if (code === "ENOENT") throw missingFolder(cwd);
    refuse(code === "EACCES" ? "permission denied" : String(code ?? error));
  }
}
