import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { errnoOf, errnoText, isMissing, messageOf } from "../../src/base/errno.js";

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
}

it("reads the code of a system error, and nothing out of anything else", () => {
  expect(errnoOf(thrownBy(() => readFileSync("/")))).toBe("EISDIR");
  expect([undefined, null, "ENOENT", new Error("x"), { code: 7 }].map(errnoOf)).toEqual(
    Array(5).fill(undefined),
  );
});

it("a path is missing whether its last part or a folder on the way is not there", () => {
  expect(isMissing(thrownBy(() => readFileSync("/no-such-place/file")))).toBe(true);
  expect(isMissing(thrownBy(() => readFileSync("/dev/null/file")))).toBe(true);
  expect(isMissing(thrownBy(() => readFileSync("/")))).toBe(false);
});

it("has words for what the system answers about files", () => {
  expect(errnoText("ENOSPC")).toBe("the disk is full");
  expect(errnoText("EWHATEVER")).toBe("the system answered EWHATEVER");
  expect(errnoText("toString")).toBe("the system answered toString");
});

it("says what an error says, or what was thrown in its place", () => {
  expect([new TypeError("wrong"), "plain", undefined].map(messageOf)).toEqual([
    "wrong",
    "plain",
    "undefined",
  ]);
});
