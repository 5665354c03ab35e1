import { join } from "node:path";
import { replaceFile } from "../../base/atomic-write.js";

/**
 * Changes whenever a person has confirmed the files of a plugin. The yes itself lies in the database, where nobody
 * notices it: programs that run already watch this file.
 */
export function confirmedMark(home: string): string {
  return join(home, ".plugins-confirmed");
}

export async function markConfirmed(home: string, plugin: string): Promise<void> {
  await replaceFile({
    path: confirmedMark(home),
    data: `${new Date().toISOString()} ${plugin}\n`,
    mode: 0o600,
  });
}
