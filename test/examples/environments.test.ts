import { describe, expect, it } from "vitest";
import { tempFolder } from "../cli/hermes.js";
import { codeBlocks, hermesCommands } from "./doc-commands.js";
import { typed } from "./shell.js";

const home = tempFolder();

describe("docs/environments.md", () => {
  it.each(hermesCommands("docs/environments.md"))("$line works", async ({ line }) => {
    const done = await typed(line, { home, cwd: home });
    expect(done).toMatchObject({ code: 0, stderr: "" });
    expect(done.stdout).not.toBe("");
  });

  it("what it says of the suite for other environments is how the suite is used", async () => {
    const [snippet = ""] = codeBlocks("docs/environments.md", "ts");
    const testing = await import("../../src/testing/index.js");
    const names: string[] = [];
    const run = new Function("testing", "myEnvironment", "test", snippet.replace(/^import .*$/m, UNPACKED));
    run(
      testing,
      () => undefined,
      (name: string) => names.push(name),
    );
    expect(names.length).toBeGreaterThan(100);
  });
});

const UNPACKED = "const { conformanceContext, environmentConformance } = testing;";
