import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Boundaries } from "../../src/env/local/boundaries.js";
import { withoutSecrets } from "../../src/env/sandbox/filtered-copy.js";
import { tempDir } from "../support/runtime.js";

it("a boundary that could not be made because the helper was gone is tried again", async () => {
  let isGone = true;
  const launcher = async () => {
    if (isGone) throw new Error("gone");
    return undefined;
  };
  const boundaries = new Boundaries({ launcher, folder: tmpdir() });
  const request = {
    homes: [tempDir()] as const,
    workspace: undefined,
    hidden: [],
    others: [],
    program: [],
    shown: [],
    writable: [],
    runtimeDir: undefined,
    sshAgent: undefined,
  };
  await expect(boundaries.for(request)).rejects.toThrow("gone");
  isGone = false;
  expect(await boundaries.for(request)).toHaveProperty("unavailable");
});

it("settings are shown without what is secret in them, however many slashes stand in a line", () => {
  const file = join(tempDir(), ".npmrc");
  const path = "/".repeat(2_000);
  writeFileSync(file, `//host/:_authToken=abc\nregistry=https://me:pw@host/\n${path}\n`);
  expect(withoutSecrets(file)).toBe(`registry=https://host/\n${path}\n`);
});
