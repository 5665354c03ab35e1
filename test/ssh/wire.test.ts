import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ChannelInput, ChannelOutput, RECEIVE_WINDOW } from "../../src/env/ssh/channel-streams.js";
import { PacketSplitter, WireReader, WireWriter } from "../../src/env/ssh/wire.js";

describe("packets of an ssh connection", () => {
  it("are the same however the bytes are cut into pieces", () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 300 })),
        fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }),
        (contents, sizes) => {
          const stream = Buffer.concat(contents.map((content) => new WireWriter().text(content).packet()));
          const splitter = new PacketSplitter();
          const found: Buffer[] = [];
          for (let at = 0, turn = 0; at < stream.length; turn += 1) {
            const size = sizes[turn % sizes.length] ?? 1;
            found.push(...splitter.split(stream.subarray(at, at + size)));
            at += size;
          }
          const read = found.map((packet) => [...new WireReader(packet).bytes()]);
          expect(read).toEqual(contents.map((content) => [...content]));
        },
      ),
    );
  });

  it("that are cut short or far too long are errors", () => {
    expect(() => new WireReader(Buffer.of(0, 0, 0, 9, 1)).bytes()).toThrow(/too early/);
    expect(() => [...new PacketSplitter().split(Buffer.of(0xff, 0xff, 0xff, 0xff))]).toThrow(/bytes/);
  });
});

describe("the input of a program", () => {
  it("is sent whole and in order, never more than the server has room for, and then its end", () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 })),
        fc.integer({ min: 1, max: 16 }),
        fc.integer({ min: 1, max: 20 }),
        (writes, maxPacket, grant) => {
          const sent: number[] = [];
          let granted = 0;
          let ends = 0;
          const input = new ChannelInput({
            data(bytes) {
              expect(ends).toBe(0);
              expect(bytes.length).toBeLessThanOrEqual(maxPacket);
              sent.push(...bytes);
              expect(sent.length).toBeLessThanOrEqual(granted);
            },
            end() {
              ends += 1;
            },
          });
          for (const bytes of writes) void input.write(bytes);
          input.end();
          void input.write(Buffer.from("too late"));
          input.open({ window: 0, maxPacket });
          const all = writes.flatMap((bytes) => [...bytes]);
          while (granted < all.length) {
            expect(ends).toBe(0);
            granted += grant;
            input.widen(grant);
          }
          expect(sent).toEqual(all);
          expect(ends).toBe(1);
        },
      ),
    );
  });
});

describe("the output of a program", () => {
  it("keeps its order through pauses, and the server is told of every byte taken", () => {
    const piece = 65_536;
    fc.assert(
      fc.property(fc.array(fc.constantFrom("piece", "pause", "go"), { maxLength: 150 }), (steps) => {
        const seen: number[] = [];
        let window = RECEIVE_WINDOW;
        let count = 0;
        const output = new ChannelOutput({
          onStdout: (bytes) => void seen.push(bytes[0] ?? -1),
          onStderr: (bytes) => void seen.push(bytes[0] ?? -1),
          widen(bytes) {
            window += bytes;
          },
        });
        for (const step of steps) {
          if (step !== "piece") output.pause(step === "pause");
          else if (window >= piece) {
            window -= piece;
            count += 1;
            output.received(Buffer.alloc(piece, count % 251), count % 3 === 0 ? "onStderr" : "onStdout");
          }
        }
        output.pause(false);
        let finished = false;
        output.finish(() => {
          finished = true;
        });
        expect(finished).toBe(true);
        expect(seen).toEqual(Array.from({ length: count }, (_, index) => (index + 1) % 251));
        expect(window).toBeGreaterThan(RECEIVE_WINDOW / 2);
      }),
    );
  });

  it("of a paused program is only over when it has been given out", () => {
    let seen = "";
    let over = false;
    const output = new ChannelOutput({
      onStdout: (bytes) => {
        seen += Buffer.from(bytes).toString();
      },
      onStderr: () => {},
      widen: () => {},
    });
    output.pause(true);
    output.received(Buffer.from("last words"), "onStdout");
    output.finish(() => {
      over = true;
    });
    expect({ seen, over }).toEqual({ seen: "", over: false });
    output.pause(false);
    expect({ seen, over }).toEqual({ seen: "last words", over: true });
  });
});
