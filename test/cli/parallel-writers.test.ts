import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { hermes, tempFolder } from "./hermes.js";

describe("separate processes that write one file", () => {
  it("take turns: each write succeeds, and the last one stays", async () => {
    const folder = tempFolder();
    const path = join(folder, "shared.txt");
    const contents = Array.from({ length: 6 }, (_, at) => `from ${at}`);
    for (let round = 0; round < 2; round += 1) {
      const ended = await Promise.all(
        contents.map((content) => hermes(["call", "write_file", `path=${path}`, `content=${content}`])),
      );
      expect(ended.map(({ code, stderr }) => [code, stderr])).toEqual(contents.map(() => [0, ""]));
      expect(contents).toContain(readFileSync(path, "utf8"));
    }
  });
});
