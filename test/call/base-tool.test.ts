import { describe, expect, it } from "vitest";
import { BaseTool, textOf, toolFromBase } from "../../src/index.js";
import { testRuntime } from "../support/runtime.js";

const parameters = { type: "object", properties: { fail: { type: "boolean", default: false } } } as const;

class Traced extends BaseTool<typeof parameters> {
  readonly name = "traced";
  readonly description = "";
  readonly parameters = parameters;
  readonly trace: string[] = [];
  setupFailures = 0;

  override async setup() {
    this.trace.push("setup");
    if (this.setupFailures-- > 0) throw new Error("not yet");
  }
  run({ fail }: { fail: boolean }) {
    this.trace.push("run");
    if (fail) throw new Error("run failed");
    return "fine";
  }
  override teardown() {
    this.trace.push("teardown");
  }
}

describe("BaseTool", () => {
  it("sets up once before the first use, also when many calls come at once, and tears down once at close", async () => {
    const subject = new Traced();
    const { runtime } = await testRuntime([toolFromBase(subject)]);
    const session = await runtime.openSession();
    expect(subject.trace).toEqual([]);
    await Promise.all([1, 2, 3].map(() => session.call({ name: "traced" })));
    expect(subject.trace).toEqual(["setup", "run", "run", "run"]);
    await runtime.close();
    await runtime.close();
    expect(subject.trace.filter((step) => step === "teardown")).toHaveLength(1);
  });

  it("tries setup again after it failed, and tears down on error paths too", async () => {
    const subject = new Traced();
    subject.setupFailures = 1;
    const { runtime } = await testRuntime([toolFromBase(subject)]);
    const session = await runtime.openSession();
    expect((await session.call({ name: "traced" })).error?.message).toBe(
      "Tool execution failed: Error: not yet",
    );
    expect(textOf((await session.call({ name: "traced" })).content)).toBe("fine");
    expect((await session.call({ name: "traced", arguments: { fail: true } })).ok).toBe(false);
    await runtime.close();
    expect(subject.trace).toEqual(["setup", "setup", "run", "run", "teardown"]);
  });

  it("is torn down after a setup that never succeeded, and not at all when never used", async () => {
    const failing = new Traced();
    failing.setupFailures = 9;
    const { runtime } = await testRuntime([toolFromBase(failing)]);
    await (await runtime.openSession()).call({ name: "traced" });
    await runtime.close();
    expect(failing.trace).toEqual(["setup", "teardown"]);
    const unused = new Traced();
    const other = await testRuntime([toolFromBase(unused)]);
    await other.runtime.close();
    expect(unused.trace).toEqual([]);
  });
});
