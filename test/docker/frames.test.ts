import fc from "fast-check";
import { expect, it } from "vitest";
import { FrameReader } from "../../src/env/docker/frame-reader.js";

const frame = fc.record({ stream: fc.constantFrom(1, 2), payload: fc.uint8Array({ maxLength: 40 }) });

function encode(frames: readonly { stream: number; payload: Uint8Array }[]): Buffer {
  return Buffer.concat(
    frames.flatMap(({ stream, payload }) => {
      const header = Buffer.alloc(8);
      header[0] = stream;
      header.writeUInt32BE(payload.length, 4);
      return [header, payload];
    }),
  );
}

it("gives back both streams byte for byte, wherever the connection cuts them", () => {
  fc.assert(
    fc.property(fc.array(frame), fc.array(fc.nat(50)), (frames, cuts) => {
      const stdout: Uint8Array[] = [];
      const stderr: Uint8Array[] = [];
      const reader = new FrameReader({ onStdout: (b) => stdout.push(b), onStderr: (b) => stderr.push(b) });
      let rest = encode(frames);
      for (const cut of cuts) {
        reader.push(rest.subarray(0, cut));
        rest = rest.subarray(cut);
      }
      reader.push(rest);
      const sent = (stream: number) =>
        Buffer.concat(frames.filter((each) => each.stream === stream).map((each) => each.payload));
      expect(Buffer.concat(stdout)).toEqual(sent(1));
      expect(Buffer.concat(stderr)).toEqual(sent(2));
    }),
  );
});
