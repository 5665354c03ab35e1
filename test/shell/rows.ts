import { readFileSync } from "node:fs";

export type Level = "safe" | "danger" | "hardline";

/** Rows of a fixture: a level and a command line, with a tab between them; `#` starts a note. */
export function rowsOf(name: string): readonly (readonly [level: Level, line: string])[] {
  const text = readFileSync(new URL(`../fixtures/shell-rules/${name}`, import.meta.url), "utf8");
  return text
    .split("\n")
    .filter((row) => row !== "" && !row.startsWith("# "))
    .map((row) => {
      const [level, line] = row.split("\t");
      if ((level !== "safe" && level !== "danger" && level !== "hardline") || line === undefined)
        throw new Error(`not a row of ${name}: ${row}`);
      return [level, line] as const;
    });
}
