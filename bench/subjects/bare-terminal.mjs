// What the product stands on, used directly: child_process, node-pty, ssh, the engine's API.
import { spawn } from "node:child_process";
import { request } from "node:http";
import { grow } from "../grow.mjs";
import { oneByOne } from "../operations.mjs";

/**
 * `file`: what `output` prints. `ssh`: arguments of a multiplexed ssh. `docker`: { socket, container }.
 * `megabytes`: memory held meanwhile. `pty`: whether terminals are wanted.
 */
export async function open({ file, ssh, docker, megabytes, pty = false }) {
  const held = grow(megabytes);
  const terminals = pty ? await import("@lydell/node-pty") : undefined;
  return {
    operations: {
      echo: oneByOne(() => collected("bash", ["-c", "echo hi"])),
      output: oneByOne(() => counted("bash", ["-c", `cat ${file}`])),
      pty: oneByOne(() => inTerminal(terminals.default ?? terminals)),
      ssh: oneByOne(() => collected("ssh", [...ssh, "echo hi"])),
      docker: oneByOne(() => dockerExec(docker)),
    },
    close: () => held.free(),
  };
}

function collected(program, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
    child.once("error", reject);
    child.once("close", (code) => {
      if (code === 0 && output === "hi\n") resolve();
      else reject(new Error(`${program} ended with ${code}: ${output.slice(0, 500)}`));
    });
  });
}

/** The quickest way to read a child with plain node: take the chunks and count. */
function counted(program, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
    let bytes = 0;
    child.stdout.on("data", (chunk) => {
      bytes += chunk.length;
    });
    child.once("error", reject);
    child.once("close", (code) =>
      code === 0 && bytes > 0 ? resolve() : reject(new Error(`${program} ended with ${code}`)),
    );
  });
}

function inTerminal({ spawn: spawnInTerminal }) {
  return new Promise((resolve, reject) => {
    const terminal = spawnInTerminal("bash", ["-c", "echo hi"], { cols: 80, rows: 24 });
    let output = "";
    terminal.onData((text) => {
      output += text;
    });
    terminal.onExit(({ exitCode }) =>
      exitCode === 0 && output.startsWith("hi")
        ? resolve()
        : reject(new Error(`ended with ${exitCode}: ${output}`)),
    );
  });
}

/** One command in a running container: create, start and read to the end, ask for the exit code. */
async function dockerExec({ socket, container }) {
  const { Id } = await engine(socket, {
    path: `/containers/${container}/exec`,
    body: { AttachStdout: true, AttachStderr: true, Cmd: ["sh", "-c", "echo hi"] },
  });
  const output = await hijacked(socket, `/exec/${Id}/start`);
  const { ExitCode } = await engine(socket, { method: "GET", path: `/exec/${Id}/json` });
  if (ExitCode !== 0 || !output.includes("hi\n")) throw new Error(`exec ended with ${ExitCode}: ${output}`);
}

function engine(socketPath, { method = "POST", path, body }) {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? "" : JSON.stringify(body);
    const sent = request(
      {
        socketPath,
        method,
        path,
        headers: { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(text) },
      },
      (answer) => {
        let received = "";
        answer.setEncoding("utf8").on("data", (chunk) => {
          received += chunk;
        });
        answer.on("end", () =>
          answer.statusCode < 300
            ? resolve(JSON.parse(received))
            : reject(new Error(`${path}: ${answer.statusCode} ${received}`)),
        );
      },
    );
    sent.once("error", reject);
    sent.end(text);
  });
}

function hijacked(socketPath, path) {
  return new Promise((resolve, reject) => {
    const text = JSON.stringify({ Detach: false, Tty: false });
    const sent = request({
      socketPath,
      method: "POST",
      path,
      headers: {
        "Content-Type": "application/json",
        "Content-Length": Buffer.byteLength(text),
        Connection: "Upgrade",
        Upgrade: "tcp",
      },
    });
    sent.once("upgrade", (_answer, stream, head) => {
      const chunks = [head];
      stream.on("data", (chunk) => chunks.push(chunk));
      stream.once("end", () => {
        stream.destroy();
        resolve(Buffer.concat(chunks).toString("latin1"));
      });
      stream.once("error", reject);
    });
    sent.once("response", (answer) => reject(new Error(`${path}: ${answer.statusCode}`)));
    sent.once("error", reject);
    sent.end(text);
  });
}
