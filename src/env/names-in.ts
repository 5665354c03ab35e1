import { readdirSync } from "node:fs";

/** Names in a folder; none when it is not there or cannot be listed. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
