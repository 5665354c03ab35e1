import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { withReadinessTable } from "../../src/check/readiness-table.js";
import { toolPages } from "../../src/check/tool-pages.js";
import { builtinManifest } from "../../src/registry/builtin-manifest.gen.js";
import type { AnyTool } from "../../src/tool/tool.js";
import { examplesOf, runExample } from "./run-example.js";

const folder = join(dirname(fileURLToPath(import.meta.url)), "../../docs/tools");
const tools: readonly AnyTool[] = await Promise.all(
  builtinManifest.map(async ({ load }) => (await load()).default),
);

describe("docs/tools", () => {
  it("says what the tools say (UPDATE_DOCS=1 rewrites it)", () => {
    const pages = toolPages(tools);
    if (process.env.UPDATE_DOCS === "1") {
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder, { recursive: true });
      for (const [name, text] of pages) writeFileSync(join(folder, name), text);
    }
    const found = existsSync(folder) ? readdirSync(folder).sort() : [];
    expect(found).toEqual([...pages.keys()].sort());
    for (const [name, text] of pages)
      expect([name, readFileSync(join(folder, name), "utf8")]).toEqual([name, text]);
  });
});

describe("README", () => {
  it("says which tools are ready at once, after one command, with a key (UPDATE_DOCS=1 rewrites it)", () => {
    const file = join(folder, "../../README.md");
    const fresh = withReadinessTable(readFileSync(file, "utf8"), builtinManifest);
    if (process.env.UPDATE_DOCS === "1") writeFileSync(file, fresh);
    expect(readFileSync(file, "utf8")).toBe(fresh);
    for (const { name } of builtinManifest) expect(fresh).toContain(`\`${name}\``);
  });
});

it("every tool has a rendering for people", () => {
  const without = tools.filter(({ present }) => present === undefined);
  // The one brings its picture along; the other's list is drawn by whoever runs the agent.
  expect(without.map(({ name }) => name).sort()).toEqual(["browser_screenshot", "todo"]);
});

describe("worked examples", () => {
  it("every tool has one that shows something", () => {
    const without = tools.filter(({ examples }) => (examples ?? []).length === 0);
    expect(without.map(({ name }) => name)).toEqual([]);
    const empty = tools.flatMap((tool) =>
      (tool.examples ?? []).filter(({ result }) => Object.keys(result).length === 0).map(() => tool.name),
    );
    expect(empty).toEqual([]);
  });

  // Those that need a program of the system are in examples-with-programs.test.ts.
  it.for(examplesOf(tools, (example) => example.programs === undefined))(
    "$name: $title",
    { timeout: 60_000 },
    runExample,
  );
});
