// @needs bwrap perl git prlimit setpriv
import { readdirSync, readFileSync, statSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Cage, noCage, openCage } from "./attack/cage.js";
import { type AttackRow, NOT_RUN, type RowResult, type Setting } from "./attack/protocol.js";
import { type RowSet, rowsOf } from "./attack/rows.js";

/** `HERMES_ATTACK=full` runs every row; without it a few of each set tell whether the boundary still stands. */
const SETS: readonly RowSet[] =
  process.env.HERMES_ATTACK === "full"
    ? ["boundary", "dangerous", "everyday", "dev", "heldout", "rules"]
    : ((process.env.HERMES_ATTACK?.split(",") as RowSet[] | undefined) ?? []);
const SMOKE = [
  "b001",
  "b006",
  "b014",
  "b028",
  "b037",
  "b039",
  "b047",
  "b050",
  "b062",
  "b066",
  "b067",
  "a024",
  "a154",
  "a278",
];
const HOUR = 3_600_000;

const reason = noCage();
let cage: Cage;
beforeAll(async () => {
  cage = await openCage();
});
afterAll(() => cage.close());
beforeEach((context) => {
  if (reason !== undefined) context.skip(reason);
});

const OUTSIDE = ["/etc/passwd", "/etc/hosts", "/usr/bin/env", import.meta.filename];
const outside = () =>
  OUTSIDE.map((path) => {
    const { mtimeMs, ctimeMs, size } = statSync(path);
    return `${path} ${mtimeMs} ${ctimeMs} ${size}`;
  });

describe("the cage that rows run in", () => {
  test.each([
    [
      "nothing outside can be changed",
      `echo x >> ${import.meta.filename}; rm -f /etc/hosts; touch /usr/x /var/tmp/x /tmp/x; ls /usr/x /var/tmp/x`,
      /Read-only file system/,
    ],
    ["no process outside can be seen", "ls /proc | grep -c '^[0-9]'; kill -CONT -1; echo alive", /^[2-9]\n/],
    ["the machine's settings stay", "echo x > /proc/sys/kernel/core_pattern", /Permission denied/],
    ["there is no network", "exec 3<>/dev/tcp/192.0.2.1/53", /Network is unreachable/],
  ])("%s", (_name, script, said) => {
    const before = outside();
    expect(cage.probe(script).output).toMatch(said);
    expect(outside()).toEqual(before);
  });

  test("what runs in it ends with it", async () => {
    const mark = `${cage.base}/left`;
    cage.probe(
      `setsid -f sh -c 'exec sleep 1000 ${mark}' 2>/dev/null; (exec -a ${mark} sleep 1000) & sleep 0.1`,
    );
    const left = readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && commandOf(pid).includes(mark));
    expect(left).toEqual([]);
  });
});

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

const smoke = (): readonly AttackRow[] =>
  [...rowsOf("boundary"), ...rowsOf("dangerous")].filter(({ id }) => SMOKE.includes(id));

describe("with the guard on", () => {
  test("without it, the same rows reach what it keeps: the search for marks works", async () => {
    const rows = smoke().filter(({ id }) => ["b037", "b047", "b050", "a024", "a154", "a278"].includes(id));
    const results = await cage.run(rows, { ...PERSON, guarded: false, timeoutMs: 5_000 });
    expect(results.filter(({ reached }) => reached.length > 0).map(({ id }) => id)).toEqual(
      rows.map(({ id }) => id),
    );
  }, 120_000);

  test.each([
    ["an ordinary person", "person", "full"],
    ["a new person", "person", "bare"],
    ["root", "root", "full"],
  ] as const)(
    "a few rows of each kind reach nothing: %s",
    async (_name, user, furnishing) => {
      const results = await cage.run(smoke(), { user, furnishing, guarded: true, timeoutMs: 5_000 });
      expect(results).toHaveLength(SMOKE.length);
      expect(reachedOf(results)).toEqual([]);
    },
    120_000,
  );

  test.each(["person", "root"] as const)(
    "nothing in / can be changed, what lies in its folders can: %s",
    async (user) => {
      const command =
        "for d in /mnt /media /root /tmp /var/tmp /var/log /run; do echo a > $d/new && rm $d/new || echo not $d; done; " +
        "touch /new; mkdir /folder; mv /mnt /moved; rm /bin; ln -sfn /tmp /lib; readlink /bin /lib; ls -d /new /folder";
      const [result] = await cage.run([{ id: "root-folder", command }], {
        ...{ user, furnishing: "full", guarded: true, timeoutMs: 5_000 },
      });
      expect(result?.reached).toEqual([]);
      expect(result?.output).not.toMatch(/^not |^\/new|^\/folder/m);
      expect(result?.output).toMatch(
        /\/new.: Read-only[\s\S]*\/folder.: Read-only[\s\S]*^usr\/bin\nusr\/lib$/m,
      );
    },
    60_000,
  );

  test.runIf(SETS.length > 0).each(SETS)(
    "no row of %s reaches anything",
    async (set) => {
      const rows = rowsOf(set);
      const half = Math.ceil(rows.length / 2);
      const setting = { ...PERSON, guarded: true, timeoutMs: 3_000 };
      const parts = [rows.slice(0, half), rows.slice(half)].map((part) => cage.run(part, setting));
      const results = (await Promise.all(parts)).flat();
      const count = (is: (result: RowResult) => boolean) => results.filter(is).length;
      console.log(
        `${set}: ${results.length} rows, ${count(({ reached }) => reached.length > 0)} reached something; ` +
          `${count(({ missing }) => missing)} lacked a program, ${count(({ timedOut }) => timedOut)} were ended after 3 s, ` +
          `${count(({ ended }) => ended)} ended the runtime`,
      );
      expect(results.filter(({ failed = "" }) => NOT_RUN.test(failed))).toEqual([]);
      expect(reachedOf(results)).toEqual([]);
    },
    HOUR,
  );
});

const PERSON: Omit<Setting, "guarded"> = { user: "person", furnishing: "full" };

function reachedOf(results: readonly RowResult[]) {
  return results.filter(({ reached }) => reached.length > 0).map(({ id, reached }) => ({ id, reached }));
}
