// A real Docker daemon with a folder and a socket of its own, an image made from this machine's own programs, and
// one running container; all gone after `stop`.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

export const IMAGE = "hermes-bench:latest";

/** Answers with { missing } when it is not installed or may not run. */
export async function startDockerd() {
  if (process.getuid() !== 0) return { missing: "a container engine can be started by root only" };
  for (const program of ["dockerd", "containerd", "runc", "busybox"])
    if (which(program) === undefined)
      return { missing: `${program} is not installed (Debian: docker.io, busybox)` };
  const folder = mkdtempSync(join(tmpdir(), "hermes-bench-dockerd-"));
  const socket = join(folder, "docker.sock");
  const args = [
    ...["--iptables=false", "--ip6tables=false", "--bridge=none", "--ip-forward=false", "--ip-masq=false"],
    ...["--data-root", join(folder, "data"), "--exec-root", join(folder, "exec")],
    ...["--pidfile", join(folder, "pid"), "--host", `unix://${socket}`],
  ];
  const daemon = spawn(which("dockerd"), args, {
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` },
  });
  let log = "";
  daemon.stderr.setEncoding("utf8").on("data", (text) => {
    log = (log + text).slice(-2_000);
  });
  const ask = (options) => engine(socket, options);
  const stop = async () => {
    if (daemon.exitCode === null && daemon.signalCode === null) {
      const containers = await ask({ method: "GET", path: "/containers/json?all=1" }).catch(() => []);
      for (const { Id } of containers) await ask({ method: "DELETE", path: `/containers/${Id}?force=1` });
      const ended = once(daemon, "exit");
      daemon.kill();
      await ended;
    }
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    for (let left = 400; ; left -= 1) {
      if (await ask({ method: "GET", path: "/version" }).catch(() => false)) break;
      if (left === 0 || daemon.exitCode !== null) throw new Error(log.trim().split("\n").at(-1));
      await delay(50);
    }
    await ask({
      path: `/images/create?fromSrc=-&repo=hermes-bench&tag=latest`,
      stream: imageArchive(folder),
    });
    const { Id } = await ask({
      path: "/containers/create",
      body: {
        Image: IMAGE,
        Cmd: ["sh", "-c", "while :; do sleep 3600; done"],
        HostConfig: { NetworkMode: "none", Init: false },
      },
    });
    await ask({ path: `/containers/${Id}/start` });
    return { socket, container: Id, stop };
  } catch (error) {
    await stop();
    return { missing: `dockerd does not start here: ${error.message}` };
  }
}

/** bash and what a shell needs, from this machine; everything else is busybox. */
function imageArchive(folder) {
  const root = join(folder, "root");
  for (const each of ["etc", "tmp", "root", "proc", "sys", "dev", "run", "usr/bin"])
    mkdirSync(join(root, each), { recursive: true });
  copyFileSync(realpathSync(which("busybox")), join(root, "usr/bin/busybox"));
  for (const applet of execFileSync("busybox", ["--list"], { encoding: "utf8" }).trim().split("\n"))
    if (applet !== "busybox") symlinkSync("busybox", join(root, "usr/bin", applet));
  symlinkSync("usr/bin", join(root, "bin"));
  const bash = realpathSync(which("bash"));
  copyFileSync(bash, join(root, "usr/bin/bash"));
  const libraries = execFileSync("ldd", [bash], { encoding: "utf8" }).matchAll(/(\/\S+) \(0x/g);
  for (const [, library] of libraries) {
    const target = join(root, library.replace(/^\/(lib|lib64)\//, "/usr/$1/"));
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(realpathSync(library), target);
  }
  for (const name of ["lib", "lib64"])
    if (existsSync(join(root, "usr", name))) symlinkSync(`usr/${name}`, join(root, basename(name)));
  const file = join(folder, "image.tar");
  execFileSync("tar", ["--owner=0", "--group=0", "-C", root, "-cf", file, "."]);
  rmSync(root, { recursive: true });
  return createReadStream(file);
}

function which(name) {
  const folders = ["/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin"];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

function engine(socketPath, { method = "POST", path, body, stream }) {
  return new Promise((resolve, reject) => {
    const headers = stream === undefined ? { "Content-Type": "application/json" } : {};
    const sent = request({ socketPath, method, path, headers }, (answer) => {
      let received = "";
      answer.setEncoding("utf8").on("data", (chunk) => {
        received += chunk;
      });
      answer.on("end", () => {
        if (answer.statusCode >= 400) reject(new Error(`${path}: ${answer.statusCode} ${received}`));
        else resolve(received.startsWith("{") || received.startsWith("[") ? parsed(received) : received);
      });
    });
    sent.once("error", reject);
    if (stream === undefined) sent.end(body === undefined ? undefined : JSON.stringify(body));
    else stream.pipe(sent);
  });
}

/** Importing answers with several objects. */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
