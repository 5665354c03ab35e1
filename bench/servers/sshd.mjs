// A real sshd on a free loopback port, and a multiplexed ssh of its own, both gone after `stop`.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

/** Answers with { missing } when it is not installed. */
export async function startSshd() {
  const program = ["/usr/sbin/sshd", "/usr/local/sbin/sshd", "/sbin/sshd"].find((path) => existsSync(path));
  if (program === undefined) return { missing: "sshd is not installed (Debian: openssh-server)" };
  const client = ["/usr/bin/ssh", "/usr/local/bin/ssh"].find((path) => existsSync(path));
  if (client === undefined) return { missing: "ssh is not installed (Debian: openssh-client)" };
  const folder = mkdtempSync(join(tmpdir(), "hermes-bench-sshd-"));
  const at = (name) => join(folder, name);
  for (const key of ["host-key", "user-key"])
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", at(key)], { stdio: "ignore" });
  copyFileSync(at("user-key.pub"), at("authorized_keys"));
  mkdirSync(at("home"));
  if (process.getuid() === 0) mkdirSync("/run/sshd", { recursive: true, mode: 0o755 });
  const port = await freePort();
  writeFileSync(
    at("sshd_config"),
    [
      `Port ${port}`,
      "ListenAddress 127.0.0.1",
      `HostKey ${at("host-key")}`,
      `AuthorizedKeysFile ${at("authorized_keys")}`,
      `PidFile ${at("pid")}`,
      "UsePAM no",
      "StrictModes no",
      "PermitRootLogin yes",
      "MaxSessions 50",
      `SetEnv HOME=${at("home")}`,
      "",
    ].join("\n"),
  );
  const [type, key] = readFileSync(at("host-key.pub"), "utf8").split(" ");
  writeFileSync(at("known_hosts"), `[127.0.0.1]:${port} ${type} ${key}\n`, { mode: 0o600 });
  // The product's ssh must not read or change the person's own files either.
  const own = [
    "-F",
    "none",
    "-o",
    `UserKnownHostsFile=${at("known_hosts")}`,
    "-o",
    "GlobalKnownHostsFile=none",
  ];
  mkdirSync(at("bin"));
  writeFileSync(at("bin/ssh"), `#!/bin/sh\nexec ${client} ${own.join(" ")} "$@"\n`);
  chmodSync(at("bin/ssh"), 0o755);
  const server = spawn(program, ["-D", "-f", at("sshd_config"), "-E", at("log")], { stdio: "ignore" });
  const user = userInfo().username;
  const stopServer = async () => {
    const ended = once(server, "exit");
    server.kill();
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await answering(port);
  } catch (error) {
    await stopServer();
    return { missing: `sshd does not start: ${error.message}` };
  }
  const target = [...own, "-i", at("user-key"), "-p", String(port), "-l", user];
  const socket = at("mux");
  const master = spawn(client, [...target, "-N", "-M", "-S", socket, "127.0.0.1"], { stdio: "ignore" });
  for (let left = 400; !existsSync(socket); left -= 1) {
    if (left === 0) throw new Error(`ssh does not connect: ${readFileSync(at("log"), "utf8").slice(-500)}`);
    await delay(25);
  }
  return {
    host: "127.0.0.1",
    port,
    user,
    keyFile: at("user-key"),
    /** First in PATH, so that every `ssh` keeps to this folder. */
    binFolder: at("bin"),
    multiplexed: ["-F", "none", "-S", socket, "127.0.0.1"],
    async stop() {
      spawnSync(client, ["-F", "none", "-S", socket, "-O", "exit", "127.0.0.1"], { stdio: "ignore" });
      if (master.exitCode === null && master.signalCode === null) await once(master, "exit");
      await stopServer();
    },
  };
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

async function answering(port) {
  for (let left = 200; left > 0; left -= 1) {
    const there = await new Promise((resolve) => {
      const socket = connect(port, "127.0.0.1");
      const done = (answer) => {
        socket.destroy();
        resolve(answer);
      };
      socket.once("data", () => done(true));
      socket.once("error", () => done(false));
      socket.setTimeout(1_000, () => done(false));
    });
    if (there) return;
    await delay(25);
  }
  throw new Error("it does not answer");
}
