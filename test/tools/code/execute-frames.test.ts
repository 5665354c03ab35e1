import fc from "fast-check";
import { expect, it } from "vitest";
import { FrameReader, orderFrame, PAYLOAD_BYTES } from "../../../src/tools/code/execute/frames.js";
import { literal, pythonModule } from "../../../src/tools/code/execute/python-module.js";

const TOKEN = "\u0001abcdefghijklmn\u0002";

function frame(kind: string, payload: Buffer): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; at === 0 || at < payload.length; at += PAYLOAD_BYTES) {
    const piece = payload.subarray(at, at + PAYLOAD_BYTES);
    const more = at + PAYLOAD_BYTES < payload.length ? "+" : ".";
    pieces.push(Buffer.from(`${TOKEN}${kind}${more}${piece.length.toString(16).padStart(4, "0")}`), piece);
  }
  return Buffer.concat(pieces);
}

const printed = fc
  .uint8Array({ maxLength: 40 })
  .map((bytes) => Buffer.from(bytes))
  .filter((bytes) => !bytes.includes(TOKEN));
const almostToken = fc.integer({ min: 1, max: 15 }).map((length) => Buffer.from(TOKEN.slice(0, length)));
const told = fc.record({
  kind: fc.constantFrom("q", "e", "d"),
  payload: fc.uint8Array({ maxLength: 9_000 }),
});

it("frames come out of the output whole and in order, wherever it is cut", () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(printed, almostToken, told), { maxLength: 12 }),
      fc.array(fc.integer({ min: 1, max: 5_000 }), { minLength: 1 }),
      (parts, cuts) => {
        const output: Buffer[] = [];
        const frames: string[] = [];
        const reader = new FrameReader(TOKEN, {
          onOutput: (bytes) => output.push(Buffer.from(bytes)),
          onFrame: (kind, payload) => frames.push(`${kind} ${payload.toString("hex")}`),
        });
        const stream = Buffer.concat(
          parts.map((part) => ("kind" in part ? frame(part.kind, Buffer.from(part.payload)) : part)),
        );
        for (let at = 0, turn = 0; at < stream.length; turn += 1) {
          const length = cuts[turn % cuts.length] ?? 1;
          reader.push(new Uint8Array(stream.subarray(at, at + length)));
          at += length;
        }
        reader.finish();
        const wanted = parts.flatMap((part) =>
          "kind" in part ? [`${part.kind} ${Buffer.from(part.payload).toString("hex")}`] : [],
        );
        expect(frames).toEqual(wanted);
        const plain = parts.flatMap((part) => ("kind" in part ? [] : [part]));
        expect(Buffer.concat(output).equals(Buffer.concat(plain))).toBe(true);
      },
    ),
    { numRuns: 200 },
  );
});

it("an order says how long it is, in bytes", () => {
  expect(orderFrame("ü").toString()).toBe("00000002ü");
});

it("names that Python does not take become names that it takes", () => {
  const parameters = {
    type: "object",
    properties: {
      from: { type: "string" },
      limit: { type: "integer", default: 5 },
      "x-y": {},
      on: { default: true },
    },
  } as const;
  const text = pythonModule([{ name: "mcp.server-tool", description: 'says "hi"\n', parameters }]);
  expect(text.split("\n")).toEqual([
    "def mcp_server_tool(limit=5, on=True, **more):",
    '    "says \\"hi\\"\\n"',
    '    return _call("mcp.server-tool", _given({"limit": limit, "on": on}, more))',
    "",
  ]);
  expect(literal({ a: [null, 1.5, "é😀"] })).toBe('{"a": [None, 1.5, "é😀"]}');
});
