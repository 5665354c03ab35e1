import { stem } from "./stem.js";
import { ACTIONS } from "./thesaurus/actions.js";
import { COMPUTING } from "./thesaurus/computing.js";
import { DAILY_LIFE } from "./thesaurus/daily-life.js";

let table: ReadonlyMap<string, ReadonlySet<string>> | undefined;

/** Stems of words that mean much the same as the word with this stem. */
export function synonymsOf(text: string): ReadonlySet<string> | undefined {
  table ??= readTable();
  return table.get(text);
}

function readTable(): ReadonlyMap<string, ReadonlySet<string>> {
  const related = new Map<string, Set<string>>();
  for (const line of `${ACTIONS}${COMPUTING}${DAILY_LIFE}`.split("\n")) {
    const stems = new Set(line.split(" ").filter((word) => word !== "").map(stem));
    for (const one of stems) {
      const others = related.get(one) ?? new Set();
      for (const other of stems) if (other !== one) others.add(other);
      related.set(one, others);
    }
  }
  return related;
}
