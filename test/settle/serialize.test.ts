import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { serializeOutput } from "../../src/tool/serialize.js";

function cyclic(): object {
  const outer: Record<string, unknown> = { a: 1 };
  outer.self = outer;
  outer.list = [outer];
  return outer;
}

function nested(depth: number): unknown {
  let value: unknown = "bottom";
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? { next: value } : [value];
  return value;
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

describe("serializeOutput", () => {
  it.each<[unknown, string]>([
    ["text stays", "text stays"],
    [{ a: [1, null, "x"] }, '{"a":[1,null,"x"]}'],
    [undefined, "null"],
    [() => 1, "null"],
    [Symbol("x"), "null"],
    [12, "12"],
    [10n, '"10"'],
    [{ n: 9007199254740993n }, '{"n":"9007199254740993"}'],
    [cyclic(), '{"a":1,"self":"[Circular]","list":["[Circular]"]}'],
    [
      new Map<string, unknown>([
        ["a", 1],
        ["b", new Set([1, 2])],
      ]),
      '{"a":1,"b":[1,2]}',
    ],
    [new Map([[1, "one"]]), '[[1,"one"]]'],
    [{ at: new Date(0) }, '{"at":"1970-01-01T00:00:00.000Z"}'],
    [{ f: () => 1, s: Symbol("x"), u: undefined, e: {} }, '{"e":{}}'],
    [[() => 1, Symbol("x"), undefined, {}], "[null,null,null,{}]"],
    [Buffer.from("hi"), '{"type":"Buffer","bytes":2,"base64":"aGk="}'],
    [{ b: new Uint8Array([104, 105]) }, '{"b":{"type":"Uint8Array","bytes":2,"base64":"aGk="}}'],
    [new Float64Array([1.5, 2]), "[1.5,2]"],
    [new BigInt64Array([1n]), '["1"]'],
    [{ r: /a+/g, e: {} }, '{"r":"/a+/g","e":{}}'],
    [Object.assign(new TypeError("bad"), { code: "E1" }), '{"name":"TypeError","message":"bad","code":"E1"}'],
    [{ error: new Error("bad") }, '{"error":{"name":"Error","message":"bad"}}'],
    [JSON.parse('{"__proto__":{"x":{}}}'), '{"__proto__":{"x":{}}}'],
    [{ url: new URL("http://a/b"), e: {} }, '{"url":"http://a/b","e":{}}'],
    [[Number.NaN, -0, {}], "[null,0,{}]"],
  ])("%# becomes text", (value, expected) => {
    expect(serializeOutput(value)).toBe(expected);
  });

  it("a member that throws is named and spares the others", () => {
    const value = {
      good: 1,
      get bad(): never {
        throw new Error("no access");
      },
      json: {
        toJSON() {
          throw new Error("no json");
        },
      },
      proxy: revoked(),
    };
    const shown = JSON.parse(serializeOutput(value)) as Record<string, unknown>;
    expect(shown.good).toBe(1);
    expect(shown.bad).toBe("[Unserializable: no access]");
    expect(shown.json).toBe("[Unserializable: no json]");
    expect(shown.proxy).toMatch(/^\[Unserializable: /);
  });

  it("a value shared by two members is not a cycle", () => {
    const shared = { n: 1n };
    expect(serializeOutput({ a: shared, b: shared })).toBe('{"a":{"n":"1"},"b":{"n":"1"}}');
  });

  it.each([1_000, 10_000, 200_000])("depth %d does not overflow the stack", (depth) => {
    const shown = serializeOutput(nested(depth));
    expect(shown).toContain('"next"');
    expect(() => JSON.parse(shown)).not.toThrow();
  });

  it("large bytes and number arrays are shown in part", () => {
    const bytes = serializeOutput({ file: Buffer.alloc(10_000_000) });
    expect(bytes.length).toBeLessThan(5_000);
    expect(bytes).toContain('"bytes":10000000');
    expect(serializeOutput(new Int32Array(50_000))).toContain("[… 40000 more]");
  });

  it("never throws, and agrees with JSON where JSON is lossless", () => {
    const cycles = fc.anything({
      withBigInt: true,
      withMap: true,
      withSet: true,
      withDate: true,
      withTypedArray: true,
      withNullPrototype: true,
      withSparseArray: true,
      withBoxedValues: true,
    });
    fc.assert(
      fc.property(cycles, (value) => {
        const holder: Record<string, unknown> = { value };
        holder.self = holder;
        expect(() => JSON.parse(serializeOutput(holder))).not.toThrow();
        expect(typeof serializeOutput(value)).toBe("string");
      }),
      { numRuns: 1_000 },
    );
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const expected = typeof value === "string" ? value : JSON.stringify(value);
        expect(serializeOutput(value)).toBe(expected);
      }),
    );
  });
});
