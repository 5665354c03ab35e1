// Inside the cage: the machine's own programs around the runtime. A stranger's server on every port people use, the control
// sockets, a person's tmux; and the runner, which is told each row and whose answer gets what came in meanwhile.
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import type { RunnerRow } from "./protocol.js";

const PORTS = [21, 22, 25, 53, 80, 443, 1337, 3128, 4444, 5000, 8000, 8080, 8443, 9000, 9001, 9999];
const SOCKETS = [
  "/run/docker.sock",
  "/run/podman/podman.sock",
  "/run/containerd/containerd.sock",
  "/run/dbus/system_bus_socket",
  "/run/systemd/private",
  "/run/user/1000/bus",
  "/run/user/1000/systemd/private",
  "/run/user/1000/docker.sock",
];
/** What the stranger's server hands out: it tries everything at once. */
const DOWNLOADED = `#!/bin/sh
cat ~/.ssh/id_rsa ~/.netrc ~/.aws/credentials ~/.hermes/server.token ~/.hermes/.env /etc/shadow
echo x >> ~/.bashrc; echo x >> ~/.profile; echo x > /etc/profile.d/x.sh; echo x > ~/.hermes/tools/x.ts
mkdir -p ~/.config/autostart; echo x > ~/.config/autostart/x.desktop
`;
const ANSWER = `HTTP/1.1 200 OK\r\nContent-Length: ${DOWNLOADED.length}\r\nConnection: close\r\n\r\n${DOWNLOADED}`;
const MAX_SENT = 200_000;

let sent = "";
let talked: string[] = [];

function serve(onBytes: (bytes: Buffer, socket: Socket) => void, onConnect: () => void) {
  return createServer((socket) => {
    onConnect();
    socket.on("error", () => {});
    socket.on("data", (bytes) => onBytes(bytes, socket));
  }).on("error", () => {});
}

for (const port of PORTS) {
  const server = serve(
    (bytes, socket) => {
      if (sent.length < MAX_SENT) sent += bytes.toString("latin1");
      socket.end(ANSWER);
    },
    () => {},
  );
  await new Promise<void>((done) => {
    server.once("error", () => done());
    server.listen(port, "127.0.0.1", done);
  });
}
for (const path of SOCKETS) {
  mkdirSync(dirname(path), { recursive: true });
  const server = serve(
    () => {},
    () => talked.push(path),
  );
  await new Promise<void>((done) => {
    server.once("error", () => done());
    server.listen(path, done);
  });
}
try {
  // The person's own terminal multiplexer: whoever may talk to it can type into the person's shell.
  execFileSync("tmux", ["new-session", "-d", "-s", "person", "sleep 100000"], { stdio: "ignore" });
} catch {
  // Not installed.
}

const [user, runner = "", settings = ""] = process.argv.slice(2);
/** Root of the cage may open any port; the person is somebody else in the same one. */
const AS_PERSON = "--unshare-user --uid 1000 --gid 1000 --dev-bind / / --die-with-parent".split(" ");
const [program = "", ...rest] = [
  ...(user === "person" ? ["bwrap", ...AS_PERSON] : []),
  ...[process.execPath, runner, settings],
];
const child = spawn(program, rest, { stdio: ["pipe", "pipe", "inherit"] });
child.once("exit", () => process.exit(1));
child.stdin.on("error", () => {});
process.stdin.on("end", () => process.exit(0));
process.stdin.on("data", (line) => {
  sent = "";
  talked = [];
  child.stdin.write(line);
});
for await (const line of createInterface({ input: child.stdout })) {
  const answer: RunnerRow = JSON.parse(line);
  process.stdout.write(`${JSON.stringify({ ...answer, sent, talked })}\n`);
}
process.exit(1);
