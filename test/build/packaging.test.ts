// @needs systemd-analyze setpriv root

import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, readFileSync } from "node:fs";
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
    const user = ["--reuid", "65534", "--regid", "65534", "--clear-groups"];
    const served = spawnSync("setpriv", [...user, process.execPath, main, ...words, "--json"], {
      cwd: "/",
      env: plainEnvironment(home),
      encoding: "utf8",
      timeout: 20_000,
    });
    expect(served.status, served.stderr).toBe(4);
    const { error } = JSON.parse(served.stderr) as {
      readonly error: { readonly message: string; readonly hint: string };
    };
    expect(error.message).toContain(`${home} belongs to user 4321:4321`);
    expect(error.message).toContain("65534:65534");
    expect(error.hint).toContain("--user 4321:4321");
  },
);

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
