import { describe, expect, it } from "vitest";
import { judgeCommand } from "../../src/shell/judge.js";

const verdictOf = (command: string): string => judgeCommand(command).verdict;

describe("a variable that is set only perhaps may hold nothing", () => {
  it.each([
    `false && x=ls; \${x:-rm -rf /}`,
    `test -e q && x=ls; \${x-rm -rf /}`,
    `test -e q && x=ls; \${x:=rm -rf /}; $x`,
    `test -e q || x=1; \${x:+rm -rf /}`,
    `test -e q && x=1; \${x+echo} rm -rf /`,
    "if test -e q; then x=echo; fi; $x rm -rf /",
    "if a; then x=echo; elif b; then y=1; else x=echo; fi; $x rm -rf /",
    "a && x=echo || y=1; $x rm -rf /",
    "a || b && x=echo; $x rm -rf /",
    "a || x=echo && b; $x rm -rf /",
    "case $1 in a) x=echo;; esac; $x rm -rf /",
    'case $1 in a) x=echo;; "*") x=ls;; esac; $x rm -rf /',
    "for f in $none; do x=echo; done; $x rm -rf /",
    "while c; do x=echo; done; $x rm -rf /",
    "select i in a b; do x=echo; break; done; $x rm -rf /",
    `for x in $none; do :; done; \${x:-rm -rf /}`,
    "x=rm; for x in $(true); do :; done; $x -rf /",
    "x=rm; c && for x in a; do :; done; $x -rf /",
    `trap x=ls EXIT; \${x:-rm -rf /}`,
  ])("%s", (command) => {
    expect(verdictOf(command)).toBe("hardline");
  });

  it.each([
    ["read", "test -e q && read x <<< echo; $x rm -rf /"],
    ["export", "test -e q && export x=echo; $x rm -rf /"],
    ["printf", "test -e q && printf -v x echo; $x rm -rf /"],
    ["a list", `test -e q && x=(echo); "\${x[@]}" rm -rf /`],
    ["a function", "f() { x=echo; }; test -e q && f; $x rm -rf /"],
    ["a function that may end before", "f() { test -e q && return; x=echo; }; f; $x rm -rf /"],
    ["a loop that may end before", "for i in 1 2; do test -e q && break; x=echo; done; $x rm -rf /"],
  ])("set by %s: %s", (_name, command) => {
    expect(verdictOf(command)).toBe("hardline");
  });

  it.each([
    ["a path", 'test -e q && x=foo; rm -rf "/$x"'],
    ["an edited path", `test -e q && x=foo; rm -rf /\${x%o}`],
    ["many at once", "c && { a=ls b=ls d=ls e=ls f=ls g=ls h=ls; }; $a $b $d $e $f $g $h rm -rf /"],
    ["a folder", 'test -e q && D=build; rm -rf "$D"/*'],
    ["the words of a loop", "test -e q && x=foo; for f in /$x; do rm -rf $f; done"],
    ["another variable", "test -e q && x=echo; y=$x; $y rm -rf /"],
    ["a longer one", 'test -e q && x="echo "; x+="rm -rf /"; $x'],
    ["a longer one that is declared", 'test -e q && x="echo "; declare x+="rm -rf /"; $x'],
    ["another name", "test -e q && x=echo; declare -n r=x; $r rm -rf /"],
    ["a name in a variable", `test -e q && x=echo; r=x; \${!r} rm -rf /`],
    ["a subshell", "test -e q && x=echo; ( $x rm -rf / )"],
    ["a substitution", "test -e q && x=echo; y=$($x rm -rf /)"],
    ["eval", 'test -e q && x=echo; eval "$x rm -rf /"'],
    ["a shell of its own", "bash -c 'test -e q && x=echo; $x rm -rf /'"],
    ["a shell that got it", "test -e q && export x=echo; bash -c '$x rm -rf /'"],
    ["a shell that did not get it", `a && { x=1; bash -c 'test -e q && x=ls; \${x:-rm -rf /}'; }`],
  ])("used in %s: %s", (_name, command) => {
    expect(verdictOf(command)).toBe("hardline");
  });

  it.each([
    ["does nothing outside of a loop", "if c; then x=echo; else break; fi; $x rm -rf /"],
    ["does nothing outside of a function", "if c; then x=echo; else return; fi; $x rm -rf /"],
    ["leaves a function only", "f() { return; }; if c; then x=echo; else f; fi; $x rm -rf /"],
    ["leaves a subshell only", "if c; then x=echo; else (exit 1); fi; $x rm -rf /"],
    ["leaves a process only", "if c; then x=echo; else exit 1 & fi; $x rm -rf /"],
    ["has too many words", "if c; then x=echo; else exit 1 2; fi; $x rm -rf /"],
    ["has a file it cannot open", "if c; then x=echo; else exit > /none/x; fi; $x rm -rf /"],
    ["means something else", "exit() { :; }; if c; then x=echo; else exit; fi; $x rm -rf /"],
    ["comes out of a variable", "a && y=exit || y=ls; if c; then x=echo; else $y; fi; $x rm -rf /"],
  ])("the other branch %s: %s", (_name, command) => {
    expect(verdictOf(command)).toBe("hardline");
  });

  it.each([
    `[ -n "$x" ] && x=echo; \${x:-rm -rf /}`,
    "if c; then D=x; fi; [ -n $D ] && rm -rf $D/*",
    'if c; then D=x; fi; [ -d "$E" ] && rm -rf $D/*',
    'if c; then D=x; fi; [ -z "$D" ] && rm -rf $D/*',
  ])("a condition that does not help: %s", (command) => {
    expect(verdictOf(command)).toBe("hardline");
  });

  it.each(["if c; then (x=echo); fi; $x rm -rf /", "[ -n $x ] || x=echo; $x rm -rf /"])(
    "no milder than for one that is never set: %s",
    (command) => {
      expect(verdictOf(command)).not.toBe("safe");
    },
  );
});

describe("a test that the line has given a meaning of its own proves nothing", () => {
  it.each([
    'test() { :; }; false && x=echo; test -n "$x" && $x rm -rf /',
    'function [ { :; }; false && x=echo; [ -n "$x" ] && $x rm -rf /',
    'alias test=true; false && x=echo; if test -n "$x"; then $x rm -rf /; fi',
  ])("%s", (command) => {
    expect(verdictOf(command)).toBe("hardline");
  });
});

describe("a variable that is set is not taken for an empty one", () => {
  it.each([
    ["inside the branch", "if c; then run=echo; $run rm -rf /; fi"],
    ["inside the loop", "for f in a b; do run=echo; $run rm -rf /; done"],
    ["in the same list", "a && run=echo && $run rm -rf /"],
    ["in every branch", "if a; then x=ls; elif b; then x=du; else x=pwd; fi; $x rm -rf /"],
    ["on both sides", "command -v pnpm && x=echo || x=ls; $x rm -rf /"],
    ["in every case", "case $1 in a) x=ls;; *) x=du;; esac; $x rm -rf /"],
    ["before", "x=ls; a && x=du; $x rm -rf /"],
    ["afterwards", "a && x=du; x=ls; $x rm -rf /"],
    ["if it was empty", '[ -z "$x" ] && x=ls; $x rm -rf /'],
    ["unless it was filled", '[ -n "$x" ] || x=ls; $x rm -rf /'],
    ["if it was empty, in words", "if [[ -z $x ]]; then x=ls; fi; $x rm -rf /"],
    ["in a loop that runs", "for i in 1 2; do x=ls; done; $x rm -rf /"],
    ["or the line ends", "if a; then x=ls; else echo no; exit 1; fi; $x rm -rf /"],
    ["or the line ends here", "a && x=ls || { echo no; exit 1; }; $x rm -rf /"],
    ["or the function ends", "f() { if a; then x=ls; else return 1; fi; $x rm -rf /; }; f"],
    ["in a program position of its own", "test -e q && x=ls; $x -l"],
    ["for options", "if c; then OPTS=-v; fi; make $OPTS all"],
    ["with a default", `test -e q && dir=src; grep -r foo \${dir:-.}`],
    ["in a function both ways", "if a; then rm() { echo; }; else rm() { :; }; fi; rm -rf /"],
  ])("%s: %s", (_name, command) => {
    expect(verdictOf(command)).toBe("safe");
  });

  it.each([
    'for f in *.txt; do n=$(basename $f); rm -rf "$n"/; done',
    "[ -d a ] && D=a && rm -rf $D/x",
    "if a; then D=x; else D=y; fi; rm -rf $D/*",
    'if [ -z "$D" ]; then D=build; fi; rm -rf "$D"/*',
    'if c; then D=x; fi; [ -n "$D" ] && rm -rf "$D"/*',
    'if c; then D=x; fi; if [ -n "$D" ] && [ -d "$D" ]; then rm -rf "$D"/*; fi',
    'if c; then D=x; fi; if [ -z "$D" ]; then echo no; else rm -rf "$D"/*; fi',
    'if c; then D=x; fi; test -n "$D" || exit 1; rm -rf "$D"/*',
    'if c; then D=x; fi; [ ! -d "$D" ] || rm -rf "$D"/*',
    `if c; then D=x; fi; rm -rf "\${D:?}"/*`,
    `if c; then D=x; fi; D=\${D:-y}; rm -rf $D/*`,
    "if c; then D=x; else D=$(mktemp -d) || exit 1; fi; rm -rf $D/*",
    "while true; do D=x; break; done; rm -rf $D/*",
    "f() { local d; if c; then d=1; rm -rf $d/*; fi; }; f",
    'f() { local D=$1; [ -d "$D" ] || return 1; rm -rf "$D"/*; }; f build',
    "c && set -- a && rm -rf $1/*",
    "cd / && cd srv/app && rm -rf build",
    "cd /; if c; then cd srv; else exit 1; fi; rm -rf build",
  ])("a person may still allow %s", (command) => {
    expect(verdictOf(command)).toBe("danger");
  });
});

describe("what is unset", () => {
  it.each([
    `x=ls; unset x; \${x-rm -rf /}`,
    `x=ls; false || unset x; \${x-rm -rf /}`,
    `x=ls; f() { local x; \${x:-rm -rf /}; }; f`,
    `x=; y=\${x:=rm}; $x -rf /`,
  ])("%s", (command) => {
    expect(verdictOf(command)).toBe("hardline");
  });
});

describe("other things that happen only perhaps, or elsewhere", () => {
  it.each([
    ["a function", "false && rm() { echo; }; rm -rf /"],
    ["another function", "f() { rm -rf /; }; false && f() { ls; }; f"],
    ["an alias", "false && alias rm=echo; rm -rf /"],
    ["an alias that no script would use", "alias rm=echo; rm -rf /"],
    ["another alias", "alias ls='rm -rf /'; false && alias ls=echo; ls"],
    ["a folder", "cd /; false && cd /tmp/x; rm -rf *"],
    ["a folder in a branch", "cd /; if c; then cd /tmp/x; fi; rm -rf *"],
    ["a folder in a case", "cd /; case $1 in a) cd /tmp/x;; esac; rm -rf *"],
    ["a folder in a loop", "cd /; for f in $none; do cd /tmp/x; done; rm -rf *"],
    ["a folder a loop may end in", "for i in 1 2; do cd /; c && break; cd /tmp/x; done; rm -rf *"],
    ["a folder a function may end in", "f() { cd /; c && return; cd /tmp/x; }; f; rm -rf *"],
    ["the name of the folder", 'cd /; test -e q && cd /tmp/x; rm -rf "$PWD"/*'],
    ["the printed folder", 'cd /; test -e q && cd /tmp/x; rm -rf "$(pwd)"/*'],
    ["the words of the shell", 'set -- rm; false && set -- echo; "$@" -rf /'],
    ["fewer words of the shell", "set -- echo rm; test -e q && shift; $1 -rf /"],
    ["words set by eval", "eval 'set -- rm'; \"$@\" -rf /"],
    ["a folder that is entered before the end", "trap 'rm -rf *' EXIT; cd /"],
    ["words set before the end", `trap '"$@" -rf /' EXIT; set -- rm`],
    ["a file", "echo 'rm -rf /' > x.sh; false && echo ls > x.sh; sh x.sh"],
    ["a process of its own", "x=rm; x=ls & $x -rf /"],
    ["a program that is no shell", `env export x=ls; \${x:-rm -rf /}`],
  ])("%s: %s", (_name, command) => {
    expect(verdictOf(command)).toBe("hardline");
  });

  it("many conditions in a row stay cheap to judge", () => {
    const some = (piece: string): string => Array.from({ length: 900 }, () => piece).join("");
    expect(verdictOf(some("a && x=1 || x=2; echo $x; "))).toBe("safe");
    expect(verdictOf(`a ${some("&& x=1 || x=2 ")}; echo $x`)).toBe("safe");
    expect(verdictOf(some("a && cd b; "))).toBe("safe");
  });
});
