import { afterEach, expect, test } from "vitest";
import sleep from "../../../src/tools/system/sleep.js";
import { makeContext, type TestContext } from "../context.js";

const contexts: TestContext[] = [];
function context(...args: Parameters<typeof makeContext>) {
  const made = makeContext(...args);
  contexts.push(made);
  return made;
}
afterEach(async () => {
  for (const made of contexts.splice(0)) await made.cleanUp();
});

test("waits as long as asked", async () => {
  const result = await sleep.handler({ seconds: 0.15 }, context());
  expect(result).toMatchObject({ interrupted: false });
  expect((result as { slept_ms: number }).slept_ms).toBeGreaterThanOrEqual(145);
});

test("zero seconds return at once", async () => {
  expect(await sleep.handler({ seconds: 0 }, context())).toMatchObject({ interrupted: false });
});

test("a cancelled wait ends early and says so", async () => {
  const abort = new AbortController();
  const pending = sleep.handler({ seconds: 3600, reason: "a build" }, context({ signal: abort.signal }));
  abort.abort();
  expect(await pending).toMatchObject({ interrupted: true });
  expect(await sleep.handler({ seconds: 10 }, context({ signal: AbortSignal.abort() }))).toMatchObject({
    interrupted: true,
  });
});

test("touches nothing", () => {
  expect(sleep.effects?.({ seconds: 1 }, { cwd: "/", environment: "local" })).toEqual([]);
  expect(sleep.permissions).toEqual([]);
});
