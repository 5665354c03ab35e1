// @needs bwrap
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Jail, makeJail } from "./support.js";

let jail: Jail;
beforeAll(() => {
  jail = makeJail();
});
afterAll(() => jail.close());

function installed(program: string): boolean {
  try {
    execFileSync("bash", ["-c", `command -v ${program}`]);
    return true;
  } catch {
    return false;
  }
}

async function works(command: string): Promise<string> {
  const result = await jail.run(command);
  expect([command, result.exitCode, result.output]).toEqual([command, 0, expect.any(String)]);
  expect(result.sandbox).toEqual({ active: true, level: "strict" });
  return result.output;
}

describe("ordinary work goes on in the sandbox", () => {
  test("git: status, add, commit, branches, stash, log, diff", async () => {
    await works("git status --short && git add readme.txt && git commit -qm first && git log --oneline");
    await works("git checkout -qb feature && echo more >> readme.txt && git stash -q && git stash pop -q");
    await works("git commit -qam second && git checkout -q - && git merge -q feature && git diff HEAD~1");
    expect(execFileSync("git", ["log", "--format=%s"], { cwd: jail.workspace, encoding: "utf8" })).toBe(
      "second\nfirst\n",
    );
    await works("git tag v1 && git worktree list && git gc -q && git fsck");
  });

  test("a workspace below the top of its repository", async () => {
    const local = jail.environment({ workspace: join(jail.workspace, "conf") });
    const result = await local.exec({
      command: "git rev-parse --show-toplevel && git status --short && echo ok > settings.json",
      cwd: join(jail.workspace, "conf"),
      timeoutMs: 9_000,
      signal: new AbortController().signal,
    });
    expect([result.exitCode, result.output.split("\n")[0]]).toEqual([0, jail.workspace]);
  });

  test("a repository inside the workspace", async () => {
    await works("git init -q nested && cd nested && git config user.name x && echo 1 > f && git add f");
  });

  test("node scripts, npm and a server on its own loopback address", async () => {
    expect(await works("npm --version")).toMatch(/^\d+\./);
    const script = `
      const http = require("node:http"), fs = require("node:fs");
      const server = http.createServer((_, answer) => answer.end("served")).listen(0, "127.0.0.1", () =>
        http.get({ port: server.address().port, host: "127.0.0.1" }, (answer) =>
          answer.on("data", (data) => { fs.writeFileSync("out.txt", data); server.close(); })));`;
    await works(`cat > server.cjs <<'END'\n${script}\nEND\nnode server.cjs`);
    expect(readFileSync(join(jail.workspace, "out.txt"), "utf8")).toBe("served");
    await works(
      'node -e \'require("node:child_process").execFileSync("ls"); new (require("node:worker_threads").Worker)("0", { eval: true })\'',
    );
  });

  test("temporary files, pipes, here documents, jobs, traps, globs", async () => {
    expect(await works("f=$(mktemp) && echo in > $f && cat $f && rm $f && mktemp -d >/dev/null")).toBe(
      "in\n",
    );
    expect(await works("printf 'b\\na\\n' | sort | tr a-z A-Z | tee sorted | head -1")).toBe("A\n");
    expect(await works("cat <<END\nx $((1+1))\nEND")).toBe("x 2\n");
    expect(await works("(sleep 0.1; echo bg) & p=$!; wait $p; echo done")).toBe("bg\ndone\n");
    expect(await works("trap 'echo caught' USR1; kill -USR1 $$; echo after")).toBe("caught\nafter\n");
    expect(await works("diff <(echo a) <(echo a) && echo same; echo *.txt")).toMatch(/^same\n.*readme\.txt/);
    expect(await works("mkdir -p a/b && cd a/b && pwd")).toBe(`${join(jail.workspace, "a/b")}\n`);
    expect(await works("mkfifo p && (echo through > p &) && cat p && rm p")).toBe("through\n");
  });

  test("unix sockets and terminals of its own", async () => {
    await works(
      `perl -MSocket -e 'socket(my $s, AF_UNIX, SOCK_STREAM, 0); bind($s, pack_sockaddr_un("own.sock")) or die; listen($s, 1); socket(my $c, AF_UNIX, SOCK_STREAM, 0); connect($c, pack_sockaddr_un("own.sock")) or die'`,
    );
    expect(await works("script -qec 'tty' /dev/null < /dev/null | tr -d '\\r'")).toMatch(
      /^\/dev\/pts\/\d+\n/,
    );
  });

  test("the person's own things can be read", async () => {
    expect(await works("cat ~/notes.txt; whoami >/dev/null; ls /etc/passwd /usr/bin/env")).toContain(
      "plain notes",
    );
  });

  test("compiling and other languages, where they are installed", async () => {
    if (installed("cc")) {
      await works("printf 'int main(void){return 0;}' > m.c && cc -o m m.c && ./m && ls m");
      expect(existsSync(join(jail.workspace, "m"))).toBe(true);
    }
    if (existsSync("/usr/bin/python3")) {
      expect(
        await works(
          '/usr/bin/python3 -c \'import os, tempfile, subprocess, threading; print(subprocess.run(["echo", "py"], capture_output=True, text=True).stdout)\'',
        ),
      ).toContain("py");
    }
    expect(await works("perl -e 'print 6*7'")).toBe("42");
  });

  test("what it makes belongs to the person and stays", async () => {
    await works(
      "mkdir -p dist && echo made > dist/file && chmod 600 dist/file && touch .gitignore .eslintrc",
    );
    expect(readFileSync(join(jail.workspace, "dist/file"), "utf8")).toBe("made\n");
    expect(readdirSync(jail.workspace)).toEqual(expect.arrayContaining([".gitignore", ".eslintrc", "dist"]));
    await works("cp .env .env.copy && echo A=1 > .env.test");
  });
});
