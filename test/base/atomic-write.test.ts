import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { replaceFile } from "../../src/base/atomic-write.js";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-replace-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

it.each([true, false])(
  "a reader sees the old text or the new one, never half of it (sync: %s)",
  async (sync) => {
    const path = join(folder, "file");
    const texts = ["a", "b", "c"].map((letter) => letter.repeat(500_000));
    writeFileSync(path, texts[0] ?? "");
    let done = false;
    const writing = Promise.all(texts.map((data) => replaceFile({ path, data, sync }))).then(() => {
      done = true;
    });
    while (!done) {
      expect(texts.includes(readFileSync(path, "utf8"))).toBe(true);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await writing;
    expect(readdirSync(folder)).toEqual(["file"]);
  },
);

it("sets the mode it is given, keeps that of an old file without one, and follows a link", async () => {
  const path = join(folder, "file");
  await replaceFile({ path, data: Buffer.from("one"), mode: 0o600 });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  symlinkSync("file", join(folder, "link"));
  await replaceFile({ path: join(folder, "link"), data: "two" });
  expect(readFileSync(path, "utf8")).toBe("two");
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

it("leaves nothing behind when it cannot write", async () => {
  await expect(replaceFile({ path: join(folder, "missing", "file"), data: "" })).rejects.toThrow("ENOENT");
  expect(readdirSync(folder)).toEqual([]);
});
