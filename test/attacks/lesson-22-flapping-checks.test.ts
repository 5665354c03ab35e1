import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { AvailabilityCache } from "../../src/registry/availability.js";
import { Entry } from "../../src/registry/entry.js";
import type { AnyTool, CheckFn } from "../../src/tool/tool.js";
import { testRuntime } from "../support/runtime.js";
import { expectNoUnheardRejections, tool } from "./support.js";

expectNoUnheardRejections();

const entryOf = (checkFn: CheckFn) =>
  Entry.fromTool(
    tool("checked", () => "x", { checkFn }),
    { kind: "code" },
  );

describe("lesson 22: a check that flaps does not make its tool vanish", () => {
  it("a failure within a minute of a success is not believed; after that it is, with its reason", async () => {
    let now = 0;
    let answer: boolean | Error = true;
    let asked = 0;
    const cache = new AvailabilityCache({ now: () => now });
    const entry = entryOf(() => {
      asked += 1;
      if (answer instanceof Error) throw answer;
      return answer;
    });
    expect(await cache.statusOf(entry)).toEqual({ ok: true });
    now = 29_999;
    expect(await cache.statusOf(entry)).toEqual({ ok: true });
    expect(asked).toBe(1);
    answer = new Error("socket hang up");
    now = 40_000;
    expect(await cache.statusOf(entry)).toMatchObject({ ok: true, grace: true });
    now = 60_001;
    expect(await cache.statusOf(entry)).toMatchObject({
      ok: false,
      reason: expect.stringContaining("socket hang up"),
    });
    answer = true;
    now = 60_002 + 30_000;
    expect(await cache.statusOf(entry)).toEqual({ ok: true });
  });

  it("a check that throws strange things or never answers is unavailable, and only its own tool suffers", async () => {
    const checks: [string, CheckFn][] = [
      ["never", () => new Promise(() => undefined)],
      [
        "bare",
        () => {
          throw Object.create(null);
        },
      ],
      ["rejects", () => Promise.reject(undefined)],
      [
        "proxy",
        () =>
          new Proxy(
            {},
            {
              get: () => {
                throw new Error("trap");
              },
            },
          ) as never,
      ],
    ];
    const { runtime } = await testRuntime(
      [
        ...checks.map(([name, checkFn]) => tool(name, () => "x", { checkFn })),
        tool("healthy", () => "x", { checkFn: () => true }),
      ] as AnyTool[],
      { flags: { "tools.check_timeout_seconds": 1 } },
    );
    expect((await runtime.getToolDefinitions()).map((each) => each.function.name)).toEqual(["healthy"]);
    const session = await runtime.openSession();
    for (const [name] of checks) expect((await session.call({ name })).error?.code).toBe("unavailable");
    expect((await session.call({ name: "healthy" })).ok).toBe(true);
    const listed = await runtime.listTools();
    for (const row of listed) if (!row.available) expect(row.reason).toBeTruthy();
  });

  it("one check function serves all tools that share it, once per pass, however many ask at once", async () => {
    let asked = 0;
    const shared = async () => {
      asked += 1;
      await wait(5);
      return true;
    };
    const { runtime } = await testRuntime(
      Array.from({ length: 50 }, (_each, index) => tool(`tool_${index}`, () => "x", { checkFn: shared })),
    );
    await Promise.all([runtime.getToolDefinitions(), runtime.listTools(), runtime.openSession()]);
    expect(asked).toBe(1);
  });

  it("turning is told once, with the reason", async () => {
    let ok = true;
    const { runtime } = await testRuntime([
      tool("checked", () => "x", { checkFn: () => ({ ok, reason: "gone" }) }),
    ]);
    const turns: unknown[] = [];
    runtime.events.on((event) => void (event.type === "tool.availability" && turns.push(event)));
    await runtime.getToolDefinitions();
    ok = false;
    await runtime.getToolDefinitions();
    expect(turns).toEqual([]);
  });
});
