import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { needs } from "../support/needs.js";

const src = join(import.meta.dirname, "..", "..", "src");
const scripts = readdirSync(src, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".sh"))
  .map((name) => ({ name, path: join(src, name), text: readFileSync(join(src, name), "utf8") }));

describe.each(scripts)("$name", ({ path, text }) => {
  it("says which shell it is for and what it does", () => {
    expect(text).toMatch(/^# shellcheck shell=(?:sh|bash)\b.*\n# \S/);
  });

  it("is well-formed for that shell", () => {
    const shell = /shell=bash/.test(text) ? "bash" : "sh";
    expect(() => execFileSync(shell, ["-n", path])).not.toThrow();
  });

  it("has no errors that shellcheck finds", (context) => {
    needs(context, "shellcheck");
    const { stdout } = spawnSync("shellcheck", ["--severity=error", path], { encoding: "utf8" });
    expect(stdout).toBe("");
  });
});

it("finds the scripts", () => {
  expect(scripts.length).toBeGreaterThan(15);
});
