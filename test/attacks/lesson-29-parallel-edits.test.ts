import { linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { testRuntime } from "../support/runtime.js";

const lines = (count: number) => Array.from({ length: count }, (_each, index) => `line ${index};\n`).join("");

describe("lesson 29: parallel edits of one file: what reports success is in the file", () => {
  it("under all of its names, from several sessions, in batches and alone", async () => {
    const { runtime, cwd } = await testRuntime([], { builtins: true });
    const file = join(cwd, "real", "code.txt");
    mkdirSync(join(cwd, "real"));
    symlinkSync("real", join(cwd, "link"));
    symlinkSync("real/code.txt", join(cwd, "alias.txt"));
    const names = [file, "real/code.txt", "link/code.txt", "alias.txt", "./real/../link/code.txt"];
    const sessions = await Promise.all([1, 2, 3].map(() => runtime.openSession()));
    for (let round = 0; round < 3; round += 1) {
      writeFileSync(file, lines(24));
      const edit = (index: number) => ({
        name: "patch",
        arguments: {
          mode: "replace",
          path: names[index % names.length],
          old_string: `line ${index};`,
          new_string: `line ${index}, edited;`,
        },
      });
      const indexes = Array.from({ length: 24 }, (_each, index) => index);
      const results = await Promise.all([
        ...indexes.slice(0, 8).map((index) => sessions[index % 3]?.call(edit(index))),
        sessions[0]?.callAll(indexes.slice(8, 16).map(edit)),
        sessions[1]?.callAll(indexes.slice(16).map(edit)),
      ]);
      const flat = results.flat();
      expect(flat.every((result) => result?.ok)).toBe(true);
      const text = readFileSync(file, "utf8");
      for (const index of indexes) expect(text).toContain(`line ${index}, edited;`);
    }
  });

  it("two names of one file by a hard link still lose nothing that was reported", async () => {
    const { runtime, cwd } = await testRuntime([], { builtins: true });
    writeFileSync(join(cwd, "a.txt"), lines(8));
    linkSync(join(cwd, "a.txt"), join(cwd, "b.txt"));
    const session = await runtime.openSession();
    const results = await session.callAll(
      Array.from({ length: 8 }, (_each, index) => ({
        name: "patch",
        arguments: {
          path: index % 2 === 0 ? "a.txt" : "b.txt",
          old_string: `line ${index};`,
          new_string: `done ${index};`,
        },
      })),
    );
    const both = readFileSync(join(cwd, "a.txt"), "utf8") + readFileSync(join(cwd, "b.txt"), "utf8");
    for (const [index, result] of results.entries()) {
      if (result.ok) expect(both).toContain(`done ${index};`);
    }
  });
});
