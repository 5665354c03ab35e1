import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Environment, ExecRequest } from "../../src/env/environment.js";
import { createLocalEnvironment } from "../../src/env/local/local.js";
import { skipWithoutSandbox } from "../sandbox/support.js";

const never = new AbortController().signal;
const PARENT = { PATH: process.env.PATH ?? "", HOME: "/root", LANG: "C.UTF-8", TZ: "UTC" };

describe.each([
  { mode: "with waiting shells", launcher: true, sandboxed: false },
  { mode: "without the launcher", launcher: false, sandboxed: false },
  { mode: "in the sandbox", launcher: true, sandboxed: true },
])("what a shell leaves, $mode", ({ launcher, sandboxed }) => {
  if (sandboxed) skipWithoutSandbox();
  let folder = "";
  let local: Environment;
  beforeAll(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), "hermes-state-")));
    local = createLocalEnvironment({
      env: PARENT,
      launcher,
      ...(sandboxed && { sandbox: { mode: "required" as const, workspace: folder } }),
    });
  });
  afterAll(async () => {
    await local.close();
    await rm(folder, { recursive: true, force: true });
  });
  const run = (command: string, changes: Partial<ExecRequest> = {}) =>
    local.exec({ command, cwd: folder, timeoutMs: 20_000, signal: never, ...changes });

  test("nothing when nothing was exported", async () => {
    expect((await run("A=1; echo $A")).exported).toEqual({});
  });

  test("what was exported, changed and taken away", async () => {
    const { exported } = await run("export NEW=1 LANG=C; unset TZ; export -n HOME");
    expect(exported).toEqual({ NEW: "1", LANG: "C", TZ: undefined, HOME: undefined });
  });

  test("what the request brought, unless the shell changed it back", async () => {
    const env = { KEPT: "k", LANG: "C", TZ: undefined, GONE: "g" };
    expect((await run("export LANG=C.UTF-8; unset GONE", { env })).exported).toEqual({
      KEPT: "k",
      TZ: undefined,
    });
  });

  test("a variable that a request takes away is not there", async () => {
    const { output } = await run("printenv TZ || echo none; env | grep -c ^TZ=", { env: { TZ: undefined } });
    expect(output).toBe("none\n0\n");
  });

  test("any value survives from one command to the next", async () => {
    const name = fc.stringMatching(/^[a-z][A-Za-z0-9_]{0,12}$/).map((text) => `v_${text}`);
    const value = fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 40 }),
      fc.string({
        unit: fc.constantFrom("'", '"', "\\", "$", "`", "\n", "\t", "!", " ", "é", "😀", "\x1b"),
        maxLength: 20,
      }),
    );
    const variables = fc.dictionary(
      name,
      value.map((text) => text.toWellFormed().replaceAll("\0", "")),
      {
        minKeys: 1,
        maxKeys: 6,
      },
    );
    await fc.assert(
      fc.asyncProperty(variables, async (wanted) => {
        const names = Object.keys(wanted);
        const first = await run("true", { env: wanted });
        expect(first.exported).toEqual(wanted);
        const show = names.map((each) => `printf '%s\\0' "$${each}"`).join("; ");
        const second = await run(`bash -c ${JSON.stringify(show).replaceAll("$", "\\$")}`, {
          env: first.exported ?? {},
        });
        expect(second.output).toBe(names.map((each) => `${wanted[each]}\0`).join(""));
      }),
      { numRuns: sandboxed ? 6 : 20 },
    );
  });

  test.each([
    ["set -eu; export A=1; false; export B=2", 1, { A: "1" }],
    ["set -u; export A=1; echo $undefined_one", 127, { A: "1" }],
    ["export A=1; exit 7", 7, { A: "1" }],
    ["set -o posix; export A='x y'", 0, { A: "x y" }],
    ["export A=1; (export B=2; exit 3)", 3, { A: "1" }],
    ["set -x; export A=1", 0, { A: "1" }],
    ["export A=1; ulimit -n 64", 0, { A: "1" }],
    ["export A=1; ulimit -n 12; true 3>/dev/null", 0, { A: "1" }],
    ["leave() { export A=1; exit 6; }; leave", 6, { A: "1" }],
    ["export A=1; exec 3>/dev/null 4>&3; echo into >&3", 0, { A: "1" }],
  ])("%s ends with %i", async (command, exitCode, exported) => {
    const result = await run(command);
    expect([result.exitCode, result.exported]).toEqual([exitCode, exported]);
    expect(result.output).not.toMatch(/pwd|export -p/);
  });

  test.each([
    ["a trap of its own", "trap 'echo mine; exit 4' EXIT; exit 2", 4, "mine\n"],
    ["another program in its place", "exec echo replaced", 0, "replaced\n"],
    ["a sudden end", "echo x; kill -9 $$", 137, "x\n"],
  ])("nothing after %s, which goes on as it would", async (_what, command, exitCode, output) => {
    const result = await run(command);
    expect([result.exitCode, result.output, result.exported]).toEqual([exitCode, output, undefined]);
  });

  test("a program of the line has none of the shell's descriptors and cannot speak in its name", async () => {
    const program = [
      "exec 2>/dev/null; ls -l /proc/self/fd | grep -c socket:",
      "for n in $(seq 3 300); do printf '/evil\\n\\0declare -x PATH=/evil\\n\\0' >&$n || :; done",
    ];
    await writeFile(join(folder, "forge.sh"), program.join("\n"));
    const { output, cwd, exported } = await run("export MINE=1; bash forge.sh; ulimit -n 64; bash forge.sh");
    expect(output).toBe("0\n0\n");
    expect([cwd, exported]).toEqual([folder, { MINE: "1" }]);
  });

  test("a report far longer than a pipe holds", async () => {
    const { exported, exitCode } = await run(
      'for i in {1..40}; do export "BIG_$i=$(printf %05000d $i)"; done; exit 5',
    );
    expect(exitCode).toBe(5);
    expect(exported?.BIG_40).toHaveLength(5_000);
  });

  test("a report of many more lines than are read at a time", async () => {
    const { exported } = await run('for i in {1..2000}; do export "MANY_$i=$i"; done');
    expect(Object.keys(exported ?? {})).toHaveLength(2_000);
    expect(exported?.MANY_2000).toBe("2000");
  });

  test("a folder that was removed under the shell leaves the variables", async () => {
    await mkdir(join(folder, "short-lived"), { recursive: true });
    const command = "export A=1; rmdir ../short-lived";
    const result = await run(command, { cwd: join(folder, "short-lived") });
    expect([result.exitCode, result.cwd, result.exported]).toEqual([0, undefined, { A: "1" }]);
  });
});

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: it is the shell's syntax
/** Words that a shell could answer differently when it was started before it knew them. */
const QUESTIONS = [
  'echo "$0 $# $- $SECONDS $BASH_SUBSHELL $SHLVL [$*] [${OLDPWD-unset}] $PWD"',
  "declare -p OLDPWD PWD SHLVL; shopt; set -o; trap | sed -E 's/[0-9a-f-]{36}/secret/'; jobs; alias; declare -F; umask; ulimit -a",
  "compgen -v | grep -v -e ^HERMES_LINE -e ^BASH_EXECUTION -e ^_$",
  "env | grep -v -e ^HERMES_ | sort",
  "ls /proc/$$/fd; [ $$ = $BASHPID ] && ps -o sid=,pgid=,tty= -p $$ | tr -s ' ' | sed s/$$/me/g",
  "grep -e ^SigIgn -e ^SigBlk -e ^Cap /proc/self/status",
  "return 3",
  "foo_bar_baz; echo $?; nonsense(",
  "echo a\nfi",
  "cd /; exit 9",
  "readonly X=1; X=2; echo not reached",
  "cat; read -r x; echo $?",
  "shift; echo $?; set -- a b; echo $#",
  'printf "%s\\n" "$LANG" "$TZ" "${HOME}"; printf "%(%H)T\\n" 0',
  "echo ${BASH_SOURCE[0]-none} ${FUNCNAME[0]-none} $LINENO",
  "time -p true 2>/dev/null; echo $?; type . eval cd",
  "exec 9>&1; echo nine >&9; exec 4>&1; echo four >&4; exec 3>&1; echo three >&3",
  'x="é😀"; echo ${#x}',
];
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: it is the shell's syntax

test("a shell that waits is the one that was found first, whatever comes on the way to it later", async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "hermes-first-")));
  const local = createLocalEnvironment({ env: { ...PARENT, PATH: `${folder}:${PARENT.PATH}` } });
  const said = async () =>
    (await local.exec({ command: "echo $0 real", cwd: folder, timeoutMs: 20_000, signal: never })).output;
  try {
    await said();
    await writeFile(join(folder, "bash"), "#!/bin/sh\ncat <&4 >/dev/null\necho another\n", { mode: 0o755 });
    for (let round = 0; round < 4; round += 1) {
      expect(await said()).toBe("bash real\n");
      await delay(200);
    }
  } finally {
    await local.close();
    await rm(folder, { recursive: true, force: true });
  }
});

test("a shell that waited for its command is like one that was started for it", async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "hermes-alike-")));
  const waiting = createLocalEnvironment({ env: PARENT });
  const requests: Partial<ExecRequest>[] = [
    {},
    { env: { TZ: "Asia/Tokyo", LANG: undefined, EXTRA: "it's\n'here'" } },
    { env: { LC_ALL: "C", PATH: "/usr/bin:/bin", HOME: "/nowhere" } },
  ];
  const ask = async (environment: Environment, request: Partial<ExecRequest>) => {
    const result = await environment.exec({
      command: "",
      cwd: folder,
      timeoutMs: 20_000,
      signal: never,
      ...request,
    });
    return { ...result, durationMs: 0 };
  };
  // The first command of an environment finds no shell that waits.
  const askFresh = async (request: Partial<ExecRequest>) => {
    const fresh = createLocalEnvironment({ env: PARENT });
    try {
      return await ask(fresh, request);
    } finally {
      await fresh.close();
    }
  };
  try {
    // The arguments of one that was started for a command hold the command.
    const command = "grep -qa has-waited /proc/$$/cmdline || echo waited";
    const waited = async () => (await ask(waiting, { command })).output;
    await expect.poll(waited, { timeout: 5_000 }).toBe("waited\n");
    // Long enough for a clock that began too early to show.
    await delay(1_100);
    for (const command of QUESTIONS) {
      for (const request of requests) {
        const [one, other] = await Promise.all([
          ask(waiting, { ...request, command }),
          askFresh({ ...request, command }),
        ]);
        expect(one, command).toEqual(other);
      }
    }
  } finally {
    await waiting.close();
    await rm(folder, { recursive: true, force: true });
  }
});
