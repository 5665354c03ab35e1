import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../cli/hermes.js";

it("docs/api.md says what the types say", () => {
  const check = () =>
    execFileSync(process.execPath, [join(root, "scripts/api-reference.mjs"), "--check"], { stdio: "pipe" });
  expect(check).not.toThrow();
}, 120_000);

it("examples with a decorator come whole, and every example ends", () => {
  const page = readFileSync(join(root, "docs/api.md"), "utf8");
  expect(page).toMatch(/@tool\(/);
  const fences = page.split("\n").filter((line) => line.startsWith("```"));
  expect(fences.every((fence, index) => (fence === "```") === (index % 2 === 1))).toBe(true);
});
