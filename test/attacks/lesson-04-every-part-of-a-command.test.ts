import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ApprovalRequest } from "../../src/index.js";
import { testRuntime } from "../support/runtime.js";

async function bench(permissions = "") {
  const asked: ApprovalRequest[] = [];
  const { runtime, home, cwd } = await testRuntime([], { builtins: true });
  if (permissions !== "") writeFileSync(join(home, "hermes_permissions.yaml"), permissions);
  const session = await runtime.openSession({
    approver: {
      async ask(request) {
        asked.push(request);
        return "deny";
      },
    },
  });
  const run = (command: string) => session.call({ name: "terminal", arguments: { command } });
  return { run, asked, cwd };
}

describe("lesson 4: every part of a command is decided, not the first word", () => {
  it.each([
    "echo ok | xargs rm -rf victim",
    "echo ok && rm -rf victim",
    "echo ok; rm -rf victim",
    "echo ok || true; (rm -rf victim)",
    'echo "$(rm -rf victim)"',
    "echo ok\nrm -rf victim",
    "cat <(rm -rf victim)",
    "bash -c 'echo ok; rm -rf victim'",
    "if true; then rm -rf victim; fi",
  ])("%j is asked about, and each part is shown with its own verdict", async (command) => {
    const { run, asked, cwd } = await bench();
    writeFileSync(join(cwd, "victim"), "alive");
    const result = await run(command);
    expect(result.error?.code).toBe("denied");
    expect(existsSync(join(cwd, "victim"))).toBe(true);
    expect(asked).toHaveLength(1);
    const parts = asked[0]?.segments ?? [];
    expect(parts.some(({ canonical, verdict }) => canonical.includes("rm") && verdict === "danger")).toBe(
      true,
    );
    expect(
      parts
        .filter(({ canonical }) => canonical.startsWith("echo"))
        .every(({ verdict }) => verdict === "safe"),
    ).toBe(true);
  });

  it("one harmless line runs unasked although it speaks of danger", async () => {
    const { run, asked } = await bench();
    expect((await run("echo 'rm -rf victim' | grep 'rm -rf'")).ok).toBe(true);
    expect(asked).toEqual([]);
  });

  it.each([
    "sudo id",
    "/usr/bin/sudo id",
    "echo ok; sudo id",
    "echo ok | sudo tee x",
    "env X=1 sudo id",
    "timeout 5 sudo id",
    "bash -c 'sudo id'",
    'echo "$(sudo id)"',
    "s'u'do id",
    "\\sudo id",
  ])("a denied program is denied in every place and spelling: %j", async (command) => {
    const { run, asked } = await bench(
      'profiles: {default: {allow: ["*"], restrictions: {"terminal:execute": {denied_commands: ["sudo *"]}}}}\n',
    );
    const result = await run(command);
    expect(result.error?.code).toBe("denied");
    expect(result.decision?.rule).toContain("denied_commands");
    expect(asked).toEqual([]);
  });

  it("and its name as mere text is not", async () => {
    const { run } = await bench(
      'profiles: {default: {allow: ["*"], restrictions: {"terminal:execute": {denied_commands: ["sudo *"]}}}}\n',
    );
    expect((await run("echo sudo id")).ok).toBe(true);
  });
});
