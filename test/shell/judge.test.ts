import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { judgeCommand } from "../../src/shell/judge.js";

const verdictOf = (line: string): string => judgeCommand(line).verdict;

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Ways to write or carry a command that leave its meaning as it is. */
const DISGUISES: readonly [name: string, disguise: (command: string) => string][] = [
  ["as it is", (command) => command],
  ["quoted letters", (command) => command.replace(/^(\w)(\w*)/, "$1''$2")],
  ["backslash", (command) => `\\${command}`],
  ["absolute path", (command) => `/bin/${command}`],
  ["joined lines", (command) => command.replace(/^(\w)/, "$1\\\n")],
  ["tabs", (command) => command.replaceAll(" ", "\t")],
  ["separator variable", (command) => command.replaceAll(" ", `\${IFS}`)],
  ["variable", (command) => command.replace(/^(\w+)/, "X=$1; $X")],
  ["default value", (command) => command.replace(/^(\w+)/, `\${X:-$1}`)],
  ["substitution", (command) => command.replace(/^(\w+)/, "$(echo $1)")],
  ["subshell", (command) => `(${command})`],
  ["group in the background", (command) => `{ ${command}; } &`],
  ["after a list", (command) => `true && ${command} || false`],
  ["second line", (command) => `ls\n${command}`],
  ["branch", (command) => `if true; then ${command}; fi`],
  ["loop", (command) => `for i in 1 2; do ${command}; done`],
  ["function", (command) => `go() { ${command}; }; go`],
  ["inside double quotes", (command) => `echo "now: $( ${command} )"`],
  ["backticks", (command) => `echo \`${command.replace(/[\\`$]/g, "\\$&")}\``],
  ["sudo", (command) => `sudo -n ${command}`],
  ["wrappers", (command) => `env A=1 nohup nice -n 5 timeout 30 ${command}`],
  ["sh -c", (command) => `sh -c ${quoted(command)}`],
  ["shell in a shell", (command) => `bash -lc ${quoted(`sh -c ${quoted(command)}`)}`],
  ["eval", (command) => `eval ${quoted(command)}`],
  ["here-string", (command) => `bash <<< ${quoted(command)}`],
  ["here-document", (command) => `bash -s <<'EOF'\n${command}\nEOF`],
  ["pipe", (command) => `echo ${quoted(command)} | sh`],
  ["base64", (command) => `echo ${Buffer.from(command).toString("base64")} | base64 -d | bash`],
  ["hexadecimal", (command) => `echo ${Buffer.from(command).toString("hex")} | xxd -r -p | sh`],
  ["backwards", (command) => `echo ${quoted([...command].reverse().join(""))} | rev | sh`],
  ["process substitution", (command) => `source <(echo ${quoted(command)})`],
  ["written to a file", (command) => `echo ${quoted(command)} > s.sh; bash s.sh`],
  ["trap", (command) => `trap ${quoted(command)} EXIT`],
  ["another host", (command) => `ssh host ${quoted(command)}`],
  ["zero-width character", (command) => command.replace(/^(\w)/, "$1\u200b")],
  ["colour codes", (command) => `\x1b[1m${command}\x1b[0m`],
  [
    "full-width letters",
    (command) =>
      command.replace(/^\w+/, (name) =>
        name.replace(/[a-z]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0)),
      ),
  ],
  ["odd blanks", (command) => command.replaceAll(" ", "\u00a0")],
  ["carriage return", (command) => `ls\r${command}`],
  ["vertical tab", (command) => command.replaceAll(" ", "\v")],
  ["shell told to read its input", (command) => `echo ${quoted(command)} | bash -`],
  ["options in front of that", (command) => `printf '%s\\n' ${quoted(command)} | sudo sh -x -`],
  ["input by another name", (command) => `sh /proc/self/fd/0 <<< ${quoted(command)}`],
  ["declared array", (command) => `declare -a c=(${command}); "\${c[@]}"`],
  ["local array", (command) => `go() { local c=(${command}); "\${c[@]}"; }; go`],
  ["numbered items", (command) => `${numbered(command)}; "\${c[@]}"`],
  ["named items", (command) => command.replace(/^(\w+)/, "declare -A c=([k]=$1); $${c[k]}")],
  ["array that is read", (command) => `IFS=, read -ra c <<< '${command.replaceAll(" ", ",")}'; "\${c[@]}"`],
  ["name of a name", (command) => `declare -n r=c; c=${quoted(command)}; eval "$r"`],
  ["later words of a function", (command) => `go() { "\${@:2}"; }; go first ${command}`],
  ["words between brackets", (command) => `echo a[$(${command})]`],
  ["slash in a pattern", (command) => `echo \${x/$(echo /; ${command})/b}`],
  ["message of a missing variable", (command) => `echo \${x:?$(${command})}`],
  ["prompt", (command) => `x='$(${command})'; echo "\${x@P}"`],
  ["shown lines", (command) => `PS4='$(${command})'; set -x; ls`],
  ["subscript in a calculation", (command) => `x='a[$(${command})]'; echo $((x))`],
  ["subscript in a question", (command) => `test -v 'a[$(${command})]'`],
  ["subscript of a printed variable", (command) => `printf -v 'a[$(${command})]' x`],
  ["input of the whole shell", (command) => `exec <<< ${quoted(command)}; bash`],
  ["numbered input", (command) => `exec 3<<< ${quoted(command)}; sh <&3`],
  ["handler for mistyped words", (command) => `command_not_found_handle() { ${command}; }; zzz`],
  ["two aliases", (command) => `alias nice='nice '; alias z=${quoted(command)}\nnice z`],
  ["file written by tee", (command) => `echo ${quoted(command)} | tee s.sh; . ./s.sh`],
  ["file written by dd", (command) => `dd of=s.sh <<< ${quoted(command)}; sh s.sh`],
  ["file copied from the input", (command) => `cp /dev/stdin s.sh <<< ${quoted(command)}; sh s.sh`],
  ["file written in a subshell", (command) => `(echo ${quoted(command)} > s.sh); sh s.sh`],
  ["link to the program", (command) => command.replace(/^(\w+)/, "ln -s /bin/$1 z; ./z")],
  ["copy of the program", (command) => command.replace(/^(\w+)/, 'cp "$(which $1)" z; ./z')],
  [
    "program of another language",
    (command) => `echo 'import os; os.system("${command}")' > s.py; python3 s.py`,
  ],
  ["makefile", (command) => `printf 'all:\\n\\t${command}\\n' > Makefile; make`],
  ["makefile that is nowhere", (command) => `make -f <(printf 'all:\\n\\t${command}\\n')`],
  [
    "rewritten text",
    (command) => `echo ${quoted(command.replace(/^\w+/, "xx"))} | sed 's/xx/${command.split(" ")[0]}/' | sh`,
  ],
];

/** `c[0]=a; c[1]=b`, last one first. */
function numbered(command: string): string {
  const items = command.split(" ").map((word, index) => `c[${index}]=${word}`);
  return items.reverse().join("; ");
}

/** Those that carry any text, also one that is disguised already. */
const CARRIERS =
  /^(?:as it is|subshell|after|second|branch|loop|inside|backticks|sh|shell|eval|here-string|pipe|base64|hexa|backwards|process|written|trap|another|input|numbered input|name of|file|handler)/;

/** Places where a command is only mentioned. */
const MENTIONS: readonly [name: string, mention: (command: string) => string][] = [
  ["printed", (command) => `echo '${command}'`],
  ["searched", (command) => `grep -rn '${command}' src`],
  ["committed", (command) => `git commit -m 'stop using ${command}'`],
  ["commented", (command) => `ls # ${command}`],
  ["noted", (command) => `cat <<'EOF' > notes.md\n${command}\nEOF`],
  ["counted", (command) => `wc -w <<< '${command}'`],
  ["an argument", (command) => `jq -n --arg c '${command}' '{c: $c}'`],
  ["escaped", (command) => `echo "\\$(${command})"`],
  ["assigned", (command) => `MESSAGE='${command}'; echo "$MESSAGE"`],
  ["a function that is never called", (command) => `go() { ${command}; }; type go`],
  ["an array that is printed", (command) => `declare -a c=(${command}); echo "\${c[@]}"`],
  ["a file that is only kept", (command) => `echo '${command}' | tee notes.txt; cat notes.txt`],
  ["a makefile that is only kept", (command) => `printf 'clean:\\n\\t${command}\\n' > Makefile`],
  ["the name of a test", (command) => `pytest -k '${command}'; vitest run -t '${command}'`],
  ["a question to a model", (command) => `llm 'what does ${command} do'`],
  ["looked up", (command) => `type ${command.split(" ")[0]}; which ${command.split(" ")[0]}`],
];

describe("positions, not words", () => {
  it.each(DISGUISES)("a command is found: %s", (_name, disguise) => {
    expect(verdictOf(disguise("rm -rf build"))).toBe("danger");
    expect(verdictOf(disguise("rm -rf /"))).toBe("hardline");
    expect(verdictOf(disguise("systemctl stop nginx"))).toBe("danger");
    expect(verdictOf(disguise("shutdown now"))).toBe("hardline");
    expect(verdictOf(disguise("ls src"))).not.toBe("hardline");
  });

  it("two disguises do not hide more than one", () => {
    const pick = fc.constantFrom(...DISGUISES.filter(([name]) => CARRIERS.test(name)));
    fc.assert(
      fc.property(pick, pick, ([, inner], [, outer]) => {
        const line = outer(inner("rm -rf /"));
        expect(verdictOf(line), line).not.toBe("safe");
      }),
      { seed: 3 },
    );
  });

  it.each(MENTIONS)("a command that is only mentioned is not run: %s", (_name, mention) => {
    for (const command of ["rm -rf /", "shutdown now", "systemctl stop nginx", "git reset --hard"]) {
      expect(verdictOf(mention(command)), mention(command)).toBe("safe");
    }
  });
});

describe("the verdict", () => {
  it("is the strictest one, and among equals the first in the text", () => {
    const line = "rm -rf build; rm -rf /; shutdown now; ls";
    const judged = judgeCommand(line);
    expect(judged.verdict).toBe("hardline");
    expect(judged.segments.map(({ text, verdict }) => [text, verdict])).toEqual([
      ["rm -rf build", "danger"],
      ["rm -rf /", "hardline"],
      ["shutdown now", "hardline"],
      ["ls", "safe"],
    ]);
    expect(judged.rule).toBe(judged.segments[1]?.rule);
  });

  it("points into the text as it was written", () => {
    const line = "ls; \x1b[31mｒｍ\x1b[0m -rf /";
    const { span, segments } = judgeCommand(line);
    expect(line.slice(...(span ?? [0, 0]))).toContain("/");
    expect(segments.at(-1)?.text).toContain("ｒｍ");
  });

  it("names each segment in one spelling, carriers only when they matter themselves", () => {
    const canonical = (line: string) => judgeCommand(line).segments.map((segment) => segment.canonical);
    expect(canonical("A=1 timeout 5 /bin/r''m  -rf 'a b'")).toEqual(["rm -rf 'a b'"]);
    expect(canonical("sudo rm x; ssh h 'ls *'")).toEqual(["sudo rm x", "ssh h ls *"]);
    expect(canonical("rm $X '<unknown>'")).toEqual(["rm <unknown> '<unknown>'"]);
  });

  it("counts the person's home by its full path", () => {
    expect(judgeCommand("rm -rf /srv/people/sam", { home: "/srv/people/sam" }).verdict).toBe("hardline");
    expect(judgeCommand("rm -rf /srv/people/sam", {}).verdict).toBe("danger");
  });

  it("follows the working folder", () => {
    expect(verdictOf("cd / && rm -rf *")).toBe("hardline");
    expect(verdictOf("cd build && rm -rf *")).toBe("danger");
    expect(verdictOf("cd /etc && echo x > hosts")).toBe("danger");
  });
});

describe("limits", () => {
  const ruleOf = (line: string): string => judgeCommand(line).rule;

  it("text that is not shell is refused", () => {
    expect(ruleOf('echo "open')).toBe("hardline.unparseable");
    expect(ruleOf(`sh -c 'if'`)).toBe("hardline.unparseable");
  });

  it("a lookalike that only breaks when its letters are replaced is judged as written", () => {
    expect(verdictOf("echo ＂fine")).toBe("safe");
    expect(verdictOf("echo “it’s fine”")).toBe("safe");
  });

  it("too long, too deep and too many are refused", () => {
    expect(ruleOf(`echo ${"a".repeat(128_000)}`)).toBe("hardline.too-long");
    expect(ruleOf(`${"sudo ".repeat(40)}ls`)).toBe("hardline.too-deep");
    expect(ruleOf(`${"eval ".repeat(40)}ls`)).toBe("hardline.too-deep");
    expect(ruleOf("true;".repeat(25_001))).toBe("hardline.too-deep");
    expect(ruleOf(`echo ${"{a,b}".repeat(20)}`)).toBe("hardline.too-deep");
    expect(ruleOf(`a=(${"x ".repeat(500)}); ${`echo "\${a[@]}"; `.repeat(500)}`)).toBe("hardline.too-deep");
  });

  it("many harmless commands, many words and long texts are fine", () => {
    expect(verdictOf("true; ".repeat(5_000))).toBe("safe");
    expect(verdictOf(`echo ${"word ".repeat(20_000)}`)).toBe("safe");
    expect(verdictOf(`cat > notes <<'EOF'\n${"rm -rf /\n".repeat(10_000)}EOF`)).toBe("safe");
    expect(verdictOf("for i in {1..5000}; do for j in {1..5000}; do echo $i $j; done; done")).toBe("safe");
  });

  it("variables that double end as something unknown, not as an endless text", () => {
    expect(verdictOf(`X=a; ${"X=$X$X; ".repeat(200)}echo $X`)).toBe("safe");
    expect(verdictOf(`X=a; ${"X=$X$X; ".repeat(200)}$X`)).toBe("danger");
  });

  it("NUL is never harmless", () => {
    expect(judgeCommand("ls\0")).toMatchObject({ verdict: "danger", rule: "hidden.nul", span: [2, 3] });
    expect(verdictOf("rm\0 -rf /")).toBe("hardline");
  });

  it("never throws, whatever it is given", () => {
    const piece = fc.constantFrom(
      ...`$ ( ) { } [ ] ' " \` \\ ; & | < > # = * ? ~ ! rm -rf / a b \n \t $( \${ $(( << <<< && || [[ ]] if fi do done case esac \0 \u200b é`.split(
        " ",
      ),
      " ",
    );
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join("")),
    );
    fc.assert(
      fc.property(text, (line) => {
        const judged = judgeCommand(line);
        expect(judged.rule).not.toBe("hardline.analysis-failed");
        for (const { span, text: part } of judged.segments) {
          if (span !== undefined) expect(line.slice(...span)).toBe(part);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
