import { type ExecFileSyncOptions, execFileSync } from "node:child_process";
import { delimiter } from "node:path";

/** Where machines run: each in a network of its own, or all on the loopback of this one. */
export interface Network {
  /** Puts a program into the network of a machine. */
  inside(machine: string, words: readonly string[]): readonly string[];
  address(machine: string): string;
  /** Nothing reaches it and it reaches nobody; connections stay open. */
  cut(machine: string): void;
  heal(machine: string): void;
  /** What the one sends to the other gets lost, and the other way round. */
  part(one: string, other: string): void;
  join(one: string, other: string): void;
  /** Bytes a second at the most; more waits, and some of it is dropped. */
  slow(machine: string, rate: string): void;
  fast(machine: string): void;
  remove(): void;
}

/** Daemons and their tools lie where the path of an ordinary shell does not lead. */
const PATH = [process.env.PATH, "/usr/sbin", "/sbin"].join(delimiter);
const QUIETLY: ExecFileSyncOptions = {
  stdio: ["ignore", "ignore", "pipe"],
  env: { ...process.env, PATH },
};

let count = 0;

/** Namespaces joined by a bridge that lies in one of its own: the networks of this machine are not touched. */
export function namespaces(machines: readonly string[]): Network {
  count += 1;
  const prefix = `hf${process.pid % 100_000}-${count}-`;
  const hub = `${prefix}hub`;
  const name = (machine: string) => `${prefix}${machine}`;
  const address = (machine: string) => `10.77.${count}.${machines.indexOf(machine) + 1}`;
  const at = (space: string, ...words: readonly string[]) => ip("-n", space, ...words);
  const made: string[] = [];
  const remove = () => {
    for (const space of made.splice(0)) ip("netns", "del", space);
  };
  try {
    for (const space of [hub, ...machines.map(name)]) {
      ip("netns", "add", space);
      made.push(space);
      at(space, "link", "set", "lo", "up");
    }
    at(hub, "link", "add", "bridge", "type", "bridge");
    at(hub, "link", "set", "bridge", "up");
    for (const machine of machines) {
      const space = name(machine);
      at(hub, "link", "add", machine, "type", "veth", "peer", "name", "eth0", "netns", space);
      at(hub, "link", "set", machine, "master", "bridge", "up");
      at(space, "address", "add", `${address(machine)}/24`, "dev", "eth0");
      at(space, "link", "set", "eth0", "up");
    }
  } catch (error) {
    remove();
    throw error;
  }
  const route = (word: "add" | "del", one: string, other: string) => {
    at(name(one), "route", word, "blackhole", `${address(other)}/32`);
    at(name(other), "route", word, "blackhole", `${address(one)}/32`);
  };
  const traffic = (machine: string, ...words: readonly string[]) =>
    execFileSync("tc", ["-n", name(machine), "qdisc", ...words], QUIETLY);
  return {
    inside: (machine, words) => ["ip", "netns", "exec", name(machine), ...words],
    address,
    cut: (machine) => at(hub, "link", "set", machine, "down"),
    heal: (machine) => at(hub, "link", "set", machine, "up"),
    part: (one, other) => route("add", one, other),
    join: (one, other) => route("del", one, other),
    slow: (machine, rate) =>
      traffic(
        machine,
        "replace",
        "dev",
        "eth0",
        "root",
        "tbf",
        "rate",
        rate,
        "burst",
        "16kb",
        "limit",
        "64kb",
      ),
    fast: (machine) => traffic(machine, "del", "dev", "eth0", "root"),
    remove,
  };
}

/** Cheaper, for faults that need no broken links. */
export function loopback(): Network {
  const none = () => {
    throw new Error("the loopback has no links to break");
  };
  return {
    inside: (_machine, words) => words,
    address: () => "127.0.0.1",
    cut: none,
    heal: none,
    part: none,
    join: none,
    slow: none,
    fast: none,
    remove: () => undefined,
  };
}

function ip(...words: readonly string[]): void {
  execFileSync("ip", words, QUIETLY);
}
