// @needs bwrap perl setpriv root
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isPlainlyHarmless } from "../../src/tools/code/execute/plain-code.js";
import { main as hermesScript } from "../cli/hermes.js";
import { tempDir } from "../support/runtime.js";

const NOBODY = 65_534;

/** `hermes call` as somebody, in a home of their own; `prefix` starts it another way. */
function call(prefix: readonly string[], tool: string, args: Readonly<Record<string, string>>) {
  const home = tempDir();
  const work = join(home, "work");
  mkdirSync(join(home, ".aws"));
  mkdirSync(work);
  mkdirSync(join(home, ".hermes"));
  // What reading a command would ask about must be held by the boundary alone here.
  const unread = tool === "terminal" ? "approvals:\n  mode: off\n" : "";
  writeFileSync(join(home, ".hermes/config.yaml"), unread);
  writeFileSync(join(home, ".aws/credentials"), "the-key");
  writeFileSync(join(home, ".bashrc"), "# mine");
  for (const path of [
    home,
    work,
    join(home, ".hermes"),
    join(home, ".hermes/config.yaml"),
    join(home, ".aws"),
    join(home, ".aws/credentials"),
    join(home, ".bashrc"),
  ]) {
    if (prefix === AS_NOBODY) chownSync(path, NOBODY, NOBODY);
  }
  chmodSync(home, 0o700);
  const given = Object.entries(args).map(([name, value]) => `${name}=${value}`);
  const [program = "", ...rest] = [...prefix, process.execPath, hermesScript, "call", tool, ...given];
  const { stdout, stderr } = spawnSync(program, rest, {
    cwd: work,
    env: { PATH: process.env.PATH, HOME: home, HERMES_HOME: join(home, ".hermes") },
    encoding: "utf8",
    timeout: 60_000,
  });
  return { said: stdout + stderr, home };
}

const AS_NOBODY = ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"];
/** The program is there, but nobody can run it. */
const WITHOUT_BWRAP = ["bwrap", "--dev-bind", "/", "/", "--ro-bind", "/dev/null", "/usr/bin/bwrap", "--"];

it("holds for an ordinary person as it does for root", () => {
  const command =
    "id -u; cat ~/.aws/credentials; echo x >> ~/.bashrc; cat /proc/$PPID/environ; ls ~/.hermes; echo done > made";
  const { said, home } = call(AS_NOBODY, "terminal", { command });
  expect(said).toContain(String(NOBODY));
  expect(said).not.toContain("the-key");
  expect(said).toContain("Read-only file system");
  expect(said).toMatch(/environ: Permission denied/);
  expect(said).not.toContain("state.db");
  expect(existsSync(join(home, "work/made"))).toBe(true);
});

describe("where nothing holds", () => {
  it("code that is not plainly harmless is asked about, and nobody to ask means no", () => {
    expect(call(WITHOUT_BWRAP, "execute_code", { code: "print(6 * 7)" }).said).toContain("42");
    const refused = call(WITHOUT_BWRAP, "execute_code", { code: "print(open('/etc/hostname').read())" }).said;
    expect(refused).toMatch(/runs code that no sandbox can shut in here.*bubblewrap is not installed/s);
    expect(call([], "execute_code", { code: "print(len(open('/etc/passwd').read()) > 0)" }).said).toContain(
      "True",
    );
  });
});

it.each([
  ["python", "import math, json\nprint(json.dumps({'x': math.sqrt(2)}))", true],
  ["python", "from hermes_tools import read_file\nprint(read_file('a')['content'])", true],
  ["python", "import os\nos.remove('a')", false],
  ["python", "open('a', 'w')", false],
  ["python", "print(().__class__.__base__.__subclasses__())", false],
  ["python", "import math as m; import os", false],
  ["node", "console.log([1, 2].map((x) => x * 2))", true],
  ["node", "const fs = await import('node:fs')", false],
  ["node", "[].constructor.constructor('return 1')()", false],
  ["bash", "echo hi", false],
  ["python", "import random\nrandom._os.system('id')", false],
  ["python", "import math; import http.client as h", false],
  ["python", "if True: import urllib.request as u", false],
  ["python", "import operator, random\noperator.attrgetter(chr(95) + 'o' + 's')(random)", false],
  ["python", "import string, random\nstring.Formatter().get_field('0.x', [random], {})", false],
  ["python", "from typing import List\nfor _ in range(3): print(_)", true],
  ["node", "[].at['const' + 'ructor']('return 1')()", false],
  ["node", "const { ['const' + 'ructor']: f } = [].at", false],
  ["node", "const rows = [[1, 2], [3, 4]]; for (const [a, b] of rows) console.log(a + b, rows[0])", true],
] as const)("%s: %s", (runner, code, harmless) => {
  expect(isPlainlyHarmless(runner, code)).toBe(harmless);
});
