import { execFile } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { quoteText } from "../../src/shell/read/canonical.js";
import { unfold } from "../../src/shell/read/unfold.js";
import { type ShellWord, UNKNOWN } from "../../src/shell/types.js";

/**
 * Whatever bash starts, the analysis must have foreseen. Lines are made from programs that only note how
 * they were called; no other program can be found from them.
 */

const BASH = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"].find((path) => existsSync(path));
const STUBS = ["p0", "p1", "p2", "p3"];
/** Real programs that do nothing but start or feed others. */
const CARRIERS = ["env", "nice", "nohup", "timeout", "xargs", "cat", "base64", "tr", "rev"].flatMap(
  (name) => {
    const path = [`/usr/bin/${name}`, `/bin/${name}`].find((candidate) => existsSync(candidate));
    return path === undefined ? [] : [{ name, path }];
  },
);
const can = (name: string): boolean => CARRIERS.some((carrier) => carrier.name === name);

const plain = fc.constantFrom("a", "b1", "-x", "--long=v", "c.d", "e/f", "0");
const word: fc.Arbitrary<string> = fc.oneof(
  { arbitrary: plain, weight: 4 },
  {
    arbitrary: fc.constantFrom(
      "'a b'",
      '"a b"',
      "a\\ b",
      "''",
      String.raw`$'a\tb\x41'`,
      '"$V"',
      "$V",
      `\${V}`,
      `\${U:-d e}`,
      `"\${U:-d e}"`,
      `\${V%y}`,
      `\${V#x }`,
      `\${V/x/z}`,
      `\${V:2}`,
      `\${V^^}`,
      `\${#V}`,
      `\${A[1]}`,
      `"\${A[@]}"`,
      `\${A[*]}`,
      `\${A[@]}`,
      `"\${A[*]}"`,
      "{a,b}",
      "c{1..3}d",
      '{"x y",z}',
      "$((1+2))",
      '"$(echo s t)"',
      "$(echo s t)",
      "`echo u`",
      "a$(printf '%s-' 1 2)b",
      "'#'",
      "a#b",
      '"a\\"b"',
      "*",
      `a\${IFS}b`,
      `\${V//[xy]/q}`,
      `\${V/%y/z}`,
      `"\${V:+set}"`,
      `\${NONE+set}`,
      `\${!R}`,
      `\${V,,}`,
      `\${V:0:1}\${V: -1}`,
      `\${#A[@]}`,
      `"\${A[@]:1}"`,
      `"$*"`,
      `$#`,
      "a{b,c}{d,e}",
      "{a..e..2}",
      "\\{a,b\\}",
      "{a,{b,c}}",
      '"`echo q`"',
      "$(p3 inner; echo y)",
      '"$(p2 "nested $(echo deep)")"',
      "$((V0 + 2 * 3))",
      "x\\\ny",
      '"a\\\nb"',
      "$'it\\'s'",
      "[ab]",
      "a=b",
      "~nobody-here/x",
    ),
    weight: 3,
  },
);

const program = fc
  .tuple(
    fc.constantFrom(...STUBS),
    fc.constantFrom<(name: string) => string>(
      (name) => name,
      (name) => `"${name}"`,
      (name) => `\\${name}`,
      (name) => `'${name[0]}'${name[1]}`,
      (name) => `$'\\x70'${name[1]}`,
      (name) => `$(echo ${name})`,
      (name) => `\${NONE:-${name}}`,
      (name) => `${name}$NONE`,
    ),
  )
  .map(([name, spell]) => spell(name));

const simple = fc
  .tuple(
    program,
    fc.array(word, { maxLength: 4 }),
    fc.constantFrom("", "", "", " >/dev/null", " 2>&1", " </dev/null"),
  )
  .map(([name, words, redirect]) => [name, ...words].join(" ") + redirect);

const wrap = (command: string): fc.Arbitrary<string> =>
  fc.constantFrom(
    command,
    `B=1 ${command}`,
    `command ${command}`,
    `(exec ${command})`,
    `eval ${quoteText(command)}`,
    `bash -c ${quoteText(command)}`,
    `bash -c ${quoteText(`V=inner; ${command}`)}`,
    `bash <<< ${quoteText(command)}`,
    `bash -s <<'END'\n${command}\nEND\n`,
    `echo ${quoteText(command)} | bash`,
    `printf '%s\\n' ${quoteText(command)} | bash`,
    `source <(echo ${quoteText(command)})`,
    `S=${quoteText(command)}; eval "$S"`,
    `trap ${quoteText(command)} EXIT`,
    ...(can("env") ? [`env B=1 ${command}`, `env -u B nice ${command}`] : []),
    ...(can("timeout") ? [`timeout 9 ${command}`] : []),
    ...(can("base64") ? [`echo ${Buffer.from(command).toString("base64")} | base64 -d | bash`] : []),
    ...(can("rev") ? [`echo ${quoteText([...command].reverse().join(""))} | rev | bash`] : []),
  );

const xargs = fc
  .tuple(program, fc.array(plain, { maxLength: 3 }))
  .map(([name, words]) => `echo ${words.join(" ")} end | xargs ${name} first`);

const command = fc.oneof(
  { arbitrary: simple.chain(wrap), weight: 5 },
  { arbitrary: can("xargs") ? xargs : simple, weight: 1 },
);

const line = fc.letrec<{ list: string; part: string }>((tie) => ({
  part: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    command,
    fc
      .tuple(
        tie("list"),
        fc.constantFrom("(@\n)", "{ @\n}", "! { @\n}", "if true; then @\nfi", "if false; then :; else @\nfi"),
      )
      .map(fill),
    fc
      .tuple(
        tie("list"),
        fc.constantFrom(
          "f() { @\n}; f x",
          "case q in q) @\n;; esac",
          "while :; do @\nbreak; done",
          "{ @\n} | cat",
          "[[ a == a ]] && { @\n}",
          "(( 1 )) && { @\n}",
          "coproc { @\n}",
          "time { @\n}",
          "until { @\n}; do :; done",
          "export V=e; { @\n}",
          "{ @\n} 2>/dev/null >&2",
          "for ((i = 0; i < 2; i++)); do @\ndone",
          "cat <<OUTER\n$( @\n)\nOUTER\n",
          "bash <<INNER\n$(echo p1 'from here') \\$V\nINNER\n@",
        ),
      )
      .map(fill),
    fc
      .tuple(
        simple,
        fc.constantFrom(
          "for V in m 'n o'; do @; done",
          "while read V; do @; done <<< 'r s'",
          "V=new; @",
          "set -- h i; @ $2",
          'f() { shift; @ "$@"; }; f 1 2 3',
          'f() { local V=$1; @ "$V"; }; f "in f"',
          `read -r L R <<< 'l m n'; @ "$L" "$R"`,
          `printf -v V '%s' q; @ "$V"`,
          `mapfile -t M <<< $'a\\nb c'; @ "\${M[@]}"`,
          `M=(); for v in 1 2; do M+=("$v x"); done; @`,
          `if p0 test; then V=yes; else V=no; fi; @ "$V"`,
          `p1 && V=yes || V=no; @ "$V"`,
          'unset V; @ "$V"',
          `false && W=no; @ "\${W-not set}"`,
          "if ! p0 test; then W=no; fi; @ $W end",
          `for v in $NONE; do W=no; done; @ "\${W:-none}"`,
          "case $V in q) W=no;; esac; @ a$W",
          'f() { p0 && return; W=no; }; f; @ "x$W"',
          'set -- g; false && set -- h i; @ "$@"',
          "V=1; V=2 & @ $V",
          "false && p0() { p1; }; @",
          'V+=more; @ "$V"',
          "IFS=,; W=i,j; @ $W",
          `case "$V" in x*) @;; *) p0 other;; esac`,
          "p0 $( @ ) after # @",
          "p0 < <( @ ) > >( cat )",
        ),
      )
      .map(fill),
    fc
      .tuple(simple, simple, fc.constantFrom(" | ", " && ", " || ", "; ", " & ", "\n"))
      .map(([one, other, by]) => one + by + other),
  ),
  list: fc.array(tie("part"), { minLength: 1, maxLength: 2 }).map((parts) => parts.join("\n")),
})).list;

function fill([inner, frame]: readonly [string, string]): string {
  return frame.replace("@", () => inner);
}

const PRELUDE = "V='x y'; A=(one 'two three'); R=V\n";
let folder = "";

beforeAll(() => {
  if (BASH === undefined) return;
  folder = mkdtempSync(join(tmpdir(), "agreement-"));
  mkdirSync(join(folder, "bin"));
  mkdirSync(join(folder, "empty"));
  for (const stub of STUBS) {
    const path = join(folder, "bin", stub);
    writeFileSync(path, `#!${BASH}\nIFS=$'\\x1f'; printf '%s\\x1e' "\${0##*/}\${1+$IFS}$*" >> "$LOG"\n`);
    chmodSync(path, 0o755);
  }
  symlinkSync(BASH, join(folder, "bin", "bash"));
  for (const { name, path } of CARRIERS) symlinkSync(path, join(folder, "bin", name));
});

afterAll(() => {
  if (folder !== "") rmSync(folder, { recursive: true, force: true });
});

function started(text: string, index: number): Promise<string[][]> {
  const log = join(folder, `log-${index}`);
  writeFileSync(log, "");
  const env = { PATH: join(folder, "bin"), LOG: log, LC_ALL: "C" };
  const options = { env, cwd: join(folder, "empty"), timeout: 20_000 };
  return new Promise((resolve) => {
    execFile(BASH ?? "", ["-c", `${text}\nwait`], options, () => {
      const records = readFileSync(log, "utf8").split("\x1e").slice(0, -1);
      resolve(records.map((record) => record.split("\x1f")));
    });
  });
}

function foreseen(text: string, [name, ...args]: readonly string[]): boolean {
  const unfolded = unfold(text, { notablePrograms: new Set() });
  // A line that cannot be read is refused as a whole; bash may still run what stands before the mistake.
  if (unfolded === undefined) return true;
  return unfolded.commands.some((one) => one.program === name && couldBeAll(one.args, args));
}

/** A word nobody knows may come to none or many. */
function couldBeAll([first, ...others]: readonly ShellWord[], args: readonly string[]): boolean {
  if (first === undefined) return args.length === 0;
  if (first.text === UNKNOWN)
    return args.some((_, at) => couldBeAll(others, args.slice(at))) || couldBeAll(others, []);
  const [arg, ...rest] = args;
  return arg !== undefined && couldBe(first.text, arg) && couldBeAll(others, rest);
}

function couldBe(pattern: string, text: string): boolean {
  if (!pattern.includes(UNKNOWN)) return pattern === text;
  // Output that is not there has no line of its own either.
  const [start = "", ...others] = pattern.split(/\uFFFC\n?/);
  return text.startsWith(start) && text.endsWith(others.at(-1) ?? "");
}

describe.skipIf(BASH === undefined)("agreement with bash", () => {
  it("every program that bash starts is among the commands that were unfolded, with its words", async () => {
    const lines = fc.sample(line, { numRuns: 240, seed: 20_240_229 }).map((text) => PRELUDE + text);
    const misses: string[] = [];
    let startedInAll = 0;
    for (let at = 0; at < lines.length; at += 8) {
      const some = lines.slice(at, at + 8);
      const logs = await Promise.all(some.map((text, index) => started(text, at + index)));
      for (const [index, text] of some.entries()) {
        for (const call of logs[index] ?? []) {
          startedInAll++;
          if (!foreseen(text, call)) misses.push(`${JSON.stringify(text)} started ${JSON.stringify(call)}`);
        }
      }
    }
    expect(misses).toEqual([]);
    // Lines that start nothing would agree with anything.
    expect(startedInAll).toBeGreaterThan(lines.length);
  }, 120_000);
});
