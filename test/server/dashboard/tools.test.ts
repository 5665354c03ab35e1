import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { defineTool } from "../../../src/index.js";
import type {
  ForetellAnswer,
  InfoAnswer,
  RunAnswer,
  ToolAnswer,
  ToolSwitched,
} from "../../../src/server/dashboard-types.js";
import { startServer } from "../support.js";
import { countingTool, echo } from "../tools.js";
import { PAYLOADS } from "../xss-payloads.js";
import { CALL_TOKEN, jsonOf, openBrowser } from "./support.js";

describe("one tool", () => {
  it("is told with its schema, its examples and what a model pays for it", async () => {
    const { ask } = await startServer([], { runtime: { builtins: true } });
    const answer = await jsonOf<ToolAnswer>(ask("/v1/tools/read_file"));
    expect(answer.tool).toMatchObject({ name: "read_file", toolset: "file", enabled: true });
    expect(answer.parameters).toMatchObject({ type: "object", properties: { path: { type: "string" } } });
    expect(answer.definition_tokens).toBeGreaterThan(20);
    expect(answer.examples.length).toBeGreaterThan(0);
    const unknown = await ask("/v1/tools/read_fil");
    expect([unknown.status, await unknown.text()]).toEqual([404, expect.stringContaining("read_file")]);
  });

  it("is switched off and on again in the person's own file, and the server obeys at once", async () => {
    const started = await startServer([echo], { runtime: { journal: true } });
    const browser = await openBrowser(started);
    const off = await jsonOf<ToolSwitched>(browser.post("/v1/tools/echo", { enabled: false }));
    expect(off).toMatchObject({ changed: true, tool: { name: "echo", enabled: false } });
    expect(readFileSync(join(started.home, "config.yaml"), "utf8")).toContain("echo");
    const refused = await jsonOf<RunAnswer>(browser.post("/v1/tools/echo/run", { arguments: { text: "x" } }));
    expect(refused.result.ok).toBe(false);
    const on = await jsonOf<ToolSwitched>(browser.post("/v1/tools/echo", { enabled: true }));
    expect(on.tool.enabled).toBe(true);
    const again = await jsonOf<RunAnswer>(browser.post("/v1/tools/echo/run", { arguments: { text: "x" } }));
    expect(again.result.ok).toBe(true);
    expect((await browser.post("/v1/tools/nobody", { enabled: true })).status).toBe(404);
    expect((await browser.post("/v1/tools/echo", { enabled: "yes" })).status).toBe(400);
    expect((await browser.post("/v1/tools/echo", { enabled: true, more: 1 })).status).toBe(400);
  });

  it("tells what would happen without running anything", async () => {
    const { tool, runs } = countingTool();
    const { ask } = await startServer([tool, echo], { runtime: { builtins: true } });
    const foretell = (name: string, given: unknown) =>
      jsonOf<ForetellAnswer>(
        ask(`/v1/tools/${name}/foretell`, { method: "POST", body: JSON.stringify({ arguments: given }) }),
      );
    expect(await foretell("count", {})).toMatchObject({ decision: "allow", errors: [] });
    expect(await foretell("terminal", { command: "rm -rf build" })).toMatchObject({
      decision: "ask",
      effects: [{ resource: "rm -rf build", mode: "execute" }],
    });
    expect(await foretell("terminal", { command: "rm -rf /" })).toMatchObject({ decision: "deny" });
    const invalid = await foretell("echo", { text: { deep: 1 } });
    expect(invalid).toMatchObject({ decision: "invalid", errors: [{ path: "/text" }] });
    expect((await foretell("echo", {})).errors[0]?.message).toContain("required");
    expect(runs()).toBe(0);
  });

  it("runs from the form in the session of the page, with pictures as data", async () => {
    const picture = defineTool({
      name: "draw",
      toolset: "drawing",
      description: "Draws.",
      permissions: [],
      parameters: { type: "object", properties: {} },
      handler: () => ({ drawn: true }),
      present: () => ({
        model: [{ type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" }],
        human: "a picture",
      }),
    });
    const started = await startServer([echo, picture], { runtime: { journal: true } });
    const browser = await openBrowser(started);
    const { result } = await jsonOf<RunAnswer>(browser.post("/v1/tools/draw/run", { arguments: {} }));
    expect(result).toMatchObject({
      ok: true,
      state: "done",
      content: [{ type: "image", mimeType: "image/png" }],
    });
    for (const payload of PAYLOADS.slice(0, 8)) {
      const answer = await browser.post("/v1/tools/echo/run", { arguments: { text: payload } });
      expect(answer.headers.get("content-type")).toBe("application/json; charset=utf-8");
      expect(JSON.stringify(((await answer.json()) as RunAnswer).result.structured)).toContain(
        JSON.stringify(payload),
      );
    }
    expect((await browser.post("/v1/tools/echo/run", { arguments: ["no object"] })).status).toBe(400);
  });
});

describe("GET /v1/info", () => {
  it("tells the frame of the page, and whether this request could answer", async () => {
    const started = await startServer([echo], { runtime: { flags: { "server.call_token": CALL_TOKEN } } });
    const browser = await openBrowser(started);
    const owner = await jsonOf<InfoAnswer>(started.ask("/v1/info"));
    expect(owner).toMatchObject({
      tools: { ready: 1, need_setup: 0, off: 0 },
      journal: false,
      mode: "manual",
      keys: { answers: true },
    });
    expect(owner.home).toBe(started.home);
    const caller = { authorization: `Bearer ${CALL_TOKEN}` };
    expect((await jsonOf<InfoAnswer>(started.ask("/v1/info", { headers: caller }))).keys.answers).toBe(false);
    expect((await jsonOf<InfoAnswer>(browser.ask("/v1/info"))).keys.answers).toBe(false);
    const withKey = browser.ask("/v1/info", { headers: { "x-hermes-page": browser.key } });
    expect((await jsonOf<InfoAnswer>(withKey)).keys.answers).toBe(true);
  });
});
