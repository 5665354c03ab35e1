import { expect, test } from "vitest";
import { startServer } from "./support.js";
import { defineTool } from "../../src/index.js";

test("smoke", async () => {
  const echo = defineTool({ name: "echo", toolset: "t", description: "d", permissions: [], parameters: { type: "object", properties: { text: { type: "string" } } } as const, handler: ({ text }) => ({ text }) });
  const s = await startServer([echo], { runtime: { journal: true } });
  for (const path of ["/healthz", "/v1/tools", "/v1/tools?detail=1", "/openapi.json", "/v1/calls", "/v1/stats", "/", "/nope"]) {
    const r = await s.ask(path);
    console.log(path, r.status, (await r.text()).slice(0, 600));
  }
  const r = await s.calls({ tool_calls: [{ id: "a", function: { name: "echo", arguments: { text: "hi" } } }] });
  console.log(r.status, await r.text(), Object.fromEntries(r.headers));
  console.log(await (await s.ask("/v1/calls")).text());
  const bad = await fetch(new URL("/v1/tools", s.server.url));
  console.log(bad.status, await bad.text(), Object.fromEntries(bad.headers));
  const html = await fetch(s.server.url, { headers: { accept: "text/html" } });
  console.log(html.status, await html.text());
  console.log(s.logged);
  expect(1).toBe(1);
});
