import { describe, expect, it, vi } from "vitest";
import { defineTool } from "../../src/index.js";
import { AvailabilityCache } from "../../src/registry/availability.js";
import { statusesOf } from "../../src/registry/definitions.js";
import { Entry } from "../../src/registry/entry.js";
import type { CheckFn } from "../../src/tool/tool.js";
import { testRuntime } from "../support/runtime.js";

const entry = (name: string, checkFn?: CheckFn) =>
  Entry.fromTool(
    defineTool({
      name,
      toolset: "t",
      description: "",
      parameters: { type: "object" },
      handler: () => "x",
      ...(checkFn && { checkFn }),
    }),
    { kind: "code" },
  );

describe("availability", () => {
  it("asks a shared check once per pass and at most every 30 s", async () => {
    let now = 1_000_000;
    const check = vi.fn(async () => true);
    const cache = new AvailabilityCache({ now: () => now });
    const entries = [entry("a", check), entry("b", check)];
    await statusesOf(entries, cache);
    expect(check).toHaveBeenCalledTimes(1);
    now += 29_999;
    await statusesOf(entries, cache);
    expect(check).toHaveBeenCalledTimes(1);
    now += 2;
    await statusesOf(entries, cache);
    expect(check).toHaveBeenCalledTimes(2);
  });

  it("an answer that was on its way when something changed is not remembered", async () => {
    const answers: ((ok: boolean) => void)[] = [];
    const cache = new AvailabilityCache({ now: () => 1_000_000 });
    const asked = entry("a", () => new Promise<boolean>((resolve) => void answers.push(resolve)));
    const early = statusesOf([asked], cache);
    await vi.waitFor(() => expect(answers).toHaveLength(1));
    cache.invalidate();
    const late = statusesOf([asked], cache);
    await vi.waitFor(() => expect(answers).toHaveLength(2));
    answers[1]?.(true);
    expect((await late).get("a")?.ok).toBe(true);
    answers[0]?.(false);
    expect((await early).get("a")?.ok).toBe(false);
    expect(cache.peek(asked)?.ok).toBe(true);
  });

  it("serves a recent success for 60 s after a failure, without remembering it, then tells the reason", async () => {
    let now = 1_000_000;
    let answer: boolean | { ok: false; reason: string; fix: string } = true;
    const check = vi.fn(() => answer);
    const cache = new AvailabilityCache({ now: () => now });
    const tool = entry("a", check);
    expect(await cache.statusOf(tool)).toMatchObject({ ok: true });
    answer = { ok: false, reason: "server down", fix: "start it" };
    now += 31_000;
    expect(await cache.statusOf(tool)).toMatchObject({ ok: true, grace: true });
    expect(await cache.statusOf(tool)).toMatchObject({ ok: true, grace: true });
    expect(check).toHaveBeenCalledTimes(3);
    now += 30_000;
    expect(await cache.statusOf(tool)).toEqual({ ok: false, reason: "server down", fix: "start it" });
  });

  it.each<[string, CheckFn, RegExp]>([
    [
      "throws",
      () => {
        throw new Error("boom");
      },
      /boom/,
    ],
    [
      "rejects",
      async () => {
        throw new Error("later boom");
      },
      /later boom/,
    ],
    ["never answers", () => new Promise<boolean>(() => undefined), /within 0.05 s/],
    ["answers nonsense", () => undefined as unknown as boolean, /usable/],
  ])("a check that %s means unavailable", async (_how, check, reason) => {
    const cache = new AvailabilityCache({ deadlineMs: 50 });
    const status = await cache.statusOf(entry("a", check));
    expect(status.ok).toBe(false);
    expect(status.reason).toMatch(reason);
  });

  it("a toolset is available when one of its tools is", async () => {
    const make = (name: string, toolset: string, ok: boolean) =>
      defineTool({
        name,
        toolset,
        description: "",
        parameters: { type: "object" },
        checkFn: () => ok,
        handler: () => "x",
      });
    const { runtime } = await testRuntime([
      make("a", "mixed", false),
      make("b", "mixed", true),
      make("c", "none", false),
    ]);
    expect(await runtime.isToolsetAvailable("mixed")).toBe(true);
    expect(await runtime.isToolsetAvailable("none")).toBe(false);
    await expect(runtime.isToolsetAvailable("mixd")).rejects.toThrow(/Did you mean mixed/);
  });

  it("an unavailable tool is left out of the definitions and answers with reason and fix when called", async () => {
    const tool = defineTool({
      name: "a",
      description: "",
      parameters: { type: "object" },
      checkFn: () => ({ ok: false, reason: "no key", fix: "set KEY" }),
      handler: () => "x",
    });
    const { runtime } = await testRuntime([tool]);
    const session = await runtime.openSession();
    expect(await session.definitions()).toEqual([]);
    expect((await session.call({ name: "a" })).error).toEqual({
      code: "unavailable",
      message: "a is not available: no key",
      hint: "set KEY",
    });
  });
});
