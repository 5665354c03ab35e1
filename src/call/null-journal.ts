import type { Journal, JournalEntry } from "./journal.js";

const done = Promise.resolve();
const nullEntry: JournalEntry = { end: () => done, endSoon: () => undefined };

/** For a runtime whose journal is switched off. */
export function nullJournal(): Journal {
  return {
    enabled: false,
    begin: () => nullEntry,
    recent: () => [],
    stats: () => [],
    recover: () => [],
    prune: () => 0,
    close: () => done,
  };
}
