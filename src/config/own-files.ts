import { readFileSync } from "node:fs";
import { confirmedFile, contentHash, isConfirmedDamaged, readConfirmed } from "./confirmed-files.js";
import { hermesPaths } from "./paths.js";
import type { ConfigProblem } from "./types.js";

/** What is wrong with the small files that Hermes keeps beside the settings: they count for less then, which must be told. */
export async function problemsOfOwnFiles(home: string): Promise<readonly ConfigProblem[]> {
  const problems: ConfigProblem[] = [];
  const warn = (file: string, message: string, hint: string) =>
    void problems.push({ severity: "warning", source: "home", message, hint, file });
  if (await isConfirmedDamaged(home))
    warn(
      confirmedFile(home),
      "it does not fit approvals.key: one of the two was damaged, or not written by Hermes",
      "changes that were confirmed are asked about again; if this was not you, look at the disk",
    );
  const { trustedFolders: file } = hermesPaths(home);
  const bytes = readIfThere(file);
  if (bytes === undefined || bytes.length === 0) return problems;
  const hint = "look at it, then run: hermes config trust FOLDER";
  const written = (await readConfirmed(home)).get(file);
  if (bytes.at(-1) !== 10) warn(file, "the file ends in the middle of a line, which does not count", hint);
  else if (written !== undefined && written !== contentHash(bytes))
    warn(file, "it is not as `hermes config trust` left it: changed by hand, or damaged", hint);
  return problems;
}

function readIfThere(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}
