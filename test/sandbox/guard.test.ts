// @needs bwrap perl
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createServer as createSocketServer } from "node:net";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Environment, ExecRequest } from "../../src/env/environment.js";
import { type Jail, makeJail, SECRET } from "./support.js";

let jail: Jail;
let local: Environment;
beforeEach(() => {
  jail = makeJail();
  put(".bash_history", "ls");
  put(".ssh/config", "Host example\n");
  put(".ssh/id_ed25519.pub", "ssh-ed25519 AAAA\n");
  put(".config/fish/config.fish", "# fish\n");
  put(".npmrc", `registry=https://registry.example/\n//registry.example/:_authToken=${SECRET}\n`);
  put(".config/pip/pip.conf", `[global]\nindex-url = https://me:${SECRET}@pypi.example/simple\n`);
  local = jail.environment({ mode: "guard", visible: [join(jail.hermesHome, "cache/spillover")] });
});
afterEach(() => jail.close());

function put(name: string, content: string): void {
  mkdirSync(dirname(join(jail.home, name)), { recursive: true });
  writeFileSync(join(jail.home, name), content);
}
const run = (command: ExecRequest["command"], changes: Partial<ExecRequest> = {}) =>
  local.exec({
    command,
    cwd: jail.workspace,
    timeoutMs: 20_000,
    signal: new AbortController().signal,
    ...changes,
  });

describe("what ordinary work does goes on inside the guard", () => {
  test("commands of more workspaces at once than boundaries are kept open all run", async () => {
    const names = Array.from({ length: 40 }, (_, number) => `place-${number}`);
    for (const name of names) mkdirSync(join(jail.workspace, name));
    const results = await Promise.all(
      names.map((name) => {
        const place = join(jail.workspace, name);
        return run("pwd", { cwd: place, workspace: place });
      }),
    );
    expect(results.map(({ output }) => output)).toEqual(
      names.map((name) => `${join(jail.workspace, name)}\n`),
    );
  }, 60_000);

  test("files of the workspace, of the home and in /tmp are what they are, in both directions", async () => {
    const name = `${jail.base}/tmp-file`;
    await run(
      `echo a > made.txt; echo b > ~/beside.txt; echo c > ${name}; git add made.txt && git commit -qm one`,
    );
    expect(readFileSync(join(jail.workspace, "made.txt"), "utf8")).toBe("a\n");
    expect(readFileSync(join(jail.home, "beside.txt"), "utf8")).toBe("b\n");
    expect(
      (
        await run(
          `cat ${name}; git log --oneline | wc -l; git config user.name Other && git config user.name`,
        )
      ).output,
    ).toBe("c\n1\nOther\n");
  });

  test("servers of this machine are reached, and those of commands can be", async () => {
    const server = createServer((_request, response) => response.end("from outside")).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const script = `fetch("http://127.0.0.1:${port}").then((r) => r.text()).then(console.log)`;
    expect((await run([process.execPath, "-e", script])).output).toBe("from outside\n");
    server.close();
    let told = "";
    const listening = `require("http").createServer((q, r) => r.end("inside")).listen(0, "127.0.0.1", function () { console.log(this.address().port) })`;
    const child = await local.spawn({
      command: [process.execPath, "-e", listening],
      cwd: jail.workspace,
      onOutput: (bytes) => {
        told += Buffer.from(bytes);
      },
    });
    await expect.poll(() => told, { timeout: 10_000 }).toMatch(/^\d+\n/);
    expect(await (await fetch(`http://127.0.0.1:${Number(told)}`)).text()).toBe("inside");
    // Across calls: another command reaches it, sees it and ends it.
    const other = `fetch("http://127.0.0.1:${Number(told)}").then((r) => r.text()).then(console.log)`;
    expect((await run([process.execPath, "-e", other])).output).toBe("inside\n");
    await run(`kill ${child.pid}`);
    expect((await child.ended).exitCode).toBe(143);
  });

  test("folder and exports last, the exit code is the program's, what is left running is told", async () => {
    const { cwd, exported, exitCode } = await run("cd conf; export A=1; exit 3");
    expect([cwd, exported, exitCode]).toEqual([join(jail.workspace, "conf"), { A: "1" }, 3]);
  });

  test("a time limit ends everything that a command has started", async () => {
    // Nobody else on this machine sleeps for so long.
    const seconds = `3${process.pid}`;
    const { timedOut } = await run(`setsid sleep ${seconds} & sleep ${seconds}`, { timeoutMs: 300 });
    expect(timedOut).toBe(true);
    expect((await run(`pgrep -fc '[s]leep ${seconds}' || true`)).output).toBe("0\n");
  });

  test("package managers keep their registry and lose only the secret", async () => {
    const { output } = await run("cat ~/.npmrc ~/.config/pip/pip.conf");
    expect(output).toContain("registry=https://registry.example/");
    expect(output).toContain("index-url = https://pypi.example/simple");
    expect(output).not.toContain(SECRET);
  });

  test("an agent's socket signs, also where the sockets of the desktop are out of reach", async () => {
    const runtimeDir = join(jail.base, "run");
    mkdirSync(runtimeDir);
    const answer = (path: string) =>
      createSocketServer((socket) => socket.end("reached")).listen(join(runtimeDir, path));
    const servers = [answer("agent"), answer("bus"), answer("wayland-0")];
    const { createLocalEnvironment } = await import("../../src/env/local/local.js");
    const env = {
      PATH: process.env.PATH,
      HOME: jail.home,
      XDG_RUNTIME_DIR: runtimeDir,
      SSH_AUTH_SOCK: join(runtimeDir, "agent"),
    };
    const desktop = createLocalEnvironment({ env, sandbox: { mode: "guard", workspace: jail.workspace } });
    const ask = (path: string) =>
      `require("net").connect("${path}").on("data", (d) => console.log(String(d))).on("error", (e) => console.log(e.code))`;
    const at = async (path: string) =>
      (
        await desktop.exec({
          command: [process.execPath, "-e", ask(path)],
          cwd: "/",
          timeoutMs: 20_000,
          signal: new AbortController().signal,
        })
      ).output.trim();
    try {
      expect(await at(join(runtimeDir, "agent"))).toBe("reached");
      expect(await at(join(runtimeDir, "wayland-0"))).toBe("reached");
      expect(await at(join(runtimeDir, "bus"))).toBe("ENOENT");
      const variables = await desktop.exec({
        command: ["printenv", "SSH_AUTH_SOCK"],
        cwd: "/",
        timeoutMs: 20_000,
        signal: new AbortController().signal,
      });
      expect(variables.output).toBe(`${join(runtimeDir, "agent")}\n`);
    } finally {
      await desktop.close();
      for (const server of servers) server.close();
    }
  });

  test("a terminal is a terminal", async () => {
    let screen = "";
    const child = await local.spawn({
      command:
        "stty size; read -r -p 'name? ' name; echo \"hello $name\"; echo x >> ~/.bashrc; cat ~/.hermes/server.token",
      cwd: jail.workspace,
      pty: { columns: 91, rows: 31 },
      onOutput: (bytes) => {
        screen += Buffer.from(bytes);
      },
    });
    await expect.poll(() => screen, { timeout: 10_000 }).toContain("name? ");
    await child.write("you\n");
    expect((await child.ended).exitCode).toBe(1);
    expect(screen).toContain("31 91");
    expect(screen).toContain("hello you");
    expect(screen).toMatch(/Read-only file system[\s\S]*No such file/);
  });
});

describe("what must not happen does not", () => {
  test.each([
    [
      "Hermes' home",
      "cat ~/.hermes/server.token ~/.hermes/config.yaml; find ~/.hermes -type f -exec cat {} +",
    ],
    ["keys", "cat ~/.ssh/id_ed25519 ~/.aws/credentials ~/.netrc ~/.git-credentials ~/.config/gh/hosts.yml"],
    ["a whole home", "tar c ~ 2>/dev/null | cat; cp -r ~ copy; cat copy/.netrc copy/.hermes/*"],
    ["through a link", "ln -s ~/.hermes/server.token here; cat here; ln ~/.netrc hard; cat hard"],
    [
      "the runtime's own view",
      `for p in ${process.pid} $PPID 1; do cat /proc/$p/root$HOME/.netrc /proc/$p/environ; done`,
    ],
    [
      "a namespace of its own",
      "unshare -Urm sh -c 'umount ~/.aws ~/.hermes; cat ~/.aws/credentials ~/.hermes/server.token'",
    ],
  ])("reading %s", async (_what, command) => {
    const { output } = await run(`${command} 2>&1`);
    expect(output).not.toContain(SECRET);
  });

  test("what the table lets be read stays readable", async () => {
    const { output } = await run(
      "cat ~/.ssh/config ~/.ssh/id_ed25519.pub ~/.hermes/cache/spillover/result.txt ~/.bashrc",
    );
    expect(output).toBe("Host example\nssh-ed25519 AAAA\nspilled# start-up");
  });

  test.each([
    [
      "a start-up file",
      "echo evil >> ~/.bashrc; rm -f ~/.bashrc; mv ~/.bashrc x; sed -i s/start/evil/ ~/.bashrc",
    ],
    [
      "one of a folder",
      "echo evil > ~/.config/fish/config.fish; rm -rf ~/.config/fish; mv ~/.config ~/.gone",
    ],
    [
      "by mounting over it",
      "unshare -Urm sh -c 'mount --bind /dev/null ~/.bashrc; mount -o remount,bind,rw ~/.bashrc; echo evil > ~/.bashrc'",
    ],
    ["a system folder", "touch /etc/hermes-was-here /usr/hermes-was-here /usr/local/bin/hermes-was-here"],
    [
      "the kernel's switches",
      "echo x > /proc/sys/kernel/hostname; echo b > /proc/sysrq-trigger; echo 1 > /sys/kernel/mm/ksm/run",
    ],
    [
      "Hermes' home",
      "echo evil > ~/.hermes/config.yaml; mkdir -p ~/.hermes/tools; mv ~/.hermes ~/.h2; rm -rf ~/.hermes",
    ],
    ["keys", "echo evil >> ~/.ssh/authorized_keys; mv ~/.ssh ~/.s2; mkdir -p ~/.ssh"],
  ])("changing %s", async (_what, command) => {
    const before = jail.fingerprint();
    await run(command);
    expect(jail.fingerprint()).toBe(before);
    expect(existsSync("/etc/hermes-was-here")).toBe(false);
  });

  test("the usual Hermes home where this one is another, and Hermes' own program", async () => {
    const [program, usual] = [join(jail.base, "hermes-tools"), join(jail.home, ".hermes")];
    mkdirSync(join(program, "dist"), { recursive: true });
    writeFileSync(join(program, "dist/main.js"), "// ours\n");
    local = jail.environment({ mode: "guard", hidden: [join(jail.base, "elsewhere")], ownFiles: [program] });
    const { output } = await run(
      `cat ~/.hermes/server.token ${program}/dist/main.js; echo evil >> ${program}/dist/main.js; echo evil > ${program}/dist/.cache; mv ${program} ${program}2; echo evil > ~/.hermes/config.yaml`,
    );
    expect(output).toContain("// ours");
    expect(output).not.toContain(SECRET);
    expect(readdirSync(join(program, "dist"))).toEqual(["main.js"]);
    expect(readFileSync(join(program, "dist/main.js"), "utf8")).toBe("// ours\n");
    expect(readFileSync(join(usual, "config.yaml"), "utf8")).toBe(SECRET);
  });

  test("Hermes can be worked on, and be a dependency of what is worked on", async () => {
    const modules = join(jail.workspace, "node_modules");
    mkdirSync(modules);
    local = jail.environment({ mode: "guard", ownFiles: [jail.workspace, modules] });
    const { output } = await run(
      "echo new > readme.txt && rm -r node_modules && mkdir node_modules && echo done",
    );
    expect(output).toBe("done\n");
    expect(readFileSync(join(jail.workspace, "readme.txt"), "utf8")).toBe("new\n");
  });

  test("a start-up file that was not there is taken away, and that is told", async () => {
    const result = await run(
      "echo evil > ~/.zshrc; mkdir -p ~/.config/autostart; echo evil > ~/.config/autostart/x.desktop",
    );
    expect(result.output).toMatch(/put back[^\n]*\.zshrc/);
    expect(existsSync(join(jail.home, ".zshrc"))).toBe(false);
    expect(existsSync(join(jail.home, ".config/autostart"))).toBe(false);
    expect(readdirSync(join(jail.home, ".config")).join()).toMatch(/autostart\.refused-/);
  });

  test("also when the folder is given back the time at which it was changed before", async () => {
    await run("sleep 0.3; touch -r ~ stamp");
    const result = await run("echo evil > ~/.zshrc; touch -r stamp ~");
    expect(result.output).toMatch(/put back[^\n]*\.zshrc/);
    expect(existsSync(join(jail.home, ".zshrc"))).toBe(false);
  });

  test("also in folders that were not there, one inside the other", async () => {
    await run("sleep 0.3");
    const result = await run("mkdir -p ~/.kde/autostart; echo evil > ~/.kde/autostart/x.desktop");
    expect(result.output).toMatch(/put back[^\n]*\.kde\/autostart/);
    await run("sleep 0.3");
    expect((await run("mkdir -p ~/.kde/autostart")).output).toMatch(/put back[^\n]*\.kde\/autostart/);
  });

  test("also while a program goes on by itself", async () => {
    const child = await local.spawn({
      command: "echo evil > ~/.profile; sleep 60",
      cwd: jail.workspace,
      onOutput: () => {},
    });
    await expect.poll(() => readdirSync(jail.home), { timeout: 10_000 }).not.toContain(".profile");
    await child.end();
    expect((await run("true")).output).toContain(".profile");
  });

  test("also by what a command has left running, however often it is made again", async () => {
    const later =
      "sleep 0.5; for i in $(seq 50); do echo evil > ~/.zlogin; sleep 0.02; done; echo evil > ~/.kshrc; touch done; sleep 60";
    await run(`(setsid sh -c '${later}' > /dev/null 2>&1 &)`);
    await expect.poll(() => existsSync(join(jail.workspace, "done")), { timeout: 20_000 }).toBe(true);
    await expect.poll(() => readdirSync(jail.home).join(), { timeout: 10_000 }).not.toMatch(/zlogin|kshrc/);
    expect((await run("true")).output).toMatch(/put back[^\n]*\.kshrc/);
  });

  test("settings of a credential store that was not there start nothing later", async () => {
    const result = await run(
      "mkdir ~/.docker ~/.kube; echo '{}' > ~/.docker/config.json; echo a > ~/.kube/cache",
    );
    expect(result.output).toMatch(/put back[^\n]*\.docker\/config\.json/);
    expect(existsSync(join(jail.home, ".docker/config.json"))).toBe(false);
    expect(existsSync(join(jail.home, ".kube/cache"))).toBe(true);
  });

  test("what comes and goes while it is made does not loosen it", async () => {
    const coming = "while :; do mkdir -p ~/.oci ~/.fly ~/.boto; rmdir ~/.oci ~/.fly ~/.boto; done";
    const child = await local.spawn({ command: coming, cwd: jail.workspace, onOutput: () => {} });
    const ours = readlinkSync("/proc/self/ns/mnt");
    for (let round = 0; round < 5; round += 1) {
      const said = await run("readlink /proc/self/ns/mnt").then(({ output }) => output, String);
      expect(said).toMatch(/^mnt:|could not be made this time/);
      expect(said).not.toContain(ours);
    }
    await child.end();
  });

  test("no signal opens a debugger in this process", async () => {
    const { url } = await import("node:inspector");
    await run(`kill -USR1 ${process.pid}`);
    await run("sleep 0.5");
    expect(url()).toBeUndefined();
  });

  test("one that a person made meanwhile is the person's, and is kept from then on", async () => {
    await run("true");
    put(".zshrc", "# mine");
    expect((await run("echo evil >> ~/.zshrc")).exitCode).toBe(1);
    expect(readFileSync(join(jail.home, ".zshrc"), "utf8")).toBe("# mine");
    // Editors put a new file in the place of the old one.
    put(".bashrc.new", "# new");
    const { renameSync } = await import("node:fs");
    renameSync(join(jail.home, ".bashrc.new"), join(jail.home, ".bashrc"));
    expect((await run("echo evil >> ~/.bashrc")).exitCode).toBe(1);
    expect(readFileSync(join(jail.home, ".bashrc"), "utf8")).toBe("# new");
  });

  test("a start-up file that is a link leads where it led", async () => {
    put("dotfiles/zshrc", "# mine");
    symlinkSync("dotfiles/zshrc", join(jail.home, ".zshrc"));
    await run("echo evil > other; ln -sf $PWD/other ~/.zshrc; echo evil >> ~/dotfiles/zshrc");
    expect(readFileSync(join(jail.home, ".zshrc"), "utf8")).toBe("# mine");
  });

  test("no file is left that makes others its owner", async () => {
    const { output } = await run(
      "cp /bin/true owned; chmod u+s owned; chmod 4755 owned; install -m 4755 /bin/true second; python3 -c \"import os; os.open('third', os.O_CREAT | os.O_WRONLY, 0o4755)\"; cp -p owned copy; find . -perm /4000",
    );
    expect(output).not.toMatch(/^\.\//m);
    chmodSync(join(jail.workspace, "owned"), 0o755);
  });

  test("a command that cannot see its folder says so", async () => {
    await expect(run("pwd", { cwd: join(jail.home, ".aws") })).resolves.toMatchObject({ exitCode: 0 });
    await expect(run("pwd", { cwd: join(jail.hermesHome, "cache") })).resolves.toMatchObject({ exitCode: 0 });
    put(".aws/sso/cache/x", "x");
    await expect(run("pwd", { cwd: join(jail.home, ".aws/sso/cache") })).rejects.toThrow(
      /do not see that folder/,
    );
  });
});

describe("a command that needs more", () => {
  test("what was refused is named", async () => {
    expect((await run("echo x >> ~/.bashrc")).sandbox).toEqual({
      active: true,
      level: "guard",
      denied: "write",
      deniedPath: join(jail.home, ".bashrc"),
    });
    expect((await run("cat ~/.aws/credentials")).sandbox).toMatchObject({
      denied: "read",
      deniedPath: join(jail.home, ".aws"),
    });
    expect((await run("false")).sandbox).toEqual({ active: true, level: "guard" });
  });

  test("gets it for this once: to write, to read, to leave", async () => {
    const path = join(jail.home, ".bashrc");
    expect(
      (await run("sed -i s/start/mine/ ~/.bashrc && cat ~/.bashrc", { sandbox: { write: [path] } })).output,
    ).toBe("# mine-up");
    expect((await run("echo x >> ~/.bashrc")).exitCode).toBe(1);
    const created = join(jail.home, ".zprofile");
    await run("echo '# wanted' > ~/.zprofile", { sandbox: { write: [created] } });
    expect(readFileSync(created, "utf8")).toBe("# wanted\n");
    expect(
      (await run("cat ~/.aws/credentials", { sandbox: { read: [join(jail.home, ".aws")] } })).output,
    ).toBe(SECRET);
    expect((await run("cat ~/.aws/credentials")).exitCode).toBe(1);
    expect((await run("cat ~/.netrc", { sandbox: { off: true } })).output).toBe(SECRET);
  });

  test.runIf(process.getuid?.() === 0)("gets a folder in /, and no other one instead of /bin", async () => {
    const path = `/hermes-test-${process.pid}`;
    const made = `mkdir ${path} && echo a > ${path}/a && cat ${path}/a; rm -r ${path}`;
    expect((await run(made)).sandbox).toMatchObject({ denied: "write", deniedPath: path });
    const given = await run(`${made}; ln -s /tmp /libx32`, { sandbox: { write: [path] } });
    expect(given.output).toMatch(/^a\n[\s\S]*put back[^\n]*\/libx32/);
    expect(existsSync("/libx32")).toBe(false);
    mkdirSync(path);
    try {
      // Made outside meanwhile: it is what it is from the next command on.
      expect((await run(`echo b > ${path}/b`)).exitCode).toBe(0);
      expect((await run(`echo c > ${path}/c`, { sandbox: { write: [path] } })).exitCode).toBe(0);
      expect(readdirSync(path)).toEqual(["b", "c"]);
    } finally {
      rmSync(path, { recursive: true });
    }
  });
});
