import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { examine } from "../../src/runtime/doctor.js";
import { unknownWordsIn } from "../../src/runtime/needs.js";
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

it("words that mean nothing are warned of, with what was meant; commands, patterns and rules are not", async () => {
  const home = tempDir();
  const entries = [
    "recursiv delete",
    "overwrite the universe",
    "recursive delete",
    "recursive-delete",
    "git.push",
    "npm run *",
    "ls -la",
    "cd build",
    "./build.sh all",
    "FOO=1 make",
  ];
  writeFileSync(join(home, "config.yaml"), `command_allowlist: ${JSON.stringify(entries)}\n`);
  const { runtime, logged } = await testRuntime([], { builtins: true, home });
  const found = await unknownWordsIn(runtime.config);
  expect(found.map(({ message }) => /"([^"]+)"/.exec(message)?.[1])).toEqual(entries.slice(0, 2));
  expect(found[0]).toMatchObject({ severity: "warning", line: 1, file: join(home, "config.yaml") });
  expect(found[0]?.hint).toContain('"recursive delete"');
  await runtime.openSession();
  expect(logged.join("\n")).toContain("recursiv delete");
  const findings = await examine(runtime);
  expect(findings.some(({ what }) => what.includes("recursiv delete"))).toBe(true);
});

it("a name that every JavaScript object has is no word of it", async () => {
  expect(await verdicts('"constructor"', ["rm -rf build"])).toEqual(["ask"]);
});
