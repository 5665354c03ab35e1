import { performance } from "node:perf_hooks";
import { expect, test } from "vitest";
import { caller, mcpRuntime, scriptable, textOf } from "../sources/mcp/support.js";
import { quantile, report, seconds } from "./figures.js";
import { FULL } from "./support.js";

/** The figure speaks of 200 faults under load; `npm test` tries each kind a few times. */
const FAULTS = FULL ? 200 : 4;
const OTHERS = FULL ? 8 : 2;

const kill = (pid: number) => void process.kill(pid, "SIGKILL");

test(
  `servers that are killed, hang, flood and send nonsense (${FAULTS} times) harm nobody else and are back soon`,
  async () => {
    // Other tests run beside the short form; there half a second may be too little for a healthy answer.
    const settings = { timeout: FULL ? 0.5 : 1.2, supports_parallel_tool_calls: true };
    const names = Array.from({ length: OTHERS }, (_, at) => `other${at}`);
    const { runtime, source } = await mcpRuntime({
      bad: scriptable({}, settings),
      ...Object.fromEntries(names.map((name) => [name, scriptable()])),
    });
    const call = await caller(runtime);
    let isOver = false;
    const failures: unknown[] = [];
    const load = names.map(async (name) => {
      while (!isOver) {
        const result = await call(`mcp_${name}_echo`, { text: "steady" });
        if (textOf(result) !== "steady") failures.push(result);
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    });
    const ended: number[] = [];
    const back: number[] = [];
    for (let at = 0; at < FAULTS; at++) {
      const inFlight = call("mcp_bad_act", { do: "sleep", ms: 30_000 });
      const pid = Number(textOf(await call("mcp_bad_act", { do: "pid" })));
      const startedAt = performance.now();
      if (at % 4 === 0) kill(pid);
      else if (at % 4 === 1) void call("mcp_bad_act", { do: "flood", megabytes: 3 });
      else if (at % 4 === 2) void call("mcp_bad_act", { do: "garbage", lines: 1_000 });
      else void call("mcp_bad_act", { do: "exit", code: 3 });
      const result = await inFlight;
      expect(result.ok).toBe(false);
      ended.push(performance.now() - startedAt);
      const again = await call("mcp_bad_echo", { text: "back" });
      expect(textOf(again), JSON.stringify(source.servers()[0])).toBe("back");
      back.push(performance.now() - startedAt);
    }
    isOver = true;
    await Promise.all(load);
    expect(failures).toEqual([]);
    report({
      id: "M1",
      what: "MCP server killed, flooding, sending nonsense or exiting under load; a call in flight each time",
      trials: FAULTS,
      seen: `calls in flight ended after at most ${seconds(Math.max(...ended))}, back after ${seconds(quantile(back, 0.95))} (p95), ${failures.length} failures of other servers`,
      goal: "≤ 1 s (killed, or its timeout of 0.5 s), back ≤ 5 s (p95), others not concerned",
      pass: Math.max(...ended) < (FULL ? 1_000 : 3_000) && quantile(back, 0.95) < 5_000,
    });
    // Killed, or given up at its timeout.
    expect(Math.max(...ended)).toBeLessThan(FULL ? 1_000 : 3_000);
    expect(back.toSorted((a, b) => a - b)[Math.floor(back.length * 0.95)]).toBeLessThan(5_000);
    expect(
      source
        .servers()
        .slice(1)
        .map(({ restarts }) => restarts),
    ).toEqual(names.map(() => 0));
  },
  FULL ? 900_000 : 60_000,
);
