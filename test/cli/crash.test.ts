import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createRuntime } from "../../src/index.js";
import { hermes, outcomeOf, start, tempFolder, until } from "./hermes.js";

describe("a call whose process is killed", () => {
  it("is reported once as unknown by the next command, is so in the journal, and never runs again", async () => {
    const home = tempFolder();
    const ran = join(home, "ran");
    mkdirSync(join(home, "tools"));
    writeFileSync(
      join(home, "tools", "marker.mjs"),
      `import { appendFileSync } from "node:fs";
       import { defineTool } from "hermes-tools";
       export default defineTool({
         name: "marker", description: "Leaves a mark and waits", parameters: { type: "object" },
         handler: () => {
           appendFileSync(${JSON.stringify(ran)}, "ran\\n");
           return new Promise((resolve) => setTimeout(resolve, 30_000, "done"));
         },
       });`,
    );
    const child = start(["call", "marker"], { home });
    const ended = outcomeOf(child);
    await until(() => existsSync(ran), "the start of the tool");
    // The journal writes down a call that takes a while; a short one is written with its end.
    await new Promise((resolve) => setTimeout(resolve, 300));
    child.kill("SIGKILL");
    await ended;

    const next = await hermes(["call", "sleep", "seconds=0"], { home });
    expect(next.code).toBe(0);
    expect(next.stderr.match(/marker \(call_1\) was running when its process died/g)).toHaveLength(1);
    const later = await hermes(["stats"], { home });
    expect(later.stderr).toBe("");
    expect(readFileSync(ran, "utf8")).toBe("ran\n");

    appendFileSync(join(home, "config.yaml"), "log:\n  level: error\n");
    const runtime = await createRuntime({ home, userTools: false });
    try {
      const rows = await (await runtime.journal()).recent({ limit: 10 });
      expect(rows.filter(({ tool }) => tool === "marker").map(({ status }) => status)).toEqual(["unknown"]);
    } finally {
      await runtime.close();
    }
  });
});
