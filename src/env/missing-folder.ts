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
