import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
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
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach } from "vitest";
import type { Environment, ExecRequest, ExecResult } from "../../src/env/environment.js";
import { createLocalEnvironment } from "../../src/env/local/local.js";
import { probeBwrap } from "../../src/env/sandbox/probe.js";
import type { SandboxOptions } from "../../src/env/sandbox/types.js";

const probed = await probeBwrap();
/** Why sandbox tests cannot run here; undefined when they can. CI installs bubblewrap. */
export const noSandbox =
  "unavailable" in probed
    ? `${/not installed/.test(probed.unavailable) ? "" : "[ci-cannot] "}${probed.unavailable}`
    : undefined;

export function skipWithoutSandbox(): void {
  beforeEach((context) => {
    if (noSandbox !== undefined) context.skip(noSandbox);
  });
}

/** Programs running now that were started with this variable, whatever they did since. Zombies run nothing. */
export function runningWith(variable: string, value: string): readonly string[] {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
      if (!environment.includes(`${variable}=${value}`)) return false;
      return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
    } catch {
      return false;
    }
  });
}

export const SECRET = "canary-5ecret-bytes";

/** A person's machine in small: a project, a home with keys, and a tree that must stay as it is. */
export interface Jail {
  readonly base: string;
  readonly workspace: string;
  readonly home: string;
  readonly hermesHome: string;
  readonly outside: string;
  run(command: ExecRequest["command"], changes?: Partial<ExecRequest>): Promise<ExecResult>;
  environment(changes?: Partial<SandboxOptions>): Environment;
  /** Changes with every byte, name and mode outside the workspace. */
  fingerprint(): string;
  close(): Promise<void>;
}

export function makeJail(): Jail {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "hermes-jail-")));
  const place = (name: string) => join(base, name);
  const [workspace, home, hermesHome, outside] = [
    place("workspace"),
    place("home"),
    place("home/.hermes"),
    place("outside"),
  ];
  const files: Record<string, string> = {
    "outside/canary.txt": SECRET,
    "outside/tree/deep/file": SECRET,
    "home/.bashrc": "# start-up",
    "home/.ssh/id_ed25519": SECRET,
    "home/.aws/credentials": SECRET,
    "home/.netrc": SECRET,
    "home/.npmrc": SECRET,
    "home/.git-credentials": SECRET,
    "home/.config/gh/hosts.yml": SECRET,
    "home/.bash_history": SECRET,
    "home/.hermes/config.yaml": SECRET,
    "home/.hermes/server.token": SECRET,
    "home/.hermes/cache/spillover/result.txt": "spilled",
    "home/notes.txt": "plain notes",
    "workspace/readme.txt": "hello",
    "workspace/.env": "KEY=1",
    "workspace/conf/settings.json": "{}",
  };
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(place(name), ".."), { recursive: true });
    writeFileSync(place(name), content);
  }
  const env = { PATH: process.env.PATH ?? "", HOME: home, TMPDIR: process.env.TMPDIR };
  const git = (...args: string[]) => execFileSync("git", args, { cwd: workspace, env, stdio: "ignore" });
  git("init", "-q");
  git("config", "user.email", "dev@example.org");
  git("config", "user.name", "Dev");

  const environments: Environment[] = [];
  const environment = (changes: Partial<SandboxOptions> = {}): Environment => {
    const made = createLocalEnvironment({
      env,
      sandbox: {
        mode: "required",
        workspace,
        hidden: [hermesHome],
        // Temporary folders are out of sight in the sandbox; these lie in one only because this is a test.
        visible: [base, join(hermesHome, "cache/spillover")],
        ...changes,
      },
    });
    environments.push(made);
    return made;
  };
  const plain = environment();
  return {
    base,
    workspace,
    home,
    hermesHome,
    outside,
    environment,
    run: (command, changes = {}) =>
      plain.exec({
        command,
        cwd: workspace,
        timeoutMs: 20_000,
        signal: new AbortController().signal,
        ...changes,
        env: { OUT: outside, BASE: base, WS: workspace, ...changes.env },
      }),
    fingerprint: () => fingerprint([home, outside]),
    async close() {
      for (const made of environments) await made.close();
      rmSync(base, { recursive: true, force: true });
    },
  };
}

function fingerprint(roots: readonly string[]): string {
  const hash = createHash("sha256");
  const walk = (path: string): void => {
    const stats = lstatSync(path);
    hash.update(`${path} ${stats.mode} ${stats.ino}\n`);
    if (stats.isSymbolicLink()) hash.update(readlinkSync(path));
    else if (stats.isFile()) hash.update(readFileSync(path));
    else if (stats.isDirectory()) for (const name of readdirSync(path).sort()) walk(join(path, name));
  };
  roots.forEach(walk);
  return hash.digest("hex");
}
