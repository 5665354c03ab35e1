import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { tempDir, testRuntime } from "../support/runtime.js";

async function verdicts(allowlist: string, commands: readonly string[]): Promise<unknown> {
  const home = tempDir();
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "config.yaml"), `command_allowlist: [${allowlist}]\n`);
  const { runtime } = await testRuntime([], { builtins: true, home });
  const session = await runtime.openSession();
  const found = [];
  for (const command of commands) {
    const { decision } = await session.explainCall({ name: "terminal", arguments: { command } });
    found.push(decision?.verdict);
  }
  return found;
}

it("words that the original wrote into command_allowlist mean the same here", async () => {
  const commands = ["rm -rf build", "git reset --hard", "rm -rf /"];
  expect(await verdicts("", commands)).toEqual(["ask", "ask", "deny"]);
  expect(await verdicts('"recursive delete"', commands)).toEqual(["allow", "ask", "deny"]);
});

it("a name that every JavaScript object has is no word of it", async () => {
  expect(await verdicts('"constructor"', ["rm -rf build"])).toEqual(["ask"]);
});
