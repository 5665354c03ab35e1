import { ToolError } from "../../tool/errors.js";

export function launcherLost(): ToolError {
  return new ToolError(
    "The helper process that starts commands ended in the middle; how this command ended is not known.",
    {
      code: "unavailable",
      hint: "Something killed it, perhaps because memory ran out. Look at what the command has done, then try again.",
    },
  );
}
