import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../cli/hermes.js";

const node = (...words: readonly string[]) =>
  execFileSync(process.execPath, words, {
    cwd: root,
    encoding: "utf8",
    stdio: "pipe",
    maxBuffer: 64 * 1024 * 1024,
    env: { ...process.env, NO_COLOR: "1" },
  });

interface Bill {
  readonly bomFormat: string;
  readonly metadata: { readonly component: { readonly name: string; readonly purl: string } };
  readonly components: readonly { readonly name: string; readonly licenses?: readonly unknown[] }[];
}

describe("what the package is made of", () => {
  it("every licence is one of those we may use", () => {
    expect(() => node("scripts/licences.mjs")).not.toThrow();
  });

  it("the bill of materials has what is installed and what is built in, each with its licence", () => {
    const { bomFormat, metadata, components } = JSON.parse(node("scripts/sbom.mjs")) as Bill;
    expect(metadata.component).toMatchObject({
      name: "hermes-tools",
      purl: expect.stringMatching(/^pkg:npm\/hermes-tools@/),
    });
    const names = components.map(({ name }) => name);
    expect(bomFormat).toBe("CycloneDX");
    expect(names).toEqual(expect.arrayContaining(["pg", "undici", "hono", "react"]));
    expect(names).not.toContain("vitest");
    expect(components.filter(({ licenses }) => licenses === undefined)).toEqual([]);
  }, 60_000);

  it("the licence texts of what is built in come with it", () => {
    const notices = readFileSync(join(root, "dist/THIRD-PARTY.txt"), "utf8");
    expect(notices).toMatch(/^=== undici@\S+ \(MIT\)\n\nMIT License/m);
    const parts = notices.split(/^=== /m).slice(1);
    expect(parts.filter((part) => !/licen[cs]e|copyright|\(c\)/i.test(part.replace(/.*\n/, "")))).toEqual([]);
  });

  it("publint finds nothing wrong with the package", () => {
    expect(node("node_modules/publint/src/cli.js", "--strict", "--pack", "false")).toContain("All good!");
  }, 60_000);

  it("knip finds nothing that nobody uses", ({ skip }) => {
    // No development dependency: its parser is not in every registry for every platform, and a lock file wants all of them.
    const folder = process.env.HERMES_TEST_KNIP ?? skip("CI brings knip along; here: npm run knip");
    const knip = join(folder, "node_modules/knip/bin/knip.js");
    expect(() => node(knip, "--no-progress", "--no-config-hints")).not.toThrow();
  }, 120_000);
});
