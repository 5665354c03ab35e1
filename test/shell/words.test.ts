import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { quoteText } from "../../src/shell/read/canonical.js";
import { expandBraces } from "../../src/shell/read/expand-braces.js";
import { run, words } from "./unfolded.js";

describe("words as a program receives them", () => {
  it.each([
    ["quotes and backslashes", String.raw`x 'a b' "c d" e\ f g''h i"j"k`, ["a b", "c d", "e f", "gh", "ijk"]],
    ["escapes of double quotes", String.raw`x "a\"b" "c\$d" "e\f"`, ['a"b', "c$d", String.raw`e\f`]],
    ["$'…'", String.raw`x $'a\tb' $'\x72m' $'\u0041'`, ["a\tb", "rm", "A"]],
    ["joined lines", "x r\\\nm", ["rm"]],
    ["empty words stay when quoted", `x "" '' $E`, ["", "", "?"]],
    [
      "braces",
      "x {a,b}c {1..3} z{,1} {a,b}{1,2}",
      ["ac", "bc", "1", "2", "3", "z", "z1", "a1", "a2", "b1", "b2"],
    ],
    ["braces with quotes", `x {"a b",c}`, ["a b", "c"]],
    ["quoted braces stay", `x "{a,b}" '{a,b}'`, ["{a,b}", "{a,b}"]],
    ["nested braces", "x {a,{b,c}d}", ["a", "bd", "cd"]],
    ["known variables", `A=1; x $A "$A" \${A}b`, ["1", "1", "1b"]],
    ["splitting", `A='1 2'; x $A "$A"`, ["1", "2", "1 2"]],
    ["the separator variable", `x a\${IFS}b`, ["a", "b"]],
    ["other separators", `IFS=,; A=1,2; x $A`, ["1", "2"]],
    ["defaults", `x \${A:-b} \${A-c}`, ["b", "c"]],
    ["a set variable beats its default", `A=1; x \${A:-b} \${A:+c}`, ["1", "c"]],
    ["assigned defaults", `x \${A:=b} $A`, ["b", "b"]],
    ["removal", `A=a.tar.gz; x \${A%.gz} \${A%%.*} \${A#a.} \${A##*.}`, ["a.tar", "a", "tar.gz", "gz"]],
    ["replacement", `A=aXbX; x \${A/X/-} \${A//X/-} \${A/#a/z} \${A/%X/z}`, ["a-bX", "a-b-", "zXbX", "aXbz"]],
    ["slices", `A=abcdef; x \${A:1:2} \${A:3} \${A: -2} \${A:0:-1}`, ["bc", "def", "ef", "abcde"]],
    ["letter case", `A=aB; x \${A^^} \${A,,} \${A^} \${A,}`, ["AB", "ab", "AB", "aB"]],
    ["length", `A=abc; x \${#A}`, ["3"]],
    ["indirection", `A=B; B=c; x \${!A}`, ["c"]],
    [
      "arrays",
      `A=(1 '2 3'); x \${A[0]} "\${A[1]}" "\${A[@]}" \${#A[@]} $A`,
      ["1", "2 3", "1", "2 3", "2", "1"],
    ],
    ["grown arrays", `A=(1); A+=(2); A[2]=3; x "\${A[@]}"`, ["1", "2", "3"]],
    ["appended text", "A=r; A+=m; x $A", ["rm"]],
    ["positional parameters", `set -- a 'b c'; x $1 "$2" "$@" $#`, ["a", "b c", "a", "b c", "2"]],
    ["the home folder", `x ~ ~/a $HOME "$HOME/b" \${HOME}/c`, ["~", "~/a", "~", "~/b", "~/c"]],
    ["a slash cut out of a path", `x \${PATH:0:1} \${HOME:0:1}`, ["/", "/"]],
    ["arithmetic on numbers", "x $((1+2*3)) $((10/3)) $((a+1))", ["7", "3", "?"]],
    ["foreseen output", "x $(echo a b) \"$(printf '%s-' 1 2)\" `echo c`", ["a", "b", "1-2-", "c"]],
    ["the name of a program", "x $(which rm) $(command -v rm)", ["rm", "rm"]],
    ["output nobody knows", `x $(date) a$(date)b`, ["?", "a?b"]],
    ["unset variables keep what is around them", `x "\${ARTIFACTS}/"* a$B/c`, ["?/*", "a?/c"]],
  ])("%s", (_name, line, expected) => {
    expect(words(line)).toEqual(expected);
  });

  it("patterns are marked, quoted ones are not", () => {
    const [command] = run(`x *.ts "*.js" \\? [ab] 'a'*`).commands;
    expect(command?.args.map((word) => word.glob)).toEqual([true, false, false, true, true]);
  });

  it("unknown pieces say where they come from", () => {
    const args = run(`x "Bearer $API_KEY" "$(cat key)" plain`).commands.at(-1)?.args;
    expect(args?.map((word) => word.variables)).toEqual([["API_KEY"], undefined, undefined]);
    expect(args?.map((word) => word.outputs?.map((command) => command.program))).toEqual([
      undefined,
      ["cat"],
      undefined,
    ]);
  });

  it("full paths of the person's folders count like their short names", () => {
    const options = { home: "/home/sam", hermesHome: "/home/sam/.hermes" };
    const [command] = run(
      "x /home/sam /home/sam/a /home/sammy if=/home/sam/b /home/sam/.hermes/c",
      options,
    ).commands;
    expect(command?.args.map((word) => word.text)).toEqual([
      "~",
      "~/a",
      "/home/sammy",
      "if=~/b",
      "~/.hermes/c",
    ]);
  });

  it("every text survives quoting", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary-ascii" }), (text) => {
        fc.pre(!text.includes("\0"));
        expect(words(`x ${quoteText(text)}`)).toEqual([text]);
      }),
    );
  });

  it("words have their place in the line", () => {
    const line = `x  'a b' $(echo c)`;
    const args = run(line).commands.at(-1)?.args;
    expect(args?.map((word) => word.span && line.slice(...word.span))).toEqual(["'a b'", "$(echo c)"]);
  });
});

describe("values that a variable may have", () => {
  const programs = (line: string): (string | undefined)[] =>
    run(line).commands.map((command) => command.program);

  it.each([
    ["both branches", "if a; then X=b; else X=c; fi; $X", ["b", "c"]],
    ["both sides of a list", "a && X=b || X=c; $X", ["b", "c"]],
    ["every word of a loop", "for X in b c; do $X; done", ["b", "c"]],
    ["every line that is read", "printf 'b\\nc\\n' | while read X; do $X; done", ["b", "c"]],
    ["what a later round of a loop sets", "X=b; while a; do $X; X=c; done", ["b", "c"]],
    ["what is there only if another variable is", `\${X:+b} c`, ["b", "c"]],
    ["what a case sets", "case $1 in 1) X=b;; *) X=c;; esac; $X", ["b", "c"]],
  ])("%s", (_name, line, expected) => {
    expect(programs(line)).toEqual(expect.arrayContaining(expected));
  });

  it("an assignment that surely happens replaces what was there", () => {
    expect(programs("X=b; X=c; $X")).not.toContain("b");
  });

  it.each([
    ["items in the order of their numbers", `a=([2]=c [0]=a [1]=b); x "\${a[@]}"`, ["a", "b", "c"]],
    ["items by name", `declare -A m=([k]=v [l]=w); x \${m[l]} \${m[k]}`, ["w", "v"]],
    ["names of items", `declare -A m=([k]=v [l]=w); x "\${!m[@]}"`, ["k", "l"]],
    ["items given one by one", `m[3]=d; m[1]=b; x "\${m[@]}" \${m[3]}`, ["b", "d", "d"]],
    ["more items", `a=(b); a+=(c); x "\${a[@]}"`, ["b", "c"]],
    ["an item nobody can name", `a=(b c); x \${a[$I]}`, ["?"]],
    ["parts of a line", `IFS=: read -ra a <<< b:c; x \${a[1]} \${a[0]}`, ["c", "b"]],
    ["later words", `set -- a b c; x "\${@:2}"`, ["b", "c"]],
    ["some words", `set -- a b c; x "\${@:2:1}"`, ["b"]],
    ["a name for another", "declare -n r=v; v=1; x $r", ["1"]],
    ["an assignment through a name", "declare -n r=v; r=1; x $v", ["1"]],
    ["a name for an item", "a=(b c); declare -n r='a[1]'; x $r", ["c"]],
    ["a name for itself", "declare -n r=r; x $r", ["?"]],
    ["a local array ends with its function", `c=(a); f() { local c=(b); }; f; x "\${c[@]}"`, ["a"]],
  ])("%s", (_name, line, expected) => {
    expect(words(line)).toEqual(expected);
  });

  it("an assignment in front of a command ends with it", () => {
    expect(words("A=1; A=2 true; x $A")).toEqual(["1"]);
  });

  it("a subshell keeps its variables to itself", () => {
    expect(words("A=1; (A=2); x $A")).toEqual(["1"]);
  });
});

describe("braces", () => {
  it("too many words are refused instead of made", () => {
    expect(expandBraces("{a,b}".repeat(10))).toHaveLength(1024);
    expect(expandBraces("{a,b}".repeat(11))).toBeUndefined();
    expect(expandBraces("{a,".repeat(40) + "}".repeat(40))).toBeUndefined();
  });

  it("long ranges are stood for by their ends", () => {
    expect(expandBraces("{1..9000}")).toHaveLength(4);
  });
});
