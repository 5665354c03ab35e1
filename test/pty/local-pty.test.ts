import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { needs } from "../support/needs.js";
import { endAll, eventually, inTerminal } from "./support.js";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-pty-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(endAll);

const linux = process.platform === "linux";

function numbersTo(last: number): string {
  return Array.from({ length: last }, (_, index) => `${index + 1}\n`).join("");
}

function isGone(pid: string): boolean {
  const line = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, "latin1") : ") Z";
  return /\) [ZX]/.test(line);
}

function livingChildren(): readonly string[] {
  return execFileSync("ps", ["-o", "stat=,args=", "--ppid", String(process.pid)], { encoding: "utf8" })
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.includes("ps -o"));
}

describe("a program in a terminal", () => {
  it("sees a terminal of the size that was asked for, and of its new size", async () => {
    const { process: one, output } = await inTerminal("tty; stty size; echo $TERM; read x; stty size", {
      size: { columns: 91, rows: 17 },
      env: { COLUMNS: "5", LINES: "6" },
    });
    await eventually(output, (text) => text.includes("xterm-256color"));
    expect(output()).toMatch(/^\/dev\/(?:pts\/|tty)/);
    expect(output()).toContain("17 91");
    one.resize({ columns: 120, rows: 40 });
    await one.write("\n");
    expect(await one.ended).toEqual({ exitCode: 0 });
    expect(output()).toContain("40 120");
  });

  it("ends with its exit code, or 128 and the number of its signal", async () => {
    const codes = await Promise.all(
      ["exit 3", "kill -KILL $$", "kill -TERM $$"].map(
        async (line) => (await inTerminal(line)).process.ended,
      ),
    );
    expect(codes.map((end) => end.exitCode)).toEqual([3, 137, 143]);
  });

  it("that does not exist ends as a shell would have it", async () => {
    const { process: one, output } = await inTerminal(["no-such-program-here", "x"]);
    expect((await one.ended).exitCode).toBe(127);
    expect(output()).toContain("no-such-program-here");
  });

  it("prints raw bytes, all of which arrive before its end is told", async () => {
    const { process: one, bytes } = await inTerminal("stty raw; printf '\\377\\000\\n'; seq 1 200000");
    await one.ended;
    const text = bytes().toString("latin1");
    expect(text.startsWith("\u00ff\u0000\n")).toBe(true);
    expect(text.slice(3)).toBe(numbersTo(200_000));
  });

  it("waits while its output is paused, and loses none of it", async () => {
    const { process: one, bytes } = await inTerminal("stty raw; seq 1 3000; exit 5");
    one.pauseOutput(true);
    await delay(600);
    const before = bytes().length;
    one.pauseOutput(false);
    expect(await one.ended).toEqual({ exitCode: 5 });
    expect(bytes().toString()).toBe(numbersTo(3_000));
    expect(before).toBeLessThan(bytes().length);
  });

  it("is told about its end although something it left holds the terminal", async () => {
    const { process: one } = await inTerminal("trap '' HUP; sleep 60 & disown; echo left; exit 4");
    const before = Date.now();
    expect(await one.ended).toEqual({ exitCode: 4 });
    expect(Date.now() - before).toBeLessThan(5_000);
    expect(await one.end()).toEqual([]);
  });

  it.runIf(linux)("cannot reach the terminals of others", async () => {
    const other = await inTerminal(["sleep", "30"]);
    const { process: one, output } = await inTerminal(["ls", "-l", "/proc/self/fd"]);
    await one.ended;
    expect(output()).not.toContain("ptmx");
    expect(await other.process.end()).toEqual([]);
  });

  it("ends with everything it started, whatever session that is in", async () => {
    const marker = join(folder, "pids");
    const { process: one } = await inTerminal(
      `trap '' HUP TERM; setsid sleep 61 & (setsid bash -c 'echo $$ >> ${marker}; trap "" HUP TERM; sleep 62' &) ; echo $$ >> ${marker}; wait; sleep 63`,
    );
    await eventually(
      () => (existsSync(marker) ? readFileSync(marker, "utf8").trim().split("\n") : []),
      (pids) => pids.length === 2,
    );
    expect(await one.end()).toEqual([]);
    expect((await one.ended).exitCode).toBe(137);
    for (const pid of readFileSync(marker, "utf8").trim().split("\n")) {
      expect(isGone(pid), pid).toBe(true);
    }
  });

  it("that is an interactive shell ends by the hangup, not by the last resort", async () => {
    const { process: one, output } = await inTerminal(["bash", "--noprofile", "--norc", "-i"]);
    await eventually(output, (text) => text.includes("$") || text.includes("#"));
    expect(await one.end()).toEqual([]);
    expect(await one.ended).toEqual({ exitCode: 129 });
  });
});

describe("typing", () => {
  it("a megabyte of lines loses nothing and keeps this process responsive", async () => {
    const target = join(folder, "typed");
    const { process: one } = await inTerminal(`stty -echo; echo ready; sleep 0.2; cat > ${target}`);
    const data = `${randomBytes(600).toString("base64")}\n`.repeat(1_300);
    let late = 0;
    let last = performance.now();
    const timer = setInterval(() => {
      late = Math.max(late, performance.now() - last - 10);
      last = performance.now();
    }, 10);
    await one.write(data);
    await one.closeInput();
    expect(await one.ended).toEqual({ exitCode: 0 });
    clearInterval(timer);
    expect(readFileSync(target, "utf8") === data).toBe(true);
    expect(late).toBeLessThan(1_000);
  }, 60_000);

  it("a line that the terminal would cut is refused, unless the program reads single characters", async () => {
    const lines = await inTerminal("cat > /dev/null");
    await eventually(
      () => lines.process.waitsForInput(),
      (waits) => waits !== false,
    );
    await expect(lines.process.write("x".repeat(4_096))).rejects.toMatchObject({ code: "invalid_arguments" });
    await expect(lines.process.write(`${"x".repeat(4_095)}\n`)).resolves.toBeUndefined();
    await lines.process.end();
    const raw = await inTerminal("stty raw -echo; echo ready; head -c 9000 | wc -c");
    await eventually(raw.output, (text) => text.includes("ready"));
    await raw.process.write("x".repeat(9_000));
    await raw.process.ended;
    expect(raw.output()).toContain("9000");
  });

  it("the end of input after half a line sends the line off and then ends it", async () => {
    const { process: one, output } = await inTerminal("stty -echo; cat; echo ended");
    await eventually(
      () => one.waitsForInput(),
      (waits) => waits !== false,
    );
    await one.write("half");
    await one.closeInput();
    await one.ended;
    expect(output()).toBe("halfended\r\n");
  });

  it("ctrl-c interrupts what is in the foreground", async () => {
    const { process: one, output } = await inTerminal("trap 'echo caught; exit 9' INT; echo go; sleep 20");
    await eventually(output, (text) => text.includes("go"));
    await one.write("\u0003");
    expect(await one.ended).toEqual({ exitCode: 9 });
    expect(output()).toContain("caught");
  });

  it("into a program that has ended is an error that says so", async () => {
    const { process: one } = await inTerminal("true");
    await one.ended;
    await expect(one.write("x")).rejects.toThrow(/has ended/);
    await expect(one.closeInput()).resolves.toBeUndefined();
    expect(await one.waitsForInput()).toBe(false);
  });
});

describe.runIf(linux)("two hundred starts", () => {
  it("leave no process, no zombie and no descriptor", async (context) => {
    needs(context, "ps");
    const descriptors = () => readdirSync("/proc/self/fd").filter((name) => isTerminal(name)).length;
    const before = descriptors();
    for (let round = 0; round < 20; round += 1) {
      const ends = await Promise.all(
        Array.from({ length: 10 }, async (_, index) => (await inTerminal(`exit ${index}`)).process.ended),
      );
      expect(ends.map((end) => end.exitCode)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    }
    expect(descriptors()).toBe(before);
    await eventually(livingChildren, (children) => !children.some((line) => /^Z|bash/.test(line)));
  }, 60_000);
});

function isTerminal(descriptor: string): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`).startsWith("/dev/ptmx");
  } catch {
    return false;
  }
}
