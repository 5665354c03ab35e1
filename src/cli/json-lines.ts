import { createInterface } from "node:readline";

/** One answer per input line, in the same order. A line that is not JSON is answered like any other. */
export async function answerLines(answer: (line: unknown) => unknown | Promise<unknown>): Promise<void> {
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.trim() === "") continue;
    let parsed: unknown;
    try {
      parsed = JSON.parse(line);
    } catch (error) {
      parsed = new SyntaxError(`not JSON: ${error instanceof Error ? error.message : String(error)}`);
    }
    if (!process.stdout.write(`${JSON.stringify(await answer(parsed))}\n`)) {
      await new Promise((resolve) => process.stdout.once("drain", resolve));
    }
  }
}

/** `[[text, times], …]` written out. */
export function expandRepeats(parts: unknown): string | undefined {
  if (!Array.isArray(parts)) return undefined;
  let text = "";
  for (const part of parts as unknown[]) {
    if (!Array.isArray(part) || typeof part[0] !== "string" || !Number.isInteger(part[1]) || part[1] < 0)
      return undefined;
    text += part[0].repeat(part[1] as number);
  }
  return text;
}
