import { it } from "vitest";
import { judgeCommand } from "../../../src/policy/shell/judge.js";

const q = (s: string) => `'${s.replaceAll("'", "'\\''")}'`;
const rep = (s: string, n = 100_000) => s.repeat(Math.ceil(n / s.length)).slice(0, n);
it("t", () => {
  for (let i = 0; i < 3; i++) judgeCommand("python -c 'import os'");
  const seeds: Record<string, (s: string) => string> = {
    python: (s) => `python -c ${q(s)}`,
    node: (s) => `node -e ${q(s)}`,
    perl: (s) => `perl -e ${q(s)}`,
    ruby: (s) => `ruby -e ${q(s)}`,
    php: (s) => `php -r ${q(s)}`,
    awk: (s) => `awk ${q(s)}`,
    sed: (s) => `sed ${q(s)}`,
    psql: (s) => `psql -c ${q(s)}`,
    pwsh: (s) => `pwsh -c ${q(s)}`,
    lua: (s) => `lua -e ${q(s)}`,
    osa: (s) => `osascript -e ${q(s)}`,
    emacs: (s) => `emacs --eval ${q(s)}`,
    mongo: (s) => `mongosh --eval ${q(s)}`,
    curl: (s) => `curl -d ${q(s)} x`,
    git: (s) => `git -c ${q(s)} log`,
    cat: (s) => `cat ${q(s)}`,
    cmd: (s) => `cmd /c ${q(s)}`,
  };
  const bits = [
    "(",
    "[",
    "{",
    "f'{a",
    'f"{',
    "a.",
    "a(",
    "/[",
    "/ ",
    "s/",
    "q(",
    "%x(",
    "`",
    "\\",
    '"',
    "''",
    "#{",
    "${",
    "x=1;",
    "DELETE FROM t ",
    "UPDATE a SET ",
    "$$",
    "/*",
    "--",
    "os.system('ls');",
    "require('child_process').execSync('ls');",
    "import os\n",
    "from a import b\n",
    "{a:1,",
    "const {a} = b;",
    "\n",
    "|",
    "&",
    ";",
    "' ",
    'print("a");',
    ".drop ",
    "@",
    "<",
    "=",
    "a=@",
    "WHERE ",
    "sys.x+",
    "y=y+'a';",
    "cmd /c ",
    "-",
    "\\\\",
    "e ",
    "1e ls\n",
    "!",
    "~/",
    "../",
    ".env/",
    "eval('eval(",
    "$(x",
    "a::b->c.",
    "not ",
  ];
  const slow: string[] = [];
  for (const [name, make] of Object.entries(seeds))
    for (const bit of bits) {
      const b = make(rep(bit, 100_000));
      let best = 1e9,
        rule = "";
      for (let k = 0; k < 2 && best > 70; k++) {
        const t1 = performance.now();
        rule = judgeCommand(b).rule;
        best = Math.min(best, performance.now() - t1);
      }
      if (best > 70 || /failed/.test(rule))
        slow.push(`${name} ${JSON.stringify(bit)} ${best.toFixed(0)} ${rule}`);
    }
  console.log(slow.join("\n"));
}, 600_000);
