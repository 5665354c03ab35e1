import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { explainBwrap } from "../../src/env/sandbox/probe.js";
import { examine } from "../../src/runtime/doctor.js";
import { tempDir, testRuntime } from "../support/runtime.js";
import { skipWithoutSandbox } from "./support.js";

async function boundary(settings: string) {
  const home = tempDir();
  writeFileSync(join(home, "config.yaml"), settings);
  const { runtime } = await testRuntime([], { home });
  const found = (await examine(runtime)).filter(({ group }) => group === "Environments");
  expect(found).toHaveLength(1);
  return found[0];
}

describe("doctor says which boundary holds commands back", () => {
  skipWithoutSandbox();

  it("the guard, which is on by itself", async () => {
    expect(await boundary("")).toMatchObject({ level: "ok", what: expect.stringContaining("in a guard") });
  });

  it("none, and how to get one", async () => {
    expect(await boundary("terminal:\n  sandbox: off\n")).toMatchObject({
      level: "warning",
      what: expect.stringContaining("no boundary, commands run with all your rights"),
      fix: "set terminal.sandbox to guard",
    });
  });

  it("Ubuntu's rule about namespaces is called by its name, with what lifts it", () => {
    const rule = join(tempDir(), "rule");
    const problem = "bwrap: setting up uid map: Permission denied\n";
    writeFileSync(rule, "0\n");
    expect(explainBwrap(problem, rule).unavailable).not.toContain("AppArmor");
    writeFileSync(rule, "1\n");
    const { unavailable, fix } = explainBwrap(problem, rule);
    expect(unavailable).toContain("AppArmor's rule kernel.apparmor_restrict_unprivileged_userns");
    expect(fix).toContain("/etc/apparmor.d");
    expect(fix).toContain("sysctl -w kernel.apparmor_restrict_unprivileged_userns=0");
  });

  it("the sandbox, and what it lets through", async () => {
    const closed = await boundary("terminal:\n  sandbox: required\n");
    expect(closed).toMatchObject({ level: "ok", what: expect.stringContaining("sandbox, network off") });
    const open = await boundary("terminal:\n  sandbox: auto\n  sandbox_network: true\n");
    expect(open?.what).toContain("sandbox, network on");
  });
});
