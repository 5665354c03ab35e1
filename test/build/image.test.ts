// @needs root podman conmon runc mmdebstrap

import { execFileSync, spawnSync } from "node:child_process";
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root, tempFolder } from "../cli/hermes.js";
import { leaveNothing, until } from "../docker/leftovers.js";
import { podmanConfiguration } from "../support/podman-engine.js";

const IMAGE = "localhost/hermes";
const folder = tempFolder();
const env = { ...process.env, ...podmanConfiguration(folder) };

function podman(...args: readonly string[]) {
  return spawnSync("podman", args, { cwd: root, env, encoding: "utf8", timeout: 600_000 });
}

function must(...args: readonly string[]): string {
  const { status, stdout, stderr } = podman(...args);
  if (status !== 0)
    throw new Error(`podman ${args.join(" ")}: ${status}\n${stdout.slice(-4_000)}\n${stderr.slice(-4_000)}`);
  return stdout.trim();
}

/** What `node:*-slim` is, without asking a registry of images: this Debian, and the Node and npm of the tests. */
function importBase(name: string): void {
  const archive = join(folder, "base.tar");
  const suite = /^VERSION_CODENAME=(\S+)/m.exec(readFileSync("/etc/os-release", "utf8"))?.[1] ?? "stable";
  execFileSync("mmdebstrap", ["--quiet", "--variant=apt", suite, archive]);
  const npm = realpathSync(execFileSync("sh", ["-c", "command -v npm"], { encoding: "utf8" }).trim());
  const added = join(folder, "added");
  mkdirSync(join(added, "usr/bin"), { recursive: true });
  cpSync(realpathSync(process.execPath), join(added, "usr/bin/node"));
  cpSync(dirname(dirname(npm)), join(added, "usr/lib/node_modules/npm"), { recursive: true });
  symlinkSync("../lib/node_modules/npm/bin/npm-cli.js", join(added, "usr/bin/npm"));
  // A path that stands in it twice is refused when it is imported, folders too.
  const names = ["usr/bin/node", "usr/bin/npm", "usr/lib/node_modules"];
  execFileSync("tar", ["--append", "--owner=0", "--group=0", "-f", archive, "-C", added, ...names]);
  must("import", archive, name);
  rmSync(archive);
  rmSync(added, { recursive: true });
}

beforeAll(() => {
  importBase("localhost/base");
  const cache = execFileSync("npm", ["config", "get", "cache"], { encoding: "utf8" }).trim();
  const authority = [process.env.NODE_EXTRA_CA_CERTS, "/etc/ssl/certs/ca-certificates.crt"].find(
    (path) => path !== undefined && existsSync(path),
  );
  must(
    ...["build", "--format", "docker", "--layers=false", "--network", "host", "--tag", IMAGE],
    ...["--build-arg", "BASE=localhost/base", "--volume", `${cache}:/root/.npm`],
    ...(authority === undefined ? [] : ["--secret", `id=ca,src=${authority}`]),
    ".",
  );
}, 900_000);

afterAll(async () => {
  podman("rm", "--all", "--force", "--time", "0", "--volumes");
  podman("rmi", "--all", "--force");
  await leaveNothing(folder, 20_000);
  rmSync(folder, { recursive: true, force: true });
}, 120_000);

/** Started as `docker run -d` would, without a network: the health check asks from inside. */
function start(name: string, ...options: readonly string[]): void {
  const token = ["--env", "HERMES_TOKEN=a-long-secret-of-the-operator-0123456789"];
  must("run", "--detach", "--network", "none", "--name", name, ...token, ...options, IMAGE);
}

const healthy = (name: string) => until(() => podman("healthcheck", "run", name).status === 0, 30_000);

function call(name: string, ...words: readonly string[]) {
  return JSON.parse(must("exec", name, "hermes", "call", ...words, "--json")) as {
    readonly structured: Readonly<Record<string, unknown>>;
  };
}

describe("the image", () => {
  it("is healthy without any right and with nothing writable but its volumes, and ends when told to", async () => {
    start("confined", "--read-only", "--cap-drop", "all", "--security-opt", "no-new-privileges");
    expect(await healthy("confined"), podman("logs", "confined").stderr).toBe(true);
    expect(must("inspect", "confined", "--format", "{{.State.Health.Status}}")).toBe("healthy");
    call("confined", "write_file", "path=/work/note.txt", "content=kept");
    const { structured } = call("confined", "terminal", "command=id -u; git --version; cat note.txt");
    expect(structured.output).toMatch(/^1000\ngit version .*\nkept\n?$/);
    must("stop", "--time", "20", "confined");
    expect(must("inspect", "confined", "--format", "{{.State.ExitCode}}")).toBe("0");
  }, 120_000);

  it("runs as whoever it is told to be, also as nobody the system knows", async () => {
    start("somebody", "--user", "4242:4343");
    expect(await healthy("somebody"), podman("logs", "somebody").stderr).toBe(true);
    expect(call("somebody", "terminal", "command=id -u; id -g").structured.output).toMatch(/^4242\n4343\n?$/);
  }, 120_000);

  it("names the folder and its owner when a volume belongs to somebody else", () => {
    const volume = join(folder, "volume");
    mkdirSync(volume);
    chownSync(volume, 77, 78);
    const { status, stderr } = podman("run", "--network", "none", "--volume", `${volume}:/data`, IMAGE);
    expect(stderr).toContain("/data belongs to user 77:78");
    expect(stderr).toContain("docker run --user 77:78");
    expect(status).toBe(4);
  }, 60_000);

  it("does not listen for other machines without a secret that the operator chose", () => {
    const { status, stderr } = podman("run", "--network", "none", IMAGE);
    expect(stderr).toContain("Set HERMES_TOKEN");
    expect(status).not.toBe(0);
  }, 60_000);
});
