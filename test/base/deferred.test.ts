import { expect, it } from "vitest";
import { deferred } from "../../src/base/deferred.js";

it("a deferred promise is settled from outside, once", async () => {
  const one = deferred<number>();
  expect(one.value).toBeUndefined();
  one.resolve(1);
  one.resolve(2);
  one.reject(new Error("late"));
  expect(one.value).toBe(1);
  expect(await one.promise).toBe(1);
});

it("a rejection that nobody waits for ends nothing, one that is waited for arrives", async () => {
  const one = deferred<number>();
  one.reject(new Error("gone"));
  await new Promise((resolve) => setImmediate(resolve));
  await expect(one.promise).rejects.toThrow("gone");
});
