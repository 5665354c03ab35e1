import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, it } from "vitest";
import { keptFolders } from "../../src/env/docker/persistent-folders.js";

const sandboxDir = mkdtempSync(join(tmpdir(), "hermes-kept-"));
afterAll(() => rmSync(sandboxDir, { recursive: true, force: true }));
const foldersOf = (task: string) =>
  keptFolders({ image: "x", home: "/h", task, persistent: true, sandboxDir });

it("two tasks never share a folder, and none leaves the one for all of them", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string(), fc.string(), async (one, other) => {
      fc.pre(one !== other);
      const [first, second] = [await foldersOf(one), await foldersOf(other)];
      expect(first?.home).not.toBe(second?.home);
      for (const folders of [first, second])
        expect(dirname(dirname(folders?.home ?? ""))).toBe(join(sandboxDir, "docker"));
    }),
    { numRuns: 50 },
  );
});

it("only their owner may enter them", async () => {
  const folders = await foldersOf("mode");
  for (const folder of [dirname(folders?.home ?? ""), folders?.home ?? "", folders?.workspace ?? ""])
    expect(statSync(folder).mode & 0o777).toBe(0o700);
});

it("a link in their place is refused", async () => {
  const folders = await foldersOf("link");
  const home = folders?.home ?? "";
  rmSync(home, { recursive: true });
  mkdirSync(join(sandboxDir, "elsewhere"));
  symlinkSync(join(sandboxDir, "elsewhere"), home);
  await expect(foldersOf("link")).rejects.toMatchObject({
    code: "unavailable",
    message: `${home} should be a folder, but is a link.`,
  });
});

it("nothing is kept unless asked for, and asking without a place is an error", async () => {
  const options = { image: "x", home: "/h", task: "t" };
  expect(await keptFolders({ ...options, sandboxDir })).toBeUndefined();
  await expect(keptFolders({ ...options, persistent: true })).rejects.toThrow(/needs a folder/);
});
