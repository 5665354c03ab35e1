import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ExecRequest } from "../../../src/env/environment.js";
import { prepareSudo, SudoMemory, type SudoRequest, usesSudo } from "../../../src/tools/system/sudo.js";
import { notInstalled } from "../../support/needs.js";

const PASSWORD = "correct horse battery";

/** Behaves like sudo: a password is asked for unless the rules say otherwise, wrong ones three times. */
const PRETENDED_SUDO = `#!/bin/bash
password=$(cat "$(dirname "$0")/password" 2>/dev/null) || password=
from_input= quiet=
while [[ \${1-} == -* ]]; do
  case $1 in -k) ;; -n) quiet=1 ;; -S) from_input=1 ;; -p) shift ;; *) exit 2 ;; esac
  shift
done
if [[ -n $password ]]; then
  [[ -n $quiet ]] && { echo "sudo: a password is required" >&2; exit 1; }
  [[ -z $from_input ]] && { echo "sudo: a terminal is required to read the password" >&2; exit 1; }
  for try in 1 2 3; do
    IFS= read -r line || { echo "sudo: no password was provided" >&2; exit 1; }
    [[ $line == "$password" ]] && break
    echo "Sorry, try again." >&2
    [[ $try == 3 ]] && { echo "sudo: 3 incorrect password attempts" >&2; exit 1; }
  done
fi
echo "$@" >> "$(dirname "$0")/log"
exec "$@"
`;

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-sudo-"));
  writeFileSync(join(folder, "sudo"), PRETENDED_SUDO, { mode: 0o755 });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Ran {
  readonly output: string;
  readonly exitCode: number;
}

/** Runs what was prepared the way the environment does, with only these words on the command line. */
type Runner = (command: string | readonly string[], stdin?: string) => Ran;

const pretended: Runner = (command, stdin = "") => {
  const argv = typeof command === "string" ? ["bash", "-c", `exec 2>&1; ${command}`] : command;
  const [program = "", ...args] = argv;
  const run = spawnSync(program, args, {
    input: stdin,
    encoding: "utf8",
    env: { PATH: `${folder}:${process.env.PATH}`, HOME: folder },
  });
  return { output: run.stdout ?? "", exitCode: run.status ?? 127 };
};

function requestFor(
  command: string,
  run: Runner,
  parts: Partial<SudoRequest> = {},
): SudoRequest & { hidden: string[] } {
  const hidden: string[] = [];
  return {
    command,
    memory: new SudoMemory(),
    given: undefined,
    signal: new AbortController().signal,
    cwd: "/",
    exec: async ({ command: probe }: ExecRequest) => run(probe),
    ask: async () => undefined,
    hide: (value) => void hidden.push(value),
    hidden,
    ...parts,
  };
}

async function runWith(command: string, run: Runner, parts: Partial<SudoRequest> = {}) {
  const request = requestFor(command, run, parts);
  const prepared = await prepareSudo(request);
  const ran = run(prepared.command, prepared.stdin);
  return { ...ran, prepared, hidden: request.hidden, memory: request.memory, remark: prepared.remark(ran) };
}

describe("the word sudo", () => {
  it.each([
    "sudo ls",
    "cd /x && sudo ls",
    "A=1 B='x y' sudo -u me ls",
    "if sudo true; then echo; fi",
    "echo x | sudo tee y",
    'echo "$(sudo whoami)"',
    "for i in 1 2; do sudo echo $i; done",
    "time sudo ls",
    "ls\nsudo ls",
  ])("counts in %j", (command) => expect(usesSudo(command)).toBe(true));

  it.each([
    "echo sudo ls",
    "echo 'a; sudo ls'",
    "man sudo",
    "pseudo x",
    "# sudo ls",
    "./sudo-helper",
    "sudoedit x",
  ])("does not count in %j", (command) => expect(usesSudo(command)).toBe(false));
});

describe("a password for sudo", () => {
  const needsPassword = () => writeFileSync(join(folder, "password"), PASSWORD);
  const needsNone = () => rmSync(join(folder, "password"), { force: true });

  it("comes from SUDO_PASSWORD and reaches every sudo of the line, wherever it stands", async () => {
    needsPassword();
    const line =
      'sudo echo one; echo data | sudo cat; echo "$(sudo echo two)"; for i in 3 4; do sudo echo $i; done; sudo cat; set -o pipefail; yes | sudo true';
    const { output, exitCode, hidden } = await runWith(line, pretended, { given: PASSWORD });
    expect(output).toBe("one\ndata\ntwo\n3\n4\n");
    expect(exitCode).toBe(141);
    expect(hidden).toEqual([PASSWORD]);
  });

  it("is in no word of the command, and in no variable that programs inherit", async () => {
    needsPassword();
    const run = await runWith("sudo true; env; cat /proc/$$/cmdline", pretended, { given: PASSWORD });
    expect(run.prepared.command).not.toContain(PASSWORD);
    expect(run.output).not.toContain(PASSWORD);
  });

  it("is not given where sudo needs none, so that no program reads it as data", async () => {
    needsNone();
    const { output, prepared } = await runWith("sudo cat; echo end", pretended, { given: PASSWORD });
    expect(prepared).toMatchObject({ command: "sudo cat; echo end" });
    expect(prepared.stdin).toBeUndefined();
    expect(output).toBe("end\n");
  });

  it("is asked for once in a session, only when nothing else helps, and forgotten when it is wrong", async () => {
    needsPassword();
    const memory = new SudoMemory();
    const questions: string[] = [];
    const answers = ["wrong one", PASSWORD];
    const ask = async ({ question }: { question: string }) => {
      questions.push(question);
      return answers.shift();
    };
    const first = await runWith("sudo echo hi", pretended, { memory, ask });
    expect(first.exitCode).toBe(1);
    expect(first.remark).toContain("forgotten");
    expect(memory.password).toBeUndefined();
    expect((await runWith("sudo echo hi", pretended, { memory, ask })).output).toBe("hi\n");
    expect((await runWith("sudo echo again", pretended, { memory, ask })).output).toBe("again\n");
    expect(questions).toHaveLength(2);
    expect(questions[0]).toContain("sudo echo hi");
  });

  it("that nobody gives leaves the command as it is, with a tip instead of a hang", async () => {
    needsPassword();
    const { exitCode, remark, prepared } = await runWith("sudo ls", pretended);
    expect(prepared.command).toBe("sudo ls");
    expect(exitCode).toBe(1);
    expect(remark).toContain("SUDO_PASSWORD");
    expect((await runWith("echo hi", pretended)).remark).toBeUndefined();
  });

  it("that is wrong in the environment is said so; an empty one counts as given", async () => {
    needsPassword();
    let asked = 0;
    const ask = async () => String(++asked);
    const { remark } = await runWith("sudo ls", pretended, { given: "", ask });
    expect(asked).toBe(0);
    expect(remark).toContain("SUDO_PASSWORD");
  });

  it("ends with its session", () => {
    const memory = new SudoMemory();
    memory.password = "x";
    memory.close();
    expect(memory.password).toBeUndefined();
  });

  it("works in a shell that is not bash", async () => {
    needsPassword();
    const run: Runner = (command, stdin) =>
      pretended(typeof command === "string" ? ["sh", "-c", `exec 2>&1; ${command}`] : command, stdin);
    const { output } = await runWith("sudo echo one; echo data | sudo cat", run, { given: PASSWORD });
    expect(output).toBe("one\ndata\n");
  });
});

const impossible = whyNoRealSudo();

describe("the real sudo", () => {
  const users = { asks: "hermes-asks", free: "hermes-free" };
  let place = "";
  beforeAll(() => {
    if (impossible !== undefined) return;
    place = mkdtempSync(join(tmpdir(), "hermes-sudoers-"));
    const hash = execFileSync("openssl", ["passwd", "-6", "-stdin"], {
      input: PASSWORD,
      encoding: "utf8",
    }).trim();
    const lines = Object.values(users).map((name, index) => ({
      passwd: `${name}:x:${61_000 + index}:${61_000 + index}::/:/bin/bash`,
      shadow: `${name}:${hash}:19000:0:99999:7:::`,
    }));
    const extended = (file: string, more: readonly string[]) =>
      `${readFileSync(file, "utf8").trimEnd()}\n${more.join("\n")}\n`;
    writeFileSync(
      join(place, "passwd"),
      extended(
        "/etc/passwd",
        lines.map((line) => line.passwd),
      ),
    );
    writeFileSync(
      join(place, "shadow"),
      extended(
        "/etc/shadow",
        lines.map((line) => line.shadow),
      ),
      { mode: 0o640 },
    );
    writeFileSync(
      join(place, "sudoers"),
      `Defaults !lecture\n${users.asks} ALL=(ALL) ALL\n${users.free} ALL=(ALL) NOPASSWD: ALL\n`,
      { mode: 0o440 },
    );
  });
  afterAll(() => {
    if (place !== "") rmSync(place, { recursive: true, force: true });
  });

  /** In a view of the file system of its own, so that the machine's users and rules stay as they are. */
  const as =
    (user: string): Runner =>
    (command, stdin = "") => {
      const argv = typeof command === "string" ? ["bash", "-c", `exec 2>&1; ${command}`] : command;
      const mounts = ["passwd", "shadow", "sudoers"].map(
        (name) => `mount --bind ${place}/${name} /etc/${name}`,
      );
      const enter = `${mounts.join(" && ")} && exec setpriv --reuid=${user} --regid=${61_000} --clear-groups -- "$@"`;
      const run = spawnSync(
        "unshare",
        ["--mount", "--propagation", "private", "sh", "-c", enter, "sh", ...argv],
        {
          input: stdin,
          encoding: "utf8",
          cwd: "/",
          timeout: 20_000,
        },
      );
      return { output: run.stdout ?? "", exitCode: run.status ?? 127 };
    };

  it("takes the password from standard input, for each of several commands", async (context) => {
    if (impossible !== undefined) context.skip(impossible);
    const line = 'whoami; sudo whoami; echo data | sudo cat; echo "$(sudo id -u)"; sudo -u daemon whoami';
    const { output, remark } = await runWith(line, as(users.asks), { given: PASSWORD });
    expect(output).toBe(`${users.asks}\nroot\ndata\n0\ndaemon\n`);
    expect(remark).toBeUndefined();
  }, 60_000);

  it("refuses a wrong one, which is noticed", async (context) => {
    if (impossible !== undefined) context.skip(impossible);
    const { exitCode, remark } = await runWith("sudo whoami", as(users.asks), { given: "not this one" });
    expect(exitCode).toBe(1);
    expect(remark).toContain("SUDO_PASSWORD");
  }, 60_000);

  it("without a password fails at once with a tip, and needs none where the rules say so", async (context) => {
    if (impossible !== undefined) context.skip(impossible);
    const refused = await runWith("sudo whoami", as(users.asks));
    expect(refused.exitCode).toBe(1);
    expect(refused.remark).toContain("NOPASSWD");
    const free = await runWith("echo data | sudo cat; sudo whoami", as(users.free), { given: PASSWORD });
    expect(free.output).toBe("data\nroot\n");
  }, 60_000);
});

function whyNoRealSudo(): string | undefined {
  if (process.getuid?.() !== 0) return "[ci-cannot] only root can give users and rules of its own to a test";
  const missing = notInstalled("sudo", "openssl", "unshare", "setpriv");
  if (missing !== undefined) return missing;
  const mounts = spawnSync("unshare", ["--mount", "true"]);
  return mounts.status === 0 ? undefined : "[ci-cannot] this machine lets nobody have mounts of its own";
}
