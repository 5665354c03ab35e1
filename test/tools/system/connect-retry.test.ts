import { describe, expect, it } from "vitest";
import { ToolError } from "../../../src/tool/errors.js";
import { withConnectRetries } from "../../../src/tools/system/foreground-run.js";

const unreached = () =>
  new ToolError("not reached", { code: "unavailable", details: { nothing_started: true } });

async function attempts(errors: readonly unknown[], signal = new AbortController().signal) {
  let tried = 0;
  const outcome = await withConnectRetries(
    async () => {
      const error = errors[tried];
      tried += 1;
      if (error !== undefined) throw error;
      return "done";
    },
    { signal, onRetry: () => undefined },
  ).catch((error: unknown) => error);
  return { tried, outcome };
}

describe("an environment that cannot be reached", () => {
  it("is tried again while nothing was started there", async () => {
    expect(await attempts([unreached(), unreached()])).toEqual({ tried: 3, outcome: "done" });
  });

  it("is not tried again when something may have been started", async () => {
    const lost = new ToolError("connection lost", { code: "unavailable" });
    expect(await attempts([lost])).toEqual({ tried: 1, outcome: lost });
    expect((await attempts([new Error("defect")])).tried).toBe(1);
  });

  it("is not tried again after an interrupt", async () => {
    expect((await attempts([unreached()], AbortSignal.abort())).tried).toBe(1);
  });
});
