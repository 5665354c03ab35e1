import { readdirSync, readFileSync } from "node:fs";
import type { AttackRow } from "./protocol.js";

/** The rows by where they come from: two attackers' own, those aimed at the boundary alone, and the reading's corpora. */
export type RowSet = "dangerous" | "everyday" | "boundary" | "dev" | "heldout" | "rules";

const TEST = new URL("../../", import.meta.url);

export function rowsOf(set: RowSet): readonly AttackRow[] {
  if (set === "rules") return ruleRows();
  const file = set === "dev" || set === "heldout" ? `shell/corpus/${set}` : `fixtures/attack/${set}`;
  return linesOf(`${file}.jsonl`).map((line, index): AttackRow => {
    const { id, cmd, after }: { id?: string; cmd: string; after?: number } = JSON.parse(line);
    return { id: id ?? `${set}-${index + 1}`, command: cmd, after };
  });
}

/** Lines with their level; the everyday ones among them run too. */
function ruleRows(): readonly AttackRow[] {
  const folder = "fixtures/shell-rules";
  return readdirSync(new URL(folder, TEST)).flatMap((name) =>
    linesOf(`${folder}/${name}`).flatMap((line, index): AttackRow[] => {
      const [level, command] = line.split("\t");
      return command === undefined || level?.startsWith("#")
        ? []
        : [{ id: `${name.replace(/\.tsv$/, "")}-${index + 1}`, command }];
    }),
  );
}

function linesOf(file: string): readonly string[] {
  return readFileSync(new URL(file, TEST), "utf8")
    .split("\n")
    .filter((line) => line !== "");
}
