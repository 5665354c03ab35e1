import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { ownFiles } from "../../src/base/package-root.js";
import { tempDir } from "../support/runtime.js";

it.each([
  ["a clone", "src/hermes-tools", "src/hermes-tools", false],
  ["one for everybody", "lib/node_modules/hermes-tools", "lib/node_modules/hermes-tools", false],
  [
    "one of a project, with what it needs beside it",
    "app/node_modules/hermes-tools",
    "app/node_modules",
    true,
  ],
])("what runs here is made of %s", (_what, root, files, isOfProject) => {
  const base = tempDir();
  mkdirSync(join(base, root), { recursive: true });
  if (isOfProject) writeFileSync(join(base, dirname(files), "package.json"), "{}");
  expect(ownFiles(join(base, root))).toEqual([join(base, files)]);
});
