import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JournalRow } from "../../src/call/journal.js";
import { openJournal } from "../../src/call/sqlite-journal.js";
import { openStore } from "../../src/store/store.js";
import { intentOf, outcomeOf } from "../fixtures/journal/calls.js";
import { noSync } from "../fixtures/journal/temporary-journals.js";

let folder: string;
let original: readonly JournalRow[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "hermes-flips-"));
  const store = await openStore({ path: join(folder, "live.db"), syncFile: noSync });
  const journal = openJournal(store);
  const write = async (count: number) => {
    for (let call = 0; call < count; call++) {
      const intent = intentOf(`call_${call}`, {
        argsJson: `{"text":"héllo ${call}"}`,
        durableBefore: call % 3 === 0,
      });
      await (await journal.begin(intent)).end(outcomeOf());
    }
  };
  await write(60);
  store.db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  await write(20);
  original = journal.recent({ limit: 1000 });
  await copyFile(join(folder, "live.db"), join(folder, "sound.db"));
  await copyFile(join(folder, "live.db-wal"), join(folder, "sound.db-wal"));
  await journal.close();
  await store.close();
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const content = ({ owner: _, ...fields }: JournalRow) => fields;

test("a flipped bit in database or log never changes or removes a call without a word about it", {
  timeout: 60_000,
}, async () => {
  expect(original).toHaveLength(80);
  const files = {
    "": await readFile(join(folder, "sound.db")),
    "-wal": await readFile(join(folder, "sound.db-wal")),
  };
  const flip = fc.record({
    file: fc.constantFrom("" as const, "-wal" as const),
    position: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    bit: fc.integer({ min: 0, max: 7 }),
  });
  await fc.assert(
    fc.asyncProperty(flip, async ({ file, position, bit }) => {
      const home = await mkdtemp(join(folder, "flip-"));
      const path = join(home, "state.db");
      for (const [suffix, bytes] of Object.entries(files)) {
        const copy = Buffer.from(bytes);
        const at = Math.floor(position * copy.length);
        if (suffix === file) copy[at] = (copy[at] ?? 0) ^ (1 << bit);
        await writeFile(path + suffix, copy);
      }
      let told: boolean;
      let rows: readonly JournalRow[] = [];
      try {
        const store = await openStore({ path, syncFile: noSync });
        const journal = openJournal(store);
        told = store.notices.length > 0;
        rows = journal.recent({ limit: 1000 });
        journal.recover();
        await (await journal.begin(intentOf("next"))).end(outcomeOf());
        await journal.close();
        await store.close();
      } catch (error) {
        expect(String(error)).toMatch(/malformed|newer version|cannot be used/);
        told = true;
      }
      if (!told) {
        expect(rows).toHaveLength(original.length);
        for (const [index, row] of rows.entries()) {
          const before = original[index];
          if (!row.damaged && before) expect(content(row)).toEqual(content(before));
        }
      }
      await rm(home, { recursive: true });
    }),
    { numRuns: 100 },
  );
});
