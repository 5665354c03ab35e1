import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ToolRegistry, textOf } from "../../src/index.js";
import { tempDir, testRuntime } from "../support/runtime.js";

/** A home whose tool modules take their time to load. */
function homeWithTools(tag: string, delayMs: number): string {
  const home = tempDir();
  mkdirSync(join(home, "tools"));
  for (const name of ["a", "b", "c"]) {
    writeFileSync(
      join(home, "tools", `${name}.mjs`),
      `import { registry } from "hermes-tools";
await new Promise((resolve) => setTimeout(resolve, ${delayMs}));
registry.register({
  name: "${tag}_${name}",
  toolset: "own",
  schema: { description: "of ${tag}", parameters: { type: "object" } },
  handler: () => "${tag}",
});
`,
    );
  }
  return home;
}

describe("two runtimes in one process", () => {
  it("made at the same moment, each gets its own tools and none of the other's", async () => {
    const made = await Promise.all(
      [
        ["left", 5],
        ["right", 20],
      ].map(async ([tag, delay]) => {
        const home = homeWithTools(String(tag), Number(delay));
        return { tag, ...(await testRuntime([], { home, userTools: true, registry: new ToolRegistry() })) };
      }),
    );
    for (const { tag, runtime, registry } of made) {
      expect(runtime.discovery.problems).toEqual([]);
      expect([...registry.snapshot().entries.keys()]).toEqual([`${tag}_a`, `${tag}_b`, `${tag}_c`]);
      const session = await runtime.openSession();
      expect(textOf((await session.call({ name: `${tag}_b` })).content)).toBe(tag);
    }
  });

  it("one that closes does not stop the other, although they share a registry", async () => {
    const registry = new ToolRegistry();
    const first = await testRuntime([], { registry, builtins: true });
    const second = await testRuntime([], { registry, builtins: true });
    const session = await second.runtime.openSession();
    await first.runtime.close();
    const result = await session.call({ name: "terminal", arguments: { command: "echo alive" } });
    expect(textOf(result.content)).toContain("alive");
  });
});
