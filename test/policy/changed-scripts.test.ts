import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { changedScripts } from "../../src/policy/changed-scripts.js";
import { judgeCommand } from "../../src/shell/judge.js";
import { testRuntime } from "../support/runtime.js";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "scripts-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, text: string): void {
  mkdirSync(join(folder, name, ".."), { recursive: true });
  writeFileSync(join(folder, name), text);
}

function judge(line: string, { since = Date.now() - 60_000 } = {}): string {
  return judgeCommand(line, { files: changedScripts({ cwd: folder, home: folder, since }) }).verdict;
}

it("a file that is too long to be judged is asked about, and does not hide what its line does", () => {
  write("long.sh", "echo one\n".repeat(6_000));
  const verdict = (line: string) =>
    judgeCommand(line, { files: changedScripts({ cwd: folder, home: folder, since: Date.now() - 60_000 }) });
  expect(verdict("bash long.sh")).toMatchObject({ verdict: "danger", rule: "script.too-long" });
  expect(verdict("bash long.sh; rm -rf /").verdict).toBe("hardline");
});

const DELETES_SHELL = "set -e\nrm -rf ~/work\n";
const DELETES_PYTHON = 'import os\nos.system("rm -rf ~/work")\n';
const DELETES_NODE = 'require("node:child_process").execSync("rm -rf ~/work");\n';

/** A file, what it holds, a line that runs it, and the neighbour that is harmless. */
const ROWS: readonly (readonly [file: string, text: string, line: string, harmless: string])[] = [
  ["evil.sh", DELETES_SHELL, "bash evil.sh", "echo hello\n"],
  ["evil.sh", DELETES_SHELL, "sh ./evil.sh --now", "ls -l\n"],
  ["evil.sh", DELETES_SHELL, "./evil.sh", "git status\n"],
  ["evil.sh", DELETES_SHELL, "source evil.sh", "export A=b\n"],
  ["evil.sh", DELETES_SHELL, "timeout 5 bash evil.sh", "npm test\n"],
  ["evil.sh", DELETES_SHELL, "bash < evil.sh", "true\n"],
  ["sub/evil.sh", DELETES_SHELL, "cd sub && bash evil.sh", "pwd\n"],
  ["sub/evil.sh", DELETES_SHELL, "bash sub/evil.sh", "pwd\n"],
  ["evil", "#!/bin/sh\nrm -rf ~/work\n", "./evil", "#!/bin/sh\npwd\n"],
  ["evil.py", DELETES_PYTHON, "python3 evil.py", "print(1)\n"],
  ["evil.py", DELETES_PYTHON, "python3 -u ./evil.py arg", "import json\nprint(json.dumps({}))\n"],
  ["evil.py", DELETES_PYTHON, "uv run python evil.py", "print(1)\n"],
  ["evil.py", DELETES_PYTHON, "python3 -m cProfile evil.py", "print(1)\n"],
  ["evil.js", DELETES_NODE, "node evil.js", "console.log(1);\n"],
  ["evil.mjs", DELETES_NODE, "node --enable-source-maps evil.mjs", "console.log(1);\n"],
  ["evil.ts", DELETES_NODE, "npx tsx evil.ts", "console.log(1);\n"],
  ["evil.awk", 'BEGIN { system("rm -rf ~/work") }\n', "awk -f evil.awk data.txt", "{ print $1 }\n"],
  ["Makefile", "all:\n\trm -rf ~/work\n", "make", "all:\n\techo built\n"],
  ["Makefile", "all: x\nx:\n\trm -rf ~/work\n", "make all", "all:\n\techo built\nclean:\n\trm -rf ~/work\n"],
  [".eslintrc.js", DELETES_NODE, "npx eslint src", "module.exports = { root: true };\n"],
  [
    "Vagrantfile",
    'system("rm -rf ~/work")\n',
    "vagrant up",
    'Vagrant.configure("2") { |c| c.vm.box = "x" }\n',
  ],
  ["noxfile.py", DELETES_PYTHON, "nox -s lint", "import nox\n"],
  ["json.py", DELETES_PYTHON, "python3 -c 'import json'", "def loads(text): pass\n"],
  ["CMakeLists.txt", 'execute_process(COMMAND sh -c "rm -rf ~/work")\n', "cmake -B build .", "project(x)\n"],
  [
    "build.rs",
    'fn main() { Command::new("rm").args(["-rf", "/home/me/work"]); }\n',
    "cargo build",
    "fn main() {}\n",
  ],
  ["justfile", "all:\n  rm -rf ~/work\n", "just", "all:\n  npm test\n  rm -rf dist\n"],
  [
    "infra/main.tf",
    'provisioner "local-exec" {\n  command = "rm -rf ~/work"\n}\n',
    "terraform -chdir=infra apply -auto-approve -lock=false --help || terraform -chdir=infra validate",
    'output "x" { value = 1 }\n',
  ],
  ["package.json", '{"scripts":{"test":"rm -rf ~/work"}}', "npm test", '{"scripts":{"test":"vitest run"}}'],
  ["package.json", '{"scripts":{"x":"rm -rf ~/work"}}', "npm run x", '{"scripts":{"x":"tsc"}}'],
  ["package.json", '{"scripts":{"prex":"rm -rf ~/work","x":"ls"}}', "pnpm run x", '{"scripts":{"x":"ls"}}'],
  ["package.json", '{"scripts":{"postinstall":"rm -rf ~/work"}}', "npm install", '{"name":"x"}'],
  [
    "package.json",
    '{"scripts":{"x":"npm run y","y":"rm -rf ~/work"}}',
    "yarn run x",
    '{"scripts":{"x":"npm run x"}}',
  ],
  ["conftest.py", DELETES_PYTHON, "pytest -q", "import pytest\n"],
  ["tests/conftest.py", DELETES_PYTHON, "python3 -m pytest", "import pytest\n"],
  ["vitest.config.ts", DELETES_NODE, "npx vitest run", "export default {};\n"],
  ["setup.py", DELETES_PYTHON, "pip install -e .", "from setuptools import setup\nsetup()\n"],
  ["q.sql", "DROP TABLE users;\n", "psql -f q.sql", "SELECT 1;\n"],
  ["evil.py", DELETES_PYTHON, "python3 -c \"exec(open('evil.py').read())\"", "print(1)\n"],
  ["evil.py", DELETES_PYTHON, "python3 -c \"import runpy; runpy.run_path('evil.py')\"", "print(1)\n"],
  ["evil.py", DELETES_PYTHON, "uv run evil.py", "print(1)\n"],
  ["evil.py", DELETES_PYTHON, "coverage run evil.py", "print(1)\n"],
  ["evil.js", DELETES_NODE, "nodemon evil.js", "console.log(1);\n"],
  ["evil.js", DELETES_NODE, "node -e \"eval(require('fs').readFileSync('evil.js','utf8'))\"", "let a = 1;\n"],
  ["evil.pl", 'system("rm -rf ~/work");\n', "perl -e \"do './evil.pl'\"", "print 1;\n"],
  ["evil.php", '<?php system("rm -rf ~/work");\n', "php -r \"include 'evil.php';\"", "<?php echo 1;\n"],
  ["evil.tcl", "exec rm -rf /home/me/work\n", "tclsh evil.tcl", "puts hello\n"],
  ["evil.vim", ":!rm -rf ~/work\n", "vim -S evil.vim a.txt", ":set number\n"],
  ["evil.vim", ":!rm -rf ~/work\n", "vim -c 'source evil.vim' a.txt", ":set number\n"],
  ["evil.gdb", "shell rm -rf ~/work\n", "gdb -batch -x evil.gdb", "info registers\n"],
  ["evil.txt", DELETES_SHELL, "find . -name evil.txt -exec bash {} \\;", "ls\n"],
  ["evil.txt", DELETES_SHELL, "ls evil.txt | xargs bash", "ls\n"],
];

describe("a script that the session wrote is judged when it is run", () => {
  it.each(ROWS)("%s with %j: %s", (file, text, line, harmless) => {
    write(file, text);
    expect(judge(line)).not.toBe("safe");
    write(file, harmless);
    expect(judge(line)).toBe("safe");
  });

  it("one that was there before is the project's own", () => {
    write("deploy.sh", DELETES_SHELL);
    utimesSync(join(folder, "deploy.sh"), 0, 0);
    expect(judge("bash deploy.sh", { since: Date.now() + 60_000 })).toBe("safe");
  });

  it("one in a folder for temporary files is read instead of asked about", () => {
    write("check.sh", "ls\n");
    expect(judgeCommand(`bash ${folder}/check.sh`).verdict).toBe("danger");
    expect(judge(`bash ${folder}/check.sh`)).toBe("safe");
  });

  it("one that starts itself again ends", () => {
    write("again.sh", "echo one\n./again.sh\n");
    expect(judge("./again.sh")).toBe("safe");
  });

  it("one that is too long to be read may do anything, also what a build made", () => {
    const padding = "# nothing\n".repeat(30_000);
    write("long.sh", `${padding}${DELETES_SHELL}`);
    for (const line of ["bash long.sh", "./long.sh", "source long.sh", "bash < long.sh"])
      expect(judge(line), line).not.toBe("safe");
    expect(judge("wc -l long.sh")).toBe("safe");
    write("bundle.js", "x = 1;\n".repeat(50_000));
    expect(judge("node bundle.js")).not.toBe("safe");
    expect(judge("wc -c bundle.js")).toBe("safe");
  });

  it("a NUL in it hides nothing, and a compiled program is none", () => {
    write("evil.sh", `ls\n\0${DELETES_SHELL}`);
    expect(judge("bash evil.sh")).not.toBe("safe");
    write("program", `\x7fELF\x02\x01\x01\0\0${DELETES_SHELL}`);
    expect(judge("./program")).toBe("safe");
    write("program", `\x7fELF\x02\x01\x01\0\0${"\0".repeat(300_000)}`);
    expect(judge("./program")).toBe("safe");
  });

  it("the last of very many is not run unread", () => {
    const names = Array.from({ length: 80 }, (_, index) => `step-${index}.sh`);
    for (const name of names) write(name, `echo ${name}\n`);
    expect(
      judge(
        names
          .slice(0, 60)
          .map((name) => `bash ${name}`)
          .join("; "),
      ),
    ).toBe("safe");
    write("step-79.sh", DELETES_SHELL);
    expect(judge(names.map((name) => `bash ${name}`).join("; "))).not.toBe("safe");
    // Those that were there before are not counted.
    const missing = names.map((name) => `bash old-${name}`).join("; ");
    expect(judge(`${missing}; bash step-1.sh`)).toBe("safe");
  });

  it("only looking at it runs nothing", () => {
    write("evil.sh", DELETES_SHELL);
    for (const line of ["cat evil.sh", "grep rm evil.sh", "wc -l evil.sh", "chmod +x evil.sh"])
      expect(judge(line), line).toBe("safe");
  });

  it("a file that changed between two questions is read again", () => {
    write("evil.sh", "ls\n");
    expect(judge("bash evil.sh")).toBe("safe");
    write("evil.sh", DELETES_SHELL);
    expect(judge("bash evil.sh")).not.toBe("safe");
  });
});

describe("a session", () => {
  it("is asked about the script it wrote in an earlier call, as about the line itself", async () => {
    const { runtime } = await testRuntime([], { builtins: true });
    const asked: string[] = [];
    const session = await runtime.openSession({
      approver: {
        ask: async ({ rule }) => {
          asked.push(rule);
          return "deny";
        },
      },
    });
    const call = (name: string, args: Record<string, unknown>) => session.call({ name, arguments: args });
    await call("write_file", { path: "evil.sh", content: "cd data\nrm -rf ./*\n" });
    await call("write_file", { path: "good.sh", content: "echo fine\n" });
    const [good, evil] = [
      await call("terminal", { command: "bash good.sh" }),
      await call("terminal", { command: "bash evil.sh" }),
    ];
    expect(good.error).toBeUndefined();
    expect(evil.error?.code).toBe("denied");
    expect(asked).toHaveLength(1);
    // A script's own session is opened later than the file was written.
    const child = session.openChild();
    const inside = await child.call({ name: "terminal", arguments: { command: "bash evil.sh" } });
    expect(inside.error?.code).toBe("denied");
  });
});
