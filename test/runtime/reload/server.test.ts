import { expect, it } from "vitest";
import { createServer } from "../../../src/server/server.js";
import { onTestEnd } from "../../support/runtime.js";
import { toolModule, until, watchedRuntime } from "./support.js";

const TOKEN = "test-token-0123456789-abcdefghijklmnop";

it("the server lists and calls tools that came while it runs, and holds to rules that came", async () => {
  const made = await watchedRuntime({ "tools/first.js": toolModule("first", 1) });
  const server = await createServer({
    runtime: made.runtime,
    token: { value: TOKEN, source: "configured" },
    host: "127.0.0.1",
    port: 0,
  });
  onTestEnd(() => server.close({ finishMs: 0, abortMs: 1_000 }));
  const headers = { authorization: `Bearer ${TOKEN}` };
  const ask = async (path: string, init: RequestInit = {}) =>
    (await fetch(new URL(path, server.url), { ...init, headers })).text();
  const names = async () =>
    (JSON.parse(await ask("/v1/tools")) as { function: { name: string } }[]).map(
      (tool) => tool.function.name,
    );
  const call = (name: string) =>
    ask("/v1/tool_calls", {
      method: "POST",
      body: JSON.stringify({ tool_calls: [{ id: "1", function: { name, arguments: {} } }] }),
    });

  expect(await names()).toEqual(["first"]);
  expect(await call("first")).toContain('"1"');
  made.replace("tools/second.js", toolModule("second", 2));
  await until(() => made.runtime.registry.get("second") !== undefined);
  expect(await names()).toEqual(["first", "second"]);
  expect(await call("second")).toContain("2");

  made.write("config.yaml", "tools:\n  disabled: [second]\n");
  await until(async () => !(await names()).includes("second"));
  expect(await call("second")).toContain("second");
  expect(await call("second")).toContain("Unknown tool: second");
});
