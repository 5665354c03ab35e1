import { readFileSync } from "node:fs";
import type { LabelledRow } from "./measure.js";

/** The hand-written rows: rules may be improved on `dev`; `heldout` only tells how they do on unseen rows. */
export function handWrittenRows(set: "dev" | "heldout"): LabelledRow[] {
  const text = readFileSync(new URL(`./${set}.jsonl`, import.meta.url), "utf8");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line): LabelledRow => JSON.parse(line));
}
