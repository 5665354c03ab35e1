import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { describeThrown } from "../../src/tool/thrown.js";

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

const hostile = new Proxy(
  {},
  {
    get() {
      throw new Error("no reading");
    },
    ownKeys() {
      throw new Error("no keys");
    },
    getPrototypeOf() {
      throw new Error("no prototype");
    },
  },
);

function cyclicCause(): Error {
  const outer = new Error("outer");
  outer.cause = new Error("inner", { cause: outer });
  return outer;
}

function deepCause(): Error {
  let error = new Error("level 0");
  for (let level = 1; level < 1_000; level++) error = new Error(`level ${level}`, { cause: error });
  return error;
}

class QuotaError extends Error {
  override readonly name = "QuotaError";
}

describe("describeThrown", () => {
  it.each<[unknown, string, string]>([
    [new TypeError("x is not a function"), "TypeError", "x is not a function"],
    [new QuotaError("disk full"), "QuotaError", "disk full"],
    ["plain text", "string", "plain text"],
    [undefined, "undefined", "undefined was thrown instead of an Error"],
    [null, "null", "null was thrown instead of an Error"],
    [42, "number", "42"],
    [Number.NaN, "number", "NaN"],
    [10n, "bigint", "10"],
    [Symbol("mark"), "symbol", "Symbol(mark)"],
    [{ message: "like an error", name: "Odd" }, "Odd", "like an error"],
    [{ status: 500 }, "Object", '{"status":500}'],
    [[1, 2], "Array", "[1,2]"],
    [new Error("outer", { cause: new Error("inner") }), "Error", "outer (caused by: inner)"],
    [new Error("outer", { cause: new RangeError("inner") }), "Error", "outer (caused by: RangeError: inner)"],
    [new Error("outer", { cause: "text" }), "Error", "outer (caused by: text)"],
    [
      new AggregateError([new Error("first"), new Error("second")], "both failed"),
      "AggregateError",
      "both failed (2 errors: first; second)",
    ],
    [Object.assign(new Error(""), { code: "ECONNRESET" }), "Error", "no message (code ECONNRESET)"],
    [cyclicCause(), "Error", "outer (caused by: inner (caused by: [Circular]))"],
    [Object.assign(new Error("x"), { name: 12, message: { a: 1 } }), "Error", '{"a":1}'],
  ])("%# says what was thrown", (thrown, type, message) => {
    expect(describeThrown(thrown)).toEqual({ type, message });
  });

  it("survives values that resist being looked at", () => {
    const throwing = {
      get message(): string {
        throw new Error("getter");
      },
    };
    const values: readonly unknown[] = [
      throwing,
      revoked(),
      hostile,
      Object.create(null),
      () => {},
      Object.assign(new Error("x"), { cause: revoked() }),
      Object.assign(new Error("x"), { errors: [hostile, revoked()] }),
      {
        toJSON() {
          throw new Error("json");
        },
        toString() {
          throw new Error("string");
        },
      },
      new (class extends Error {
        override get message(): string {
          throw revoked();
        }
      })(),
    ];
    for (const value of values) {
      const { type, message } = describeThrown(value);
      expect(type).toMatch(/^[\w$.-]+$/);
      expect(message.length).toBeGreaterThan(0);
    }
    expect(describeThrown(throwing).message).toContain("getter");
  });

  it("bounds long messages, many parts and long chains, and keeps the end of a message", () => {
    const { message } = describeThrown(new Error(`${"x".repeat(5_000_000)}THE END`));
    expect(message.length).toBeLessThan(17_000);
    expect(message.endsWith("THE END")).toBe(true);
    const parts = Array.from({ length: 100 }, (_, index) => new Error(`part ${index}`));
    expect(describeThrown(new AggregateError(parts, "many")).message).toContain("part 4; and 95 more");
    expect(describeThrown(deepCause()).message).toContain("level 995");
  });

  it("never throws", () => {
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withNullPrototype: true, withMap: true, withSparseArray: true }),
        (value) => {
          const { type, message } = describeThrown(value);
          expect(typeof type).toBe("string");
          expect(typeof message).toBe("string");
        },
      ),
    );
  });
});
