import { execFileSync } from "node:child_process";
import { onTestFinished } from "vitest";

/** Another network that one cable leads to. */
export interface NetworkLink {
  readonly namespace: string;
  /** The address at the other end. */
  readonly host: string;
  /** "unplugged" takes the cable out; "silent" leaves it in place, and the other end answers nothing any more. */
  cut(how: "unplugged" | "silent"): void;
  mend(): void;
}

/** Names of network devices have at most 15 characters. */
let links = 0;

export function inNamespace(namespace: string, command: readonly string[]): readonly string[] {
  return ["ip", "netns", "exec", namespace, ...command];
}

/** A network namespace at the other end of a pair of devices; both go when the test ends. Needs root. */
export function networkLink(): NetworkLink {
  links += 1;
  const name = `hf${process.pid}n${links}`;
  // A range for documentation and tests (RFC 2544), so that nobody's own network is in the way.
  const [here, there] = [1, 2].map((end) => `198.18.${links + (process.pid % 200)}.${end}`);
  const [ours, theirs] = [`${name}a`, `${name}b`];
  const ip = (...args: string[]) => void execFileSync("ip", args, { stdio: "pipe" });
  const far = (...command: string[]) => ip(...inNamespace(name, command).slice(1));
  ip("netns", "add", name);
  onTestFinished(() => ip("netns", "delete", name));
  ip("link", "add", ours, "type", "veth", "peer", "name", theirs, "netns", name);
  ip("address", "add", `${here}/30`, "dev", ours);
  ip("link", "set", ours, "up");
  far("ip", "address", "add", `${there}/30`, "dev", theirs);
  far("ip", "link", "set", theirs, "up");
  far("ip", "link", "set", "lo", "up");
  const silence = ["blackhole", `${here}/32`];
  let isSilent = false;
  return {
    namespace: name,
    host: there ?? "",
    cut(how) {
      if (how === "unplugged") return ip("link", "set", ours, "down");
      isSilent = true;
      far("ip", "route", "add", ...silence);
    },
    mend() {
      ip("link", "set", ours, "up");
      if (isSilent) far("ip", "route", "delete", ...silence);
      isSilent = false;
    },
  };
}
