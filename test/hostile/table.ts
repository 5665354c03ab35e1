import type { HostileCase } from "./case.js";
import { FILES, NOTES } from "./cases/files.js";
import { EARLIER, MEMORIES, SKILLS } from "./cases/kept-texts.js";
import { LASTING } from "./cases/lasting.js";
import { ANSWERS, CHILDREN, STRANGERS, SUMMARIES } from "./cases/others.js";
import { PAGES } from "./cases/pages.js";
import { SERVERS } from "./cases/servers.js";

/** By where the content comes from. */
const KINDS: readonly (readonly HostileCase[])[] = [
  PAGES,
  LASTING,
  FILES,
  NOTES,
  MEMORIES,
  SKILLS,
  EARLIER,
  CHILDREN,
  ANSWERS,
  STRANGERS,
  SUMMARIES,
];

/** How many rows of each kind the quick tests play. */
const QUICK_ROWS = 2;

export const QUICK = KINDS.flatMap((rows) => titled(rows.slice(0, QUICK_ROWS)));
export const REST = [...KINDS.flatMap((rows) => titled(rows.slice(QUICK_ROWS))), ...titled(SERVERS)];

function titled(rows: readonly HostileCase[]): readonly (readonly [string, HostileCase])[] {
  return rows.map((row) => [`${row.from}, ${row.tries}`, row]);
}
