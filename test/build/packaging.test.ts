// @needs systemd-analyze setpriv root

import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { hermes, main, plainEnvironment, root, tempFolder } from "../cli/hermes.js";

it.each(["hermes.service", "hermes-worker.service"])("systemd understands %s", (name) => {
  const words = ["verify", "--man=no", join(root, "packaging", name)];
  const verified = spawnSync("systemd-analyze", words, { encoding: "utf8" });
  expect(verified.stderr.split("\n").filter((line) => line.includes(name))).toEqual([]);
});

it("both units are confined alike", () => {
  const confinement = (name: string) =>
    /^NoNewPrivileges=yes\n[\s\S]*/m.exec(readFileSync(join(root, "packaging", name), "utf8"))?.[0];
  expect(confinement("hermes.service")).toContain("ProtectSystem=strict");
  expect(confinement("hermes-worker.service")).toBe(confinement("hermes.service"));
});

it("what the units cover of /proc would keep the strict sandbox from mounting its own", () => {
  // Each of these mounts over files of /proc; the kernel then refuses a new one to those without rights over the old.
  const covering = /^(?:Protect(?:Hostname|KernelLogs|KernelTunables|Proc)|ProcSubset)=/m;
  for (const unit of ["hermes.service", "hermes-worker.service"])
    expect(readFileSync(join(root, "packaging", unit), "utf8")).not.toMatch(covering);
});

/** What it says, run as somebody who owns nothing. */
function refusedAsNobody(home: string, words: readonly string[]): { message: string; hint: string } {
  const user = ["--reuid", "65534", "--regid", "65534", "--clear-groups"];
  const run = spawnSync("setpriv", [...user, process.execPath, main, ...words, "--json"], {
    cwd: "/",
    env: plainEnvironment(home),
    encoding: "utf8",
    timeout: 20_000,
  });
  expect(run.status, run.stderr).toBe(4);
  return JSON.parse(run.stderr).error;
}

it.each([
  ["serve", "--port", "0"],
  ["worker", "--cluster", "nats://127.0.0.1:9"],
  ["gateway", "run"],
])(
  "a service whose home belongs to another user ends with 4 and names the folder and its owner: %s",
  (...words) => {
    const home = tempFolder();
    chownSync(home, 4321, 4321);
    chmodSync(home, 0o755);
    const error = refusedAsNobody(home, words);
    expect(error.message).toContain(`${home} belongs to user 4321:4321`);
    expect(error.message).toContain("65534:65534");
    expect(error.hint).toContain("--user 4321:4321");
    expect(error.hint).toContain(`chown -R 65534:65534 ${home}`);
  },
);

it("nobody is told to take a folder that only has the home in it", () => {
  const folder = tempFolder();
  chmodSync(folder, 0o755);
  const { message, hint } = refusedAsNobody(join(folder, "var", "home"), ["serve"]);
  expect(message).toContain(`${folder} belongs to user 0:0`);
  expect(hint).toContain(`install -d -m 700 -o 65534 -g 65534 ${join(folder, "var", "home")}`);
  expect(hint).not.toContain("chown");
  chmodSync(folder, 0o700);
  expect(refusedAsNobody(join(folder, "var", "home"), ["serve"]).message).toContain(`${folder} belongs`);
});

it("backup and restore name the file and the folder of somebody else", () => {
  const home = tempFolder();
  const place = tempFolder();
  for (const folder of [home, place]) chmodSync(folder, 0o777);
  writeFileSync(join(home, "theirs"), "x", { mode: 0o600 });
  const backup = ["backup", join(place, "b.tgz")];
  expect(refusedAsNobody(home, backup).message).toContain(join(home, "theirs"));
  expect(readdirSync(place)).toEqual([]);
  chmodSync(home, 0o755);
  expect(refusedAsNobody(home, ["restore", main, "--yes"]).message).toContain(`${home} belongs to user 0:0`);
});

it.each([["serve", "--port", "0"], ["worker"], ["gateway", "run"]])(
  "a service that is up before its NATS server ends with 7, after which its unit tries again: %s",
  async (...words) => {
    const ended = await hermes([...words, "--json"], {
      home: tempFolder(),
      env: { HERMES_CLUSTER_URL: "nats://127.0.0.1:9", HERMES_CLUSTER_KEY: "of the test" },
    });
    expect(ended.code, ended.stderr).toBe(7);
    for (const unit of ["hermes.service", "hermes-worker.service"])
      expect(readFileSync(join(root, "packaging", unit), "utf8")).toMatch(/^RestartPreventExitStatus=2 4$/m);
  },
);
