import fc from "fast-check";
import { expect, test } from "vitest";
import { FrameReader } from "../../src/env/remote/report-frames.js";

const TOKEN = "0123456789abcdef";

test("frames and everything around them come out whole, however the stream is cut", () => {
  const text = fc.string({
    unit: fc.constantFrom("0", "1", "2", ":", ";", "\n", "é", "0123456789abcde", "0123"),
    maxLength: 12,
  });
  const piece = fc.oneof(
    text.map((rest) => ({ rest })),
    fc.tuple(fc.constantFrom("x", "cwd", "vars"), text).map(([kind, body]) => ({ kind, body })),
  );
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 8 }),
      fc.array(fc.nat(20), { minLength: 1, maxLength: 10 }),
      (pieces, cuts) => {
        const whole = pieces
          .map((each) => ("rest" in each ? each.rest : `${TOKEN}:${each.kind}:${each.body}${TOKEN};`))
          .join("");
        fc.pre(whole.split(TOKEN).length === 1 + 2 * pieces.filter((each) => "kind" in each).length);
        const bytes = Buffer.from(whole);
        const frames: string[] = [];
        let rest = "";
        const reader = new FrameReader(TOKEN, {
          onFrame: (kind, body) => frames.push(`${kind}=${body.toString()}`),
          onRest: (part) => {
            rest += Buffer.from(part).toString("latin1");
          },
        });
        for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
          const length = 1 + (cuts[turn % cuts.length] ?? 0);
          reader.push(bytes.subarray(at, at + length));
          at += length;
        }
        reader.finish();
        expect(frames).toEqual(
          pieces.flatMap((each) => ("kind" in each ? [`${each.kind}=${each.body}`] : [])),
        );
        expect(Buffer.from(rest, "latin1").toString()).toBe(
          pieces.map((each) => ("rest" in each ? each.rest : "")).join(""),
        );
      },
    ),
    { numRuns: 300 },
  );
});

test("a report without an end is dropped and does not grow for ever", () => {
  let frames = 0;
  const reader = new FrameReader(TOKEN, { onFrame: () => (frames += 1), onRest: () => {} });
  reader.push(Buffer.from(`${TOKEN}:vars:`));
  for (let index = 0; index < 200; index += 1) reader.push(Buffer.alloc(100_000, "x"));
  reader.finish();
  expect(frames).toBe(0);
});
