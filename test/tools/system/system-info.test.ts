import { cpus, hostname, totalmem } from "node:os";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import systemInfo from "../../../src/tools/system/system-info.js";
import { needs } from "../../support/needs.js";
import { makeContext, type TestContext } from "../context.js";

let ctx: TestContext;
beforeEach(() => {
  ctx = makeContext();
});
afterEach(() => ctx.cleanUp());

type Args = Parameters<typeof systemInfo.handler>[0];
async function info(args: Partial<Args>, context: TestContext = ctx): Promise<Record<string, unknown>> {
  const all: Args = { sections: [], top_n: 10, ...args };
  return (await systemInfo.handler(all, context)) as Record<string, unknown>;
}

describe("system_info", () => {
  test("describes this machine by default", async () => {
    const result = await info({});
    expect(Object.keys(result).sort()).toEqual(["cpu", "disk", "environment", "memory", "os", "uptime_s"]);
    expect(result.cpu).toMatchObject({ cores: cpus().length });
    expect((result.memory as { total_bytes: number }).total_bytes).toBeCloseTo(totalmem(), -8);
    expect(result.os).toMatchObject({ hostname: hostname(), node: process.version });
    expect((result.disk as unknown[]).length).toBeGreaterThan(0);
  });

  test("measures only what is asked for", async () => {
    expect(Object.keys(await info({ sections: ["os"] })).sort()).toEqual(["environment", "os", "uptime_s"]);
  });

  test("lists the busiest processes, as many as asked", async (context) => {
    needs(context, "ps");
    const { processes } = await info({ sections: ["processes"], top_n: 3 });
    const { top } = processes as { top: { pid: number; cpu_percent: number }[] };
    expect(top).toHaveLength(3);
    expect(top.map((one) => one.cpu_percent)).toEqual(
      top.map((one) => one.cpu_percent).toSorted((left, right) => right - left),
    );
  });

  test("knows the network interfaces", async () => {
    const { network } = await info({ sections: ["network"] });
    expect(network).toContainEqual(expect.objectContaining({ name: "lo", internal: true }));
  });

  test("does not describe this machine to a session that acts on another", async () => {
    const remote = makeContext({ environment: { ...ctx.environment, kind: "ssh", name: "ssh:far" } });
    await expect(info({ sections: ["os"] }, remote)).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("ssh:far"),
    });
    await remote.cleanUp();
  });
});
