import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { createSocket, type Socket as DatagramSocket } from "node:dgram";
import { once } from "node:events";
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const SECRET = "canary-8c1f-secret-of-the-host";
export const GREETING = "GREETING-FROM-THE-HOST";

const FILES: Readonly<Record<string, string>> = {
  "outside/canary.txt": SECRET,
  "outside/tree/deep/file": SECRET,
  "home/.bashrc": "# start-up",
  "home/.profile": "# start-up",
  "home/.ssh/id_ed25519": SECRET,
  "home/.aws/credentials": SECRET,
  "home/.netrc": SECRET,
  "home/.npmrc": SECRET,
  "home/.git-credentials": SECRET,
  "home/.config/gh/hosts.yml": SECRET,
  "home/.bash_history": SECRET,
  "home/hermes/config.yaml": "{}",
  "home/hermes/.env": `OPENAI_API_KEY=${SECRET}`,
  "home/hermes/state.db": SECRET,
  "workspace/readme.txt": "hello",
  "workspace/.env": `KEY=${"of the project"}`,
  "workspace/.git/hooks/pre-push": "#!/bin/sh\n",
  "workspace/.git/config": "[core]\n",
  "workspace/.husky/pre-commit": "#!/bin/sh\n",
};

/** What scripts must not change. The runtime itself keeps things in the rest of the Hermes home. */
const KEPT = [
  ...["home/.bashrc", "home/.profile", "home/.ssh", "home/.aws", "home/.netrc", "home/.config"],
  ...["home/hermes/.env", "home/hermes/state.db", "home/hermes/config.yaml"],
  ...["outside", "workspace/.git", "workspace/.env", "workspace/.husky"],
];

/** A person's machine in small, with everything a script could want to reach. */
export interface Place {
  readonly workspace: string;
  readonly home: string;
  readonly hermesHome: string;
  /** What scripts are told, as a JSON object. */
  readonly known: Readonly<Record<string, string | number>>;
  /** Whoever was reached although nobody should have been. */
  readonly visitors: readonly string[];
  victimLives(): boolean;
  /** Changes with every byte, name and mode that scripts must not change. */
  fingerprint(): string;
  close(): Promise<void>;
}

export async function makePlace(): Promise<Place> {
  // Scripts have a temporary folder of their own; what must be seen lies elsewhere, if it may.
  const base = realpathSync(makeFolder());
  for (const [name, content] of Object.entries(FILES)) {
    mkdirSync(join(base, name, ".."), { recursive: true });
    writeFileSync(join(base, name), content);
  }
  const hostTemporary = mkdtempSync(join(tmpdir(), "hermes-host-"));
  writeFileSync(join(hostTemporary, "file"), SECRET);
  const at = (name: string) => join(base, name);
  const visitors: string[] = [];
  const victim = spawn("sleep", ["120"], { env: { VICTIM_TOKEN: SECRET }, stdio: "ignore" });
  const servers = await openServers({ base, visitors });
  return {
    workspace: at("workspace"),
    home: at("home"),
    hermesHome: at("home/hermes"),
    known: {
      outside: at("outside"),
      home: at("home"),
      hermes: at("home/hermes"),
      workspace: at("workspace"),
      host_temporary: hostTemporary,
      secret: SECRET,
      victim: victim.pid ?? 0,
      runtime: process.pid,
      ...servers.known,
    },
    visitors,
    victimLives: () => victim.exitCode === null && victim.signalCode === null,
    fingerprint: () => fingerprint([...KEPT.map(at), hostTemporary]),
    async close() {
      await end(victim);
      servers.close();
      for (const folder of [base, hostTemporary]) rmSync(folder, { recursive: true, force: true });
    },
  };
}

function makeFolder(): string {
  for (const place of [join(process.cwd(), "node_modules"), tmpdir()]) {
    try {
      return mkdtempSync(join(place, ".hermes-escapes-"));
    } catch {
      // Not ours to write in.
    }
  }
  throw new Error("no folder can be made");
}

async function openServers({ base, visitors }: { readonly base: string; readonly visitors: string[] }) {
  const open: (Server | DatagramSocket)[] = [];
  const listen = async (name: string, where: string | { readonly port: 0; readonly host: string }) => {
    const server = createServer((socket) => {
      visitors.push(name);
      socket.on("error", () => undefined);
      socket.end(GREETING);
    });
    server.listen(where);
    await once(server, "listening");
    open.push(server);
    const address = server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  };
  const tcp = await listen("tcp", { port: 0, host: "0.0.0.0" });
  const tcp6 = await listen("tcp6", { port: 0, host: "::1" }).catch(() => tcp);
  const inside = join(base, "workspace/dev.sock");
  const outside = join(base, "outside/agent.sock");
  await listen("socket in the workspace", inside);
  await listen("socket outside", outside);
  const abstract = `hermes-escape-${process.pid}`;
  const listener = await abstractListener(abstract, visitors);
  const udp = createSocket("udp4", () => visitors.push("udp"));
  udp.bind(0, "0.0.0.0");
  await once(udp, "listening");
  open.push(udp);
  return {
    known: { tcp, tcp6, udp: udp.address().port, socket_inside: inside, socket_outside: outside, abstract },
    close() {
      for (const each of open) each.close();
      listener.kill("SIGKILL");
    },
  };
}

/** Node has no abstract sockets in all versions that this runs on. */
async function abstractListener(name: string, visitors: string[]): Promise<ChildProcess> {
  const script =
    'use Socket; socket(my $s, AF_UNIX, SOCK_STREAM, 0); bind($s, pack_sockaddr_un("\\0$ARGV[0]")) or die; ' +
    'listen($s, 9); $| = 1; print "up\\n"; while (accept(my $c, $s)) { print "visited\\n"; syswrite($c, $ARGV[1]) }';
  const child = spawn("perl", ["-e", script, name, GREETING], { stdio: ["ignore", "pipe", "ignore"] });
  await once(child.stdout, "data");
  child.stdout.on("data", () => visitors.push("abstract socket"));
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}

function fingerprint(roots: readonly string[]): string {
  const hash = createHash("sha256");
  const walk = (path: string): void => {
    const stats = lstatSync(path);
    hash.update(`${path} ${stats.mode} ${stats.ino} ${stats.uid}\n`);
    if (stats.isSymbolicLink()) hash.update(readlinkSync(path));
    else if (stats.isFile()) hash.update(readFileSync(path));
    else if (stats.isDirectory()) for (const name of readdirSync(path).sort()) walk(join(path, name));
  };
  roots.forEach(walk);
  return hash.digest("hex");
}
