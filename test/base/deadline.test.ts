import { getEventListeners } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { aborted, inTime, LATE, pause, unlessAborted, within } from "../../src/base/deadline.js";

const never = new Promise<never>(() => {});

describe("within", () => {
  it("gives what the work comes to, or LATE", async () => {
    expect(await within(Promise.resolve(1), 1_000)).toBe(1);
    await expect(within(Promise.reject(new Error("broken")), 1_000)).rejects.toThrow("broken");
    expect(await within(never, 5)).toBe(LATE);
  });

  it("leaves no timer behind", async () => {
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
    const before = timers();
    await within(Promise.resolve(), 60_000);
    expect(timers()).toBe(before);
  });

  it("does not care how late work fails", async () => {
    const late = delay(10).then(() => Promise.reject(new Error("too late to matter")));
    expect(await within(late, 1)).toBe(LATE);
    await delay(20);
  });
});

it("inTime says what did not happen", async () => {
  expect(await inTime(Promise.resolve("yes"), { ms: 1_000, otherwise: "no answer" })).toBe("yes");
  await expect(inTime(never, { ms: 5, otherwise: "it did not answer" })).rejects.toThrow(
    "it did not answer within 0.005 s",
  );
});

describe("signals", () => {
  it("end a wait with their reason, before or after it began", async () => {
    const stop = new AbortController();
    const waiting = unlessAborted(never, stop.signal);
    stop.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    await expect(unlessAborted(never, stop.signal)).rejects.toThrow("enough");
    await aborted(stop.signal);
    await pause(60_000, stop.signal);
  });

  it("are not listened to any longer than the wait", async () => {
    const { signal } = new AbortController();
    expect(await unlessAborted(Promise.resolve(1), signal)).toBe(1);
    await expect(unlessAborted(Promise.reject(new Error("broken")), signal)).rejects.toThrow("broken");
    await pause(1, signal);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });
});
