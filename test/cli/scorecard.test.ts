import { describe, expect, it } from "vitest";
import { hermesCommands } from "../examples/doc-commands.js";
import { typed } from "../examples/shell.js";
import { hermes, hermesJson, tempFolder } from "./hermes.js";

describe("hermes stats scorecard", () => {
  it("tells of recorded calls, and hermes stats stays what it was", async () => {
    const home = tempFolder();
    for (const key of ["pth", "pth", "path"])
      await hermes(["call", "read_file", `${key}=nowhere.txt`], { home });
    const { cards } = await hermesJson<{ cards: Record<string, unknown>[] }>(["stats", "scorecard"], {
      home,
    });
    expect(cards).toEqual([
      expect.objectContaining({ tool: "read_file", model: null, calls: 3, ok: 0, hints: expect.any(Array) }),
    ]);
    const shown = await hermes(["stats", "scorecard", "--tool", "read_file"], { home });
    expect(shown.stdout).toMatch(/read_file: 2 of 3 calls .*`path`/);
    const stats = await hermesJson<Record<string, unknown>>(["stats", "--days", "7"], { home });
    expect(stats).toMatchObject({ days: 7, tools: [{ tool: "read_file", calls: 3 }] });
  });
});

describe("docs/scorecards.md", () => {
  const home = tempFolder();
  it.each(hermesCommands("docs/scorecards.md"))("$line works", async ({ line }) => {
    expect(await typed(line, { home, cwd: home })).toMatchObject({ code: 0, stderr: "" });
  });
});
