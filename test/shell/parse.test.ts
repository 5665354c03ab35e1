import { describe, expect, it } from "vitest";
import { normalise } from "../../src/shell/read/normalise.js";
import { parseShell } from "../../src/shell/read/parse.js";

describe("reading shell text", () => {
  it.each([
    "cat <<EOF\nnever closed",
    "cat <<A <<B\n1\nA\n2\nB",
    "case x in (a) ;& b) ;;& esac",
    "echo @(a|b) !(c)",
    "[[ a =~ ^(b|c)$ ]]",
    "x=$(cat <<'E'\n)\nE\n)",
    "echo $((a); (b))",
    "exec {fd}>x",
    `echo \${x#*[)]}`,
    "Remove-Item -Recurse -Force C:\\temp",
    "del /s /q C:\\temp",
    "echo a\\",
    "# only a comment",
    "",
    `curl -d '${'{"a":{"b":[1,2]}},'.repeat(400)}' http://h`,
    `echo ${`\${a}`.repeat(800)}`,
  ])("accepts what bash accepts: %s", (text) => {
    expect(parseShell(text)).toBeDefined();
  });

  it.each([
    'echo "open',
    "echo 'open",
    "ls )",
    "ls &&",
    "ls |",
    "if x; fi",
    "fi",
    "{ls;}",
    "ls;;",
    "echo $(ls",
    'echo "$(if)"',
    "echo `case`",
    "x <(fi)",
    "((1+",
  ])("refuses what bash refuses, also deep inside: %s", (text) => {
    expect(parseShell(text)).toBeUndefined();
  });

  it("refuses thickets that would take the parser forever", () => {
    expect(parseShell(`echo ${"{".repeat(50_000)}`)).toBeUndefined();
    expect(parseShell(`echo ${"$(".repeat(50_000)}`)).toBeUndefined();
    expect(parseShell(`echo "$(echo ${"{a,".repeat(5_000)})"`)).toBeUndefined();
  });
});

describe("text as a reader sees it", () => {
  it.each([
    ["colours", "\x1b[31mrm\x1b[0m a", "rm a"],
    ["titles", "\x1b]0;harmless\x07rm a", "rm a"],
    ["8-bit sequences", "\x9b31mrm a", "rm a"],
    ["zero-width characters", "r\u200b\u200dm a", "rm a"],
    ["direction marks", "r\u202em\u202c a", "rm a"],
    ["tags", "r\u{e0061}m a", "rm a"],
    ["full-width letters", "ｒｍ －ｒｆ", "rm -rf"],
    ["odd blanks", "rm\u00a0-rf\u3000a", "rm -rf a"],
    ["dashes", "rm –rf —x −y", "rm -rf -x -y"],
    ["carriage returns", "ls\rrm a", "ls\nrm a"],
    ["line separators", "ls\u2028rm a", "ls\nrm a"],
    ["NUL", "r\0m a", "rm a"],
  ])("undoes %s", (_name, written, seen) => {
    expect(normalise(written)?.text).toBe(seen);
  });

  it("leaves alone what looks like what it is", () => {
    expect(normalise("ls -l\t'ä' | cat\n".replace("ä", "a"))).toBeUndefined();
    expect(normalise("echo grün ✓")).toBeUndefined();
  });

  it("knows where every character stood", () => {
    const written = "\x1b[31mr\u200bm\x1b[0m ｘ";
    const seen = normalise(written);
    expect(seen?.toOriginal(0)).toBe(written.indexOf("r"));
    expect(seen?.toOriginal(1)).toBe(written.indexOf("m", 6));
    expect(seen?.toOriginal(3)).toBe(written.indexOf("ｘ"));
    expect(seen?.toOriginal(99)).toBe(written.length);
  });
});
