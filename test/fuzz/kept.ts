import { appendFileSync, readFileSync } from "node:fs";

/** An input that something could not take once. All of them are tried before anything new is made. */
interface KeptInput {
  readonly kind: string;
  readonly text: string;
  readonly why: string;
}

const KEPT_FILE = new URL("kept.jsonl", import.meta.url);

export function keptInputs(kind: string, file = KEPT_FILE): readonly string[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as KeptInput)
    .filter((row) => row.kind === kind)
    .map(({ text }) => text);
}

/** `npm run fuzz` keeps what it finds by itself: the row belongs into the commit that mends it. */
export function keepInput(row: KeptInput, file = KEPT_FILE): void {
  if (keptInputs(row.kind, file).includes(row.text)) return;
  appendFileSync(file, `${JSON.stringify(row)}\n`);
}
