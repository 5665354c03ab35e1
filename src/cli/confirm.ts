import { failure, HermesError } from "../tool/errors.js";

/** Asks a person at the terminal. Without one, only `--yes` is a yes. */
export async function confirmed(asked: {
  readonly question: string;
  readonly yes: boolean;
}): Promise<boolean> {
  if (asked.yes) return true;
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new HermesError(
      failure("denied", "Nobody is there to confirm it", "Add --yes after you have looked."),
    );
  }
  const { createInterface } = await import("node:readline/promises");
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(?:es)?$/i.test((await reader.question(`${asked.question} [y/N] `)).trim());
  } finally {
    reader.close();
  }
}
