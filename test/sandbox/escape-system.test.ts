// @needs bwrap
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { callNumber, REFUSED_CALLS } from "../../src/env/sandbox/syscalls.js";
import { type Jail, makeJail, runningWith, SECRET } from "./support.js";

let jail: Jail;
let before: string;
beforeEach(() => {
  jail = makeJail();
  before = jail.fingerprint();
});
afterEach(async () => {
  const after = jail.fingerprint();
  await jail.close();
  expect(after).toBe(before);
});

const isRoot = process.getuid?.() === 0;
const arch = process.arch === "arm64" ? "arm64" : "x64";
const number = (name: string) => callNumber(REFUSED_CALLS[name] ?? [0], arch) ?? -1;
/** perl is part of every base system and can make any system call. */
const perl = (script: string) => ["perl", "-MSocket", "-e", script];

describe("the machine's own sockets cannot be reached", () => {
  const greeting = "GREETING-FROM-THE-HOST";
  const visitors: string[] = [];
  const open: (Server | ChildProcess)[] = [];
  afterEach(async () => {
    for (const item of open.splice(0)) {
      if ("close" in item) item.close();
      else item.kill("SIGKILL");
    }
    expect(visitors.splice(0)).toEqual([]);
  });

  async function listen(where: string | number): Promise<number> {
    const server = createServer((socket) => {
      visitors.push(String(where));
      socket.on("error", () => {});
      socket.end(greeting);
    });
    open.push(server);
    if (typeof where === "number") server.listen(where, "127.0.0.1");
    else server.listen(where);
    await once(server, "listening");
    const address = server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }
  const toPath = (path: string) =>
    perl(
      `socket(my $s, AF_UNIX, SOCK_STREAM, 0); connect($s, pack_sockaddr_un("${path}")) or die "no: $!"; print <$s>`,
    );

  test("a TCP port on the loopback address", async () => {
    const port = await listen(0);
    const connect = perl(
      `socket(my $s, PF_INET, SOCK_STREAM, 0); connect($s, pack_sockaddr_in(${port}, inet_aton("127.0.0.1"))) or die "no: $!"; print <$s>`,
    );
    const result = await jail.run(connect);
    expect(result.output).not.toContain(greeting);
    expect(result.exitCode).not.toBe(0);
    const bash = await jail.run(`cat < /dev/tcp/127.0.0.1/${port}`);
    expect(bash.output).not.toContain(greeting);
  });

  test("any other address, and names", async () => {
    const result = await jail.run("getent hosts example.org; echo x > /dev/udp/192.0.2.1/53 || exit 9");
    expect(result).toMatchObject({ exitCode: 9, sandbox: { denied: "network" } });
    const interfaces = await jail.run("cat /proc/net/dev");
    expect(interfaces.output.match(/^\s*\S+:/gm)).toHaveLength(1);
  });

  test("a socket in a folder that can be seen", async () => {
    const path = join(jail.outside, "agent.sock");
    await listen(path);
    expect((await jail.run(toPath(path))).output).not.toContain(greeting);
  });

  test("a socket in the workspace", async () => {
    const path = join(jail.workspace, "dev.sock");
    await listen(path);
    expect((await jail.run(toPath(path))).output).not.toContain(greeting);
    expect((await jail.run(toPath(`/proc/self/cwd/dev.sock`))).output).not.toContain(greeting);
  });

  test("an abstract socket", async () => {
    const name = `hermes-abstract-${process.pid}`;
    const server = spawn("perl", [
      ...perl(
        `socket(my $s, AF_UNIX, SOCK_STREAM, 0); bind($s, pack_sockaddr_un("\\0${name}")) or die; listen($s, 1); $| = 1; print "up\\n"; accept(my $c, $s); print "visited\\n"; syswrite($c, "${greeting}")`,
      ).slice(1),
    ]);
    open.push(server);
    let said = "";
    server.stdout.on("data", (bytes) => {
      said += bytes;
    });
    await expect.poll(() => said, { timeout: 5_000 }).toBe("up\n");
    expect((await jail.run(toPath(`\\0${name}`))).output).not.toContain(greeting);
    expect(said).toBe("up\n");
  });

  test("run-time folders with the sockets of services", async () => {
    const { output } = await jail.run(
      "ls -A /run /var/run; ls /run/docker.sock /var/run/docker.sock /run/user /run/dbus; echo $XDG_RUNTIME_DIR $DBUS_SESSION_BUS_ADDRESS",
    );
    expect(output).not.toMatch(/^\/(?:var\/)?run\/\S+$/m);
  });

  test("families of sockets that no network namespace holds back", async () => {
    for (const family of [38, 40, 17, 31]) {
      const result = await jail.run(perl(`socket(my $s, ${family}, 3, 0) and exit 0; print $!+0; exit 1`));
      expect([family, result.output]).toEqual([family, "97"]);
    }
  });
});

describe("processes of the machine cannot be reached", () => {
  let victim: ChildProcess;
  beforeEach(() => {
    victim = spawn("sleep", ["600"], { env: { CANARY: SECRET } });
  });
  afterEach(() => {
    expect(victim.exitCode ?? victim.signalCode).toBe(null);
    victim.kill("SIGKILL");
  });

  test("they are not listed, and their environment is not readable", async () => {
    const { output } = await jail.run(
      "ls /proc | grep -E '^[0-9]+$' | wc -l; cat /proc/*/environ | tr '\\0' '\\n'; ls /proc/$PPID/cwd/",
    );
    expect(Number(output.split("\n")[0])).toBeLessThan(10);
    expect(output).not.toContain(SECRET);
    expect(output).not.toContain("CANARY");
  });

  test("they get no signals", async () => {
    await jail.run(`kill -9 ${victim.pid} -1; kill -9 -- -${victim.pid}; killall -9 sleep; pkill -9 sleep`);
    await jail.run("kill -9 -1");
  });

  test("they cannot be traced or read, nor can anything else", async () => {
    for (const name of ["ptrace", "process_vm_readv", "process_vm_writev", "kcmp", "pidfd_getfd"]) {
      const script = `my $r = syscall(${number(name)}, 16, ${victim.pid}, 0, 0, 0, 0); print $r, " ", $!+0`;
      expect([name, (await jail.run(perl(script))).output]).toEqual([name, "-1 1"]);
    }
  });
});

describe("the kernel is not at its disposal", () => {
  test.each(Object.keys(REFUSED_CALLS).filter((name) => number(name) !== -1))(
    "%s is refused",
    async (name) => {
      // Arguments that do no harm where nothing refuses them.
      const script = `my $r = syscall(${number(name)}, -1, -1, -1, -1, -1, -1); print $r, " ", $!+0`;
      expect((await jail.run(perl(script))).output).toBe("-1 1");
    },
  );

  test("no new namespaces by clone, and clone3 does not exist", async () => {
    const clone = arch === "x64" ? 56 : 220;
    const script = `print syscall(${clone}, 0x10000011, 0, 0, 0, 0), " ", $!+0, "\\n"; print syscall(435, 0, 0), " ", $!+0`;
    expect((await jail.run(perl(script))).output).toBe("-1 1\n-1 38");
  });

  test("no mounting, no other roots, no namespaces by the usual programs", async () => {
    for (const command of [
      "mount -t tmpfs none /mnt",
      "mount --bind / /mnt",
      "umount /proc",
      "unshare -Ur true",
      "unshare -m true",
      "chroot / true",
      "nsenter -t 1 -m true",
    ]) {
      const result = await jail.run(command);
      expect([command, result.exitCode === 0]).toEqual([command, false]);
    }
  });

  test("no capabilities, no new privileges, a filter", async () => {
    const { output } = await jail.run("cat /proc/self/status");
    for (const kind of ["Inh", "Prm", "Eff", "Bnd", "Amb"])
      expect(output).toContain(`Cap${kind}:\t0000000000000000`);
    expect(output).toMatch(/NoNewPrivs:\t1/);
    expect(output).toMatch(/Seccomp:\t2/);
  });

  test("programs that change who runs them do not", async () => {
    const { output } = await jail.run(
      "for p in su sudo passwd; do command -v $p >/dev/null && timeout 3 $p -n true </dev/null; done; id -u",
    );
    expect(output.trim().split("\n").at(-1)).toBe(String(process.getuid?.()));
  });

  test("no devices beyond the harmless ones, and none can be made", async () => {
    const { output } = await jail.run("ls /dev; mknod disk b 8 0; mknod mem c 1 1; ls");
    expect(output).not.toMatch(/^(?:mem|kmem|kmsg|port|sd\w|vd\w|nvme\S*|kvm|fuse|loop\d*|disk)$/m);
  });

  test("settings of the running kernel cannot be written", async () => {
    // Written are the values that stand there already.
    const { output } = await jail.run(
      'for f in vm/overcommit_memory kernel/core_pattern kernel/pid_max kernel/hostname; do v=$(cat /proc/sys/$f); (echo "$v" > /proc/sys/$f) 2>/dev/null && echo wrote $f; done; mkdir /sys/fs/cgroup/evil 2>/dev/null && echo wrote cgroup; find /proc/sys /sys -maxdepth 4 -type f -writable 2>/dev/null | head -5; echo end',
    );
    expect(output).toBe("end\n");
  });

  test("nobody else's terminal is typed into", async () => {
    const script = `open(my $t, "+<", "/dev/ptmx") or exit 7; my $b = "x"; ioctl($t, 0x5412, $b); print $!+0; ioctl($t, 0x541C, $b); print " ", $!+0`;
    expect((await jail.run(perl(script))).output).toBe("1 1");
  });

  test("the name of the machine is its own", async () => {
    expect((await jail.run("uname -n")).output).toBe("sandbox\n");
  });
});

describe("limits", () => {
  const request = () => ({ cwd: jail.workspace, timeoutMs: 20_000, signal: new AbortController().signal });

  test("a fork bomb ends at its limit, and with the call", async () => {
    const limits = { processes: 60 };
    const bomb =
      "for (1 .. 400) { my $p = fork(); last unless defined $p; if ($p == 0) { sleep 600; exit } $n++ } print $n";
    const result = await jail.environment({ limits }).exec({
      ...request(),
      command: perl(`my $n = 0; ${bomb}`),
      env: { HERMES_TEST_TAG: jail.base },
    });
    // The kernel does not count the processes of root; everybody else is held.
    const started = Number(result.output);
    if (isRoot) expect(started).toBe(400);
    else expect(started).toBeLessThanOrEqual(limits.processes);
    expect(runningWith("HERMES_TEST_TAG", jail.base)).toEqual([]);
  });

  test("a fork bomb that never stops ends with its time", async () => {
    const bomb =
      "$SIG{TERM} = 'IGNORE'; while (1) { my $p = fork(); if (defined $p && $p == 0) { sleep 600; exit } sleep 1 if !defined $p or $n++ > 300 }";
    const result = await jail.environment({ limits: { processes: 100 } }).exec({
      ...request(),
      timeoutMs: 700,
      command: perl(`my $n = 0; ${bomb}`),
      env: { HERMES_TEST_TAG: jail.base },
    });
    expect(result.timedOut).toBe(true);
    expect(runningWith("HERMES_TEST_TAG", jail.base)).toEqual([]);
  });

  test("a program that wants more memory than allowed does not get it", async () => {
    const limits = { memoryBytes: 400 * 1024 * 1024 };
    const local = jail.environment({ limits });
    const take = (megabytes: number) =>
      local.exec({ ...request(), command: perl(`my $x = "x" x (${megabytes} * 1048576); print length $x`) });
    expect((await take(100)).output).toBe(String(100 * 1048576));
    expect((await take(800)).exitCode).not.toBe(0);
  });

  test("files and the temporary folder have a size", async () => {
    const limits = { fileBytes: 1024 * 1024, temporaryBytes: 2 * 1024 * 1024 };
    const local = jail.environment({ limits });
    const command =
      "head -c 9000000 /dev/zero > big; head -c 900000 /dev/zero > small; for i in 1 2 3 4; do head -c 900000 /dev/zero > /tmp/$i; done; du -skx /tmp | cut -f1";
    const result = await local.exec({ ...request(), command });
    expect(statSync(join(jail.workspace, "big")).size).toBeLessThanOrEqual(limits.fileBytes);
    expect(statSync(join(jail.workspace, "small")).size).toBe(900_000);
    expect(Number(result.output.trim().split("\n").at(-1))).toBeLessThanOrEqual(2_100);
  });

  test("no core file is written", async () => {
    await jail.run("ulimit -c unlimited; kill -SEGV $$");
    expect(existsSync(join(jail.workspace, "core"))).toBe(false);
  });
});

describe("a runtime of its own", () => {
  const bundle = { file: "" };
  beforeAll(async () => {
    const maker = makeJail();
    bundle.file = join(maker.base, "..", `hermes-bundle-${process.pid}.mjs`);
    await maker.close();
    const made = await rolldown({
      input: fileURLToPath(new URL("../../src/env/local/local.ts", import.meta.url)),
      platform: "node",
    });
    await made.write({ file: bundle.file, format: "esm", codeSplitting: false });
    await made.close();
  });
  afterAll(async () => {
    const { rm } = await import("node:fs/promises");
    await rm(bundle.file, { force: true });
  });

  function start(command: string) {
    const script = join(jail.base, "main.mjs");
    writeFileSync(
      script,
      `import { createLocalEnvironment } from ${JSON.stringify(bundle.file)};
      const local = createLocalEnvironment({ sandbox: { mode: "required", workspace: ${JSON.stringify(jail.workspace)} } });
      const result = await local.exec({
        command: ${JSON.stringify(command)}, cwd: ${JSON.stringify(jail.workspace)}, timeoutMs: 60_000,
        signal: new AbortController().signal, env: { HERMES_TEST_TAG: ${JSON.stringify(jail.base)} },
        onChunk: (chunk) => process.stdout.write(chunk),
      });
      await local.close();`,
    );
    const secret = join(jail.outside, "canary.txt");
    return spawn(
      "bash",
      ["-c", 'exec 9<"$1" 41<"$1" 77>>"$1"; exec "$2" "$3"', "bash", secret, process.execPath, script],
      {
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
  }

  test("gives a command none of the descriptors it was started with", async () => {
    const child = start("ls /proc/$$/fd; cat <&9; cat <&41; echo evil >&77; cat /proc/$$/fd/41");
    let output = "";
    child.stdout?.on("data", (bytes) => {
      output += bytes;
    });
    await once(child, "close");
    // 10 is where the shell itself keeps its report, which no program inherits.
    expect(output).toMatch(/^0\n1\n10\n2\n(?!\d)/);
    expect(output).not.toContain(SECRET);
    expect(readFileSync(join(jail.outside, "canary.txt"), "utf8")).toBe(SECRET);
  });

  test("that is killed takes its commands with it, however they hide", async () => {
    const child = start(
      "trap '' TERM HUP; setsid bash -c 'trap \"\" TERM HUP; sleep 300' & (setsid sleep 300 &) ; echo up; sleep 300",
    );
    await once(child.stdout ?? process, "data");
    expect(runningWith("HERMES_TEST_TAG", jail.base).length).toBeGreaterThan(2);
    child.kill("SIGKILL");
    await expect.poll(() => runningWith("HERMES_TEST_TAG", jail.base), { timeout: 5_000 }).toEqual([]);
  });
});
