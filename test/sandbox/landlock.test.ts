// @needs perl
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Environment } from "../../src/env/environment.js";
import { type Jail, makeJail, SECRET } from "./support.js";

/** Asks the kernel which version it has. */
function hasLandlock(): boolean {
  try {
    return Number(execFileSync("perl", ["-e", "print syscall 444, 0, 0, 1"])) >= 1;
  } catch {
    return false;
  }
}

let jail: Jail;
let local: Environment;
beforeEach(({ skip }) => {
  if (!hasLandlock()) skip("[ci-cannot] this kernel has no Landlock");
  jail = makeJail();
  const visible = [join(jail.hermesHome, "cache/spillover")];
  local = jail.environment({ mode: "guard", program: "/no/bwrap", visible });
});
afterEach(() => jail?.close());

const run = (command: string) =>
  local.exec({ command, cwd: jail.workspace, timeoutMs: 20_000, signal: new AbortController().signal });

test("without namespaces, Landlock keeps commands from the same places", async () => {
  const before = jail.fingerprint();
  const reading =
    "cat ~/.aws/credentials ~/.netrc ~/.hermes/server.token ~/.ssh/id_ed25519 /etc/shadow; tar c ~/.hermes | cat";
  const result = await run(
    `${reading}; echo x >> ~/.bashrc; rm -rf ~/.hermes ~/.aws; mv ~/.ssh ~/.s; echo x > ~/.zshrc; touch /etc/x /usr/x`,
  );
  expect(result.output).not.toContain(SECRET);
  expect(result.unguarded).toBeUndefined();
  expect(jail.fingerprint()).toBe(before);
});

test("nothing in / itself can be changed", async () => {
  const name = `/hermes-test-${process.pid}`;
  const { output } = await run(`touch ${name}; mkdir ${name}; ln -s /tmp ${name}; ls -d ${name}; echo`);
  expect(output.match(/Permission denied/g)).toHaveLength(3);
  expect(existsSync(name)).toBe(false);
});

test("auto is not less than a guard where there is no strict sandbox", async () => {
  const auto = jail.environment({ mode: "auto", program: "/no/bwrap" });
  const before = jail.fingerprint();
  const request = { cwd: jail.workspace, timeoutMs: 20_000, signal: new AbortController().signal };
  const result = await auto.exec({ ...request, command: "cat ~/.aws/credentials; echo x >> ~/.bashrc" });
  expect(result.output).not.toContain(SECRET);
  expect(jail.fingerprint()).toBe(before);
  expect((await auto.describe()).facts.isolation).toBe("Landlock (guard)");
});

test("work in the project goes on", async () => {
  const { output } = await run(
    "echo a > made && mkdir -p sub/dir && mv made sub/ && git add . && git commit -qm one && cat sub/made ~/.bashrc ~/.hermes/cache/spillover/result.txt; cp /bin/true t; chmod u+s t || echo refused",
  );
  expect(output).toContain("a\n# start-upspilled");
  expect(output).toContain("refused");
  expect(readFileSync(join(jail.workspace, "sub/made"), "utf8")).toBe("a\n");
});

test("temporary files can be made where a kept place lies below the temporary folder", async () => {
  const { output } = await run('file=$(mktemp) && echo made > "$file" && cat "$file"; echo "$TMPDIR"');
  const [made, folder = ""] = output.split("\n");
  expect(made).toBe("made");
  expect(existsSync(folder)).toBe(true);
  await local.close();
  expect(existsSync(folder)).toBe(false);
});

test("a script that no sandbox can shut in is in the guard", async () => {
  const before = jail.fingerprint();
  const result = await local.exec({
    command: ["bash", "-c", "cat ~/.aws/credentials; echo x >> ~/.bashrc; echo end"],
    cwd: jail.workspace,
    timeoutMs: 20_000,
    signal: new AbortController().signal,
    confine: {
      mode: "auto",
      network: false,
      writable: [jail.workspace],
      memoryBytes: 512 * 1024 ** 2,
      processes: 50,
    },
  });
  expect(result.output).toContain("end");
  expect(result.output).not.toContain(SECRET);
  expect(result.confinedBy).toBe("Landlock (guard)");
  expect(jail.fingerprint()).toBe(before);
});

test("environments, memory and files of processes outside cannot be read through /proc", async () => {
  const secret = `canary-${process.pid}-env`;
  const outside = spawn("sleep", ["60"], { env: { ...process.env, SECRET_CANARY: secret }, stdio: "ignore" });
  try {
    await once(outside, "spawn");
    const { output } = await run(
      `cat /proc/${outside.pid}/environ /proc/${process.pid}/environ /proc/*/environ 2>&1 | tr '\\0' '\\n' | grep -c ${secret};
      ls /proc/${outside.pid}/root/ /proc/${outside.pid}/cwd/ >/dev/null 2>&1 && echo walked;
      cat /proc/self/environ | wc -c`,
    );
    expect(output).toMatch(/^0\n/);
    expect(output).not.toContain("walked");
    expect(output).toMatch(/\n[1-9]\d+\n$/);
  } finally {
    outside.kill("SIGKILL");
  }
});
