import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LOGIN_SHELL_TEST, loginShellLine } from "../../src/env/ssh/transport.js";
import { findProgram, sshServerMissing } from "../support/ssh-server.js";
import { optionsFor, run, serverForTest, transportForTest } from "./support.js";

const NASTY = [
  "",
  " ",
  "it's",
  'say "x"',
  "$HOME `id` $(id)",
  "!! !e",
  "a\\nb\\\\c\\'",
  "line\nbreak\n",
  "~ * ? [a-z] {1,2}",
  "# & ; | < > ( ) ^ %",
  "ünï→😀",
  "\t\r\x07\x7f",
  "-n",
  "\\",
  "'",
  "!",
];

/** What the arguments look like after a login shell has read the line. */
function throughShell(shell: string, line: string): string[] {
  const { stdout } = spawnSync(shell, ["-c", line], {
    env: { PATH: process.env.PATH, HOME: "/nonexistent" },
  });
  return stdout.toString("utf8").split("\0").slice(0, -1);
}

const argument = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: fc.constantFrom("'", "\\", "!", "\n", '"', "$", "`", "a", " ", "0", "é") }),
  fc.constantFrom(...NASTY),
);
const argumentsOf = fc
  .array(argument, { maxLength: 6 })
  .map((words) => words.map((word) => word.replaceAll("\0", "").toWellFormed()));

/** zsh is a bonus: what it reads is what the other POSIX shells read. */
const SHELLS = ["bash", "dash", "tcsh", "fish", ...(findProgram("zsh") === undefined ? [] : ["zsh"])];
const POSIX = new Set(["bash", "dash", "zsh"]);

describe.each(SHELLS)("the login shell %s", (shell) => {
  const missing = findProgram(shell) === undefined;

  it.skipIf(missing)("turns the line back into exactly the arguments", () => {
    fc.assert(
      fc.property(argumentsOf, (words) => {
        const line = loginShellLine(["printf", "%s\\0", "first", ...words], "any");
        expect(throughShell(shell, line)).toEqual(["first", ...words]);
      }),
      { numRuns: 40, examples: [[NASTY]] },
    );
  });

  // Not skipped but absent for the others: they do not understand it.
  if (POSIX.has(shell)) {
    it.skipIf(missing)("understands the quoting of sh", () => {
      fc.assert(
        fc.property(argumentsOf, (words) => {
          const line = loginShellLine(["printf", "%s\\0", "first", ...words], "posix");
          expect(throughShell(shell, line)).toEqual(["first", ...words]);
        }),
        { numRuns: 20, examples: [[NASTY]] },
      );
    });
  }

  it.skipIf(missing)("is told from others by the test word", () => {
    const { stdout } = spawnSync(shell, ["-c", LOGIN_SHELL_TEST.line]);
    expect(stdout.toString("utf8") === LOGIN_SHELL_TEST.answer).toBe(POSIX.has(shell));
  });

  it.skipIf(missing || sshServerMissing() !== undefined)("runs programs over ssh", async () => {
    const server = await serverForTest({ loginShell: findProgram(shell) ?? shell });
    const transport = transportForTest(optionsFor(server));
    const printed = await run(transport, ["printf", "%s\\0", ...NASTY]);
    expect(printed.stdout.split("\0").slice(0, -1)).toEqual(NASTY);
    expect((await run(transport, ["sh", "-c", "cat; exit 9\n"], { stdin: "in" })).end).toEqual({
      exitCode: 9,
    });
  });
});

describe("a line for a login shell", () => {
  it("is refused when the system could not start it", () => {
    expect(() => loginShellLine(["echo", "x".repeat(140_000)], "posix")).toThrow(/too large/);
    expect(() => loginShellLine(["echo", "a\0b"], "any")).toThrow(/NUL/);
  });
});
