import { mkdir, readFile, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { isMissing } from "../../../base/errno.js";

/** What is known of an unfinished transfer; undefined when there is none, or when it cannot be read any more. */
export async function readState<State>(file: string): Promise<State | undefined> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as State;
  } catch (error) {
    if (isMissing(error) || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export async function writeState(file: string, state: object): Promise<void> {
  const { default: writeFileAtomic } = await import("write-file-atomic");
  await mkdir(dirname(file), { recursive: true });
  await writeFileAtomic(file, JSON.stringify(state), { mode: 0o600 });
}

export async function removeState(file: string): Promise<void> {
  await rm(file, { force: true });
}
