import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { textOf } from "../../src/index.js";
import { testRuntime } from "../support/runtime.js";
import { expectNoUnheardRejections, expectWellFormed, tool, within } from "./support.js";

expectNoUnheardRejections();

const explode = () => {
  throw new Error("trap");
};
const trapped = new Proxy({}, { get: explode, has: explode, ownKeys: explode });

/** What a broken hook may do, whichever hook it is. */
const misdeeds: [string, () => unknown][] = [
  ["throws an error", explode],
  [
    "throws nothing",
    () => {
      throw undefined;
    },
  ],
  [
    "throws an object without a prototype",
    () => {
      throw Object.create(null);
    },
  ],
  [
    "throws a trap",
    () => {
      throw trapped;
    },
  ],
  ["rejects later", () => wait(1).then(explode)],
  ["rejects with a trap", () => Promise.reject(trapped)],
  ["returns a trap", () => trapped],
  ["returns a number", () => 7],
  // biome-ignore lint/suspicious/noThenProperty: a hostile thenable is the case under test.
  ["returns a thenable that throws", () => ({ then: explode })],
  ["returns an action nobody knows", () => ({ action: "explode", message: "x" })],
  ["blocks without words", () => ({ action: "block" })],
  ["blocks with a number", () => ({ action: "block", message: 5 })],
  ["modifies with a list", () => ({ action: "modify", args: [1, 2] })],
  ["modifies with nothing", () => ({ action: "modify", args: null })],
];

async function withHook(
  name: "pre_tool_call" | "post_tool_call" | "transform_tool_result",
  hook: () => unknown,
) {
  const { runtime } = await testRuntime([tool("subject", () => "the result")]);
  runtime.hooks.on(name, hook);
  const session = await runtime.openSession();
  const [result] = await session.callAll([{ name: "subject" }]);
  if (result === undefined) throw new Error("no result");
  expectWellFormed(result);
  return result;
}

describe("a hook that misbehaves", () => {
  it.each(misdeeds)("%s after a call: the finished result is not lost", async (_what, hook) => {
    expect(textOf((await withHook("post_tool_call", hook)).content)).toBe("the result");
    expect(textOf((await withHook("transform_tool_result", hook)).content)).toBe("the result");
  });

  it.each(misdeeds)(
    "%s before a call: either the call runs as if there were none, or it is blocked",
    async (_what, hook) => {
      const result = await withHook("pre_tool_call", hook);
      if (result.ok) expect(textOf(result.content)).toBe("the result");
      else expect(["blocked", "internal"]).toContain(result.error?.code);
    },
  );

  it("never answers: before a call it blocks, after a call it is passed over", async () => {
    const { runtime } = await testRuntime([tool("subject", () => "the result")], {
      flags: { "hooks.timeout_seconds": 1 },
    });
    const never = () => new Promise(() => undefined);
    const session = await runtime.openSession();
    const off = runtime.hooks.on("post_tool_call", never);
    const after = await within(5_000, session.call({ name: "subject" }));
    expect(after !== "hangs" && textOf(after.content)).toBe("the result");
    off();
    runtime.hooks.on("pre_tool_call", never);
    const before = await within(5_000, session.call({ name: "subject" }));
    expect(before !== "hangs" && before.error?.code).toBe("blocked");
  });

  it("rewrites arguments into nonsense: they are validated like any others", async () => {
    let ran = false;
    const strict = tool(
      "strict",
      () => {
        ran = true;
        return "ran";
      },
      {
        parameters: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
      },
    );
    const { runtime } = await testRuntime([strict]);
    runtime.hooks.on("pre_tool_call", () => ({ action: "modify", args: { n: { deep: [] } } }));
    const session = await runtime.openSession();
    const result = await session.call({ name: "strict", arguments: { n: 1 } });
    expect([result.error?.code, ran]).toEqual(["invalid_arguments", false]);
  });

  it("writes into what it was shown: neither the arguments nor the result change", async () => {
    const strict = tool("strict", (args) => JSON.stringify(args), {
      parameters: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
    });
    const { runtime } = await testRuntime([strict]);
    const meddle = (target: object, change: object) => {
      try {
        Object.assign(target, change);
      } catch {
        // Frozen is as good as copied.
      }
    };
    runtime.hooks.on("pre_tool_call", ({ args }) => meddle(args, { n: { not: "an integer" }, extra: 1 }));
    runtime.hooks.on("post_tool_call", ({ result }) => {
      meddle(result, { ok: false });
      meddle(result.content, [{ type: "text", text: "forged" }]);
      for (const part of result.content) meddle(part, { text: "forged" });
    });
    const session = await runtime.openSession();
    const result = await session.call({ name: "strict", arguments: { n: 1 } });
    expect(textOf(result.content)).toBe('{"n":1}');
  });

  it("registers and removes hooks while hooks run", async () => {
    const { runtime } = await testRuntime([tool("subject", () => "the result")]);
    let fired = 0;
    const off = runtime.hooks.on("pre_tool_call", () => {
      fired += 1;
      off();
      const late = () => {
        fired += 1;
      };
      runtime.hooks.on("pre_tool_call", late);
    });
    const session = await runtime.openSession();
    const result = await within(5_000, session.call({ name: "subject" }));
    expect(result !== "hangs" && result.ok).toBe(true);
    expect(fired).toBe(1);
  });

  it("gives a result of a hundred megabytes: it is bounded like any other", async () => {
    const result = await withHook("transform_tool_result", () => "x".repeat(100 * 1024 * 1024));
    expect(textOf(result.content).length).toBeLessThan(100_000);
    expect(result.truncated).toBe(true);
  });

  it("fires exactly once per call, also for calls in batches and from children", async () => {
    const { runtime } = await testRuntime([tool("subject", () => "the result")]);
    const seen: string[] = [];
    runtime.hooks.on("pre_tool_call", ({ callId }) => void seen.push(`pre ${callId}`));
    runtime.hooks.on("post_tool_call", ({ callId, status }) => void seen.push(`post ${callId} ${status}`));
    const session = await runtime.openSession();
    await session.callAll([
      { id: "a", name: "subject" },
      { id: "b", name: "subject" },
    ]);
    await session.openChild().call({ id: "c", name: "subject" });
    await session.explainCall({ id: "d", name: "subject" });
    const posts = seen.filter((line) => line.startsWith("post"));
    expect(posts.sort()).toEqual(["post a ok", "post b ok", "post c ok"]);
    expect(seen.filter((line) => line === "pre a" || line === "pre b" || line === "pre c")).toHaveLength(3);
  });
});
