// @needs bwrap
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findControlGroups, placesFrom } from "../../src/env/sandbox/control-groups.js";
import { MIB, useMachine } from "./confine-support.js";

const { jail, open, run, confine } = useMachine();
const isRoot = process.getuid?.() === 0;
const groups = findControlGroups();
const noGroups = "[ci-cannot] groups of processes cannot be limited here";
const perl = (script: string) => ["perl", "-e", script];

describe("limits", () => {
  const memoryBytes = 128 * MIB;
  const fill = (share: number) =>
    perl(`my @kept; push @kept, "x" x 1048576 for 1 .. ${Math.round(128 * share)}; print "kept"`);

  const spread = [
    "pipe my $r, my $w; for (1 .. 4) { next if fork; close $r;",
    'my $kept = "x" x (48 * 1048576); syswrite $w, "k"; select undef, undef, undef, 0.7; exit } close $w; local $/; print <$r>',
  ].join(" ");

  test("memory: 85 % fit, 115 % do not", async () => {
    const environment = open();
    const limited = { confine: confine({ memoryBytes }) };
    expect(await run(environment, fill(0.85), limited)).toMatchObject({ output: "kept", exitCode: 0 });
    const over = await run(environment, fill(1.15), limited);
    expect(over.output).not.toContain("kept");
    expect(over.exitCode).not.toBe(0);
    if (groups !== undefined) expect(over.reached).toEqual(["memory"]);
  });

  test("memory of several processes counts together", async () => {
    const environment = open();
    const result = await run(environment, perl(spread), { confine: confine({ memoryBytes }) });
    expect(result.output).not.toBe("kkkk");
    expect(result.reached).toEqual(["memory"]);
  });

  test("processes and threads together: as many as allowed, and no more", async (context) => {
    if (isRoot && groups === undefined) context.skip(noGroups);
    const environment = open();
    const processes = 40;
    const fork =
      "my $n = 1; while ($n < 500) { my $p = fork; last if !defined $p; if (!$p) { sleep 9; exit } $n++ } print $n";
    const forked = await run(environment, perl(fork), { confine: confine({ processes }) });
    expect(Number(forked.output)).toBeGreaterThanOrEqual(processes * 0.9);
    expect(Number(forked.output)).toBeLessThanOrEqual(processes * 1.1);
    const thread = [
      "import threading, time, os",
      "def count(n):",
      "  try:",
      "    while n < 500: threading.Thread(target=time.sleep, args=(9,), daemon=True).start(); n += 1",
      "  except RuntimeError: pass",
      "  return n",
      "if os.fork() == 0: time.sleep(9)",
      "print(count(2), flush=True); os._exit(0)",
    ].join("\n");
    const threads = await run(environment, ["python3", "-c", thread], { confine: confine({ processes }) });
    expect(Number(threads.output)).toBeGreaterThanOrEqual(processes * 0.9);
    expect(Number(threads.output)).toBeLessThanOrEqual(processes * 1.1);
  });

  test("a bomb of forks ends in time, the machine goes on, and nothing of it is left", async (context) => {
    if (isRoot && groups === undefined) context.skip(noGroups);
    const environment = open();
    const bomb = run(environment, "b() { b | b & }; b; sleep 30", {
      timeoutMs: 700,
      confine: confine({ processes: 50 }),
    });
    const meanwhile = await environment.exec({
      command: ["echo", "fine"],
      cwd: "/",
      timeoutMs: 10_000,
      signal: new AbortController().signal,
    });
    expect(meanwhile.output).toBe("fine\n");
    const result = await bomb;
    expect(result).toMatchObject({ timedOut: true, exitCode: 124 });
    expect(result.output).not.toContain("could not be ended");
    if (groups !== undefined) expect(result.reached).toEqual(["processes"]);
  });

  test("temporary files, also those in shared memory, and the size of one file", async () => {
    const environment = open({ limits: { temporaryBytes: 8 * MIB, fileBytes: 4 * MIB } });
    const write = (place: string) =>
      `for i in 1 2 3 4; do head -c 3M /dev/zero > ${place}/$i || echo full; done`;
    for (const place of ["/tmp", "/dev/shm", "/var/tmp", "/run"]) {
      expect([place, (await run(environment, write(place))).output]).toEqual([
        place,
        expect.stringContaining("No space left"),
      ]);
    }
    expect((await run(environment, "echo x > /dev/file")).output).toContain("Read-only file system");
    await run(environment, 'trap "" XFSZ; head -c 6M /dev/zero > "$WS/large"; exit 0');
    expect(readFileSync(join(jail().workspace, "large")).length).toBe(4 * MIB);
  });

  test("leave no group of processes behind, and one of a killed runtime goes with the next", async (context) => {
    const places = ownPlaces();
    if (places === undefined || groups === undefined) return context.skip(noGroups);
    const ended = spawn("true");
    await once(ended, "exit");
    mkdirSync(join(places.memory, `hermes-${ended.pid}-1`));
    await run(open(), ["true"]);
    const left = [places.memory, places.processes].flatMap((folder) =>
      readdirSync(folder).filter(
        (name) => name.startsWith(`hermes-${ended.pid}-`) || name.startsWith(`hermes-${process.pid}-`),
      ),
    );
    expect(left).toEqual([]);
  });

  test("a program that goes on says which limit ended it", async () => {
    const child = await open().spawn({
      command: perl(spread),
      cwd: jail().workspace,
      confine: confine({ memoryBytes }),
      onOutput() {},
    });
    expect(await child.ended).toMatchObject({ reached: ["memory"] });
  });
});

function ownPlaces() {
  const [own, mounts] = ["cgroup", "mountinfo"].map((name) => readFileSync(`/proc/self/${name}`, "utf8"));
  return placesFrom(own ?? "", mounts ?? "");
}
