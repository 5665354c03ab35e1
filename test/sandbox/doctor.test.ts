import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
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

  it("none, and how to get one", async () => {
    expect(await boundary("")).toMatchObject({
      level: "ok",
      what: expect.stringContaining("no sandbox, commands run with all your rights"),
      fix: expect.stringContaining("terminal.sandbox"),
    });
  });

  it("the sandbox, and what it lets through", async () => {
    const closed = await boundary("terminal:\n  sandbox: required\n");
    expect(closed).toMatchObject({ level: "ok", what: expect.stringContaining("sandbox, network off") });
    const open = await boundary("terminal:\n  sandbox: auto\n  sandbox_network: true\n");
    expect(open?.what).toContain("sandbox, network on");
  });
});
