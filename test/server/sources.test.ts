import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { tempDir } from "../support/runtime.js";
import { startServer } from "./support.js";

it("GET /v1/sources tells what brings tools in, what is wrong with it, and what to do", async () => {
  const home = tempDir();
  mkdirSync(join(home, "tools"));
  writeFileSync(
    join(home, "tools", "good.yaml"),
    "tools: [{ name: where, description: Where we are, type: command, command: [pwd] }]",
  );
  writeFileSync(join(home, "tools", "bad.yaml"), "tools: [{ name: where_else, type: command }]");
  const { ask } = await startServer([], { runtime: { userTools: true, home } });
  const answer = (await (await ask("/v1/sources")).json()) as { sources: { source: string }[] };
  const byFile = Object.fromEntries(
    answer.sources.map((source) => [source.source.split("/").at(-1), source]),
  );
  expect(byFile["good.yaml"]).toMatchObject({ state: "ready", tools: ["where"], quarantined: [] });
  expect(byFile["bad.yaml"]).toMatchObject({
    state: "failed",
    tools: [],
    reason: expect.stringContaining("bad.yaml:1:"),
    fix: expect.stringContaining("hermes tools check"),
  });
  expect(answer).toMatchObject({ mcp_servers: [] });
});
