import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { main, tempFolder } from "./hermes.js";

/** The built launcher with two small chunks of its own; the second one is what `say` changes. */
function program() {
  const folder = tempFolder();
  const chunk = join(folder, "chunks", "word.js");
  const cache = join(folder, ".cache");
  mkdirSync(join(folder, "chunks"));
  copyFileSync(main, join(folder, "main.js"));
  writeFileSync(join(folder, "package.json"), '{"type":"commonjs"}');
  writeFileSync(
    join(folder, "chunks", "start.js"),
    `const { join } = require("node:path");
     require("./word.js").say();
     process.exitCode = process.argv[3] === "fail" ? 1 : 0;`,
  );
  const time = new Date("2026-01-01");
  return {
    cache,
    /** Words of one length written at one time cannot be told apart but by reading them. */
    say(word: string, changed = time): void {
      writeFileSync(chunk, `exports.say = () => console.log("${word}");`);
      utimesSync(chunk, changed, changed);
    },
    run: (...args: readonly string[]) =>
      spawnSync(process.execPath, [join(folder, "main.js"), ...args], { encoding: "utf8" }).stdout.trim(),
    file: () => join(cache, readdirSync(cache)[0] ?? ""),
  };
}

describe("the compiled code of a command", () => {
  it("is kept for the next run, for the owner alone", () => {
    const { say, run, cache, file } = program();
    say("one");
    expect(run("call")).toBe("one");
    if (process.getuid !== undefined) {
      expect(statSync(cache).mode & 0o777).toBe(0o700);
      expect(statSync(file()).mode & 0o777).toBe(0o600);
    }
    // Only what was kept can still say this.
    say("two");
    expect(run("--json", "call", "x")).toBe("one");
    expect(run("tools")).toBe("two");
  });

  it("is made anew when the file was changed", () => {
    const { say, run } = program();
    say("one");
    run("call");
    say("two", new Date("2026-01-02"));
    expect(run("call")).toBe("two");
    say("six", new Date("2026-01-02"));
    expect(run("call")).toBe("two");
  });

  it("is not kept by a command that failed, or by one whose name cannot be told", () => {
    const { say, run, cache } = program();
    say("one");
    expect(run("call", "fail")).toBe("one");
    expect(run("../call")).toBe("one");
    expect(existsSync(cache)).toBe(false);
  });

  it("that others may write to, or that lies elsewhere, is not run", () => {
    const { say, run, cache, file } = program();
    const poisoned = (prepare: () => void) => {
      say("one", new Date());
      run("call");
      say("two", statSync(join(cache, "..", "chunks", "word.js")).mtime);
      prepare();
      return run("call");
    };
    expect(poisoned(() => undefined)).toBe("one");
    expect(poisoned(() => chmodSync(file(), 0o620))).toBe("two");
    expect(poisoned(() => chmodSync(cache, 0o777))).toBe("two");
    chmodSync(cache, 0o700);
    expect(
      poisoned(() => {
        renameSync(file(), join(cache, "..", "elsewhere"));
        symlinkSync(
          join(cache, "..", "elsewhere"),
          join(cache, `${process.versions.v8}-${process.arch}-call`),
        );
      }),
    ).toBe("two");
  });

  it("that is damaged does no harm", () => {
    const { say, run, file } = program();
    say("one");
    run("call");
    for (const damage of ["", "x", "\xff\xff\xff\x7f[]", Buffer.alloc(2_000, 1)]) {
      writeFileSync(file(), damage);
      expect(run("call")).toBe("one");
    }
  });

  it("of the real program gives the same answers", () => {
    const home = tempFolder();
    const answer = () =>
      execFileSync(process.execPath, [main, "call", "sleep", "seconds=0", "--home", home], {
        encoding: "utf8",
      });
    expect(answer()).toBe(answer());
  });
});
