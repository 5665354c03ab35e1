import { existsSync, readFileSync, writeFileSync } from "node:fs";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { OPERATION_NAMES } from "../../../src/tools/multimedia/edit/operations.js";
import { type Caller, caller } from "./caller.js";

const RED = [255, 0, 0];
const GREEN = [0, 255, 0];
const BLUE = [0, 0, 255];
const WHITE = [255, 255, 255];

/** 200×100: red and green above, blue and white below. */
async function quarters(): Promise<Buffer> {
  const part = ([r = 0, g = 0, b = 0]: readonly number[]) =>
    sharp({ create: { width: 100, height: 50, channels: 3, background: { r, g, b } } })
      .png()
      .toBuffer();
  return sharp({ create: { width: 200, height: 100, channels: 3, background: "#ffffff" } })
    .composite([
      { input: await part(RED), left: 0, top: 0 },
      { input: await part(GREEN), left: 100, top: 0 },
      { input: await part(BLUE), left: 0, top: 50 },
    ])
    .png()
    .toBuffer();
}

async function pixel(file: string, [x, y]: readonly [number, number]): Promise<readonly number[]> {
  const { data, info } = await sharp(readFileSync(file)).raw().toBuffer({ resolveWithObject: true });
  const from = (y * info.width + x) * info.channels;
  return [...data.subarray(from, from + Math.min(info.channels, 3))];
}

async function withPicture(): Promise<Caller> {
  const here = await caller();
  writeFileSync(here.path("in.png"), await quarters());
  return here;
}

describe("image_edit", () => {
  it("cuts out and scales, and says what came of it", async () => {
    const { call, path } = await withPicture();
    const result = await call("image_edit", {
      path: "in.png",
      operations: [
        { op: "crop", left: 100, top: 0, width: 100, height: 50 },
        { op: "resize", width: 40, height: 30 },
      ],
      output: "out/green.png",
    });
    expect(result.structured).toMatchObject({
      success: true,
      path: path("out/green.png"),
      width: 40,
      height: 30,
      format: "png",
      original: { width: 200, height: 100, format: "png" },
    });
    expect(await pixel(path("out/green.png"), [20, 15])).toEqual(GREEN);
    expect((result.structured as { bytes: number }).bytes).toBe(readFileSync(path("out/green.png")).length);
  });

  it("keeps the order of the operations", async () => {
    const { call, path } = await withPicture();
    const crop = { op: "crop", left: 0, top: 0, width: 50, height: 50 };
    const turn = { op: "rotate", angle: 90 };
    await call("image_edit", { path: "in.png", operations: [crop, turn], output: "crop-first.png" });
    await call("image_edit", { path: "in.png", operations: [turn, crop], output: "turn-first.png" });
    expect(await pixel(path("crop-first.png"), [10, 10])).toEqual(RED);
    expect(await pixel(path("turn-first.png"), [10, 10])).toEqual(BLUE);
    await call("image_edit", {
      path: "in.png",
      operations: [
        { op: "flop" },
        { op: "crop", width: 10, height: 10 },
        { op: "pad", amount: 5, color: "#0000ff" },
        { op: "negate" },
      ],
      output: "many.png",
    });
    expect(await sharp(path("many.png")).metadata()).toMatchObject({ width: 20, height: 20 });
    expect(await pixel(path("many.png"), [1, 1])).toEqual([255, 255, 0]);
    expect(await pixel(path("many.png"), [10, 10])).toEqual([255, 0, 255]);
  });

  it("knows every operation that it names", async () => {
    const { call, path } = await withPicture();
    writeFileSync(
      path("dot.png"),
      await sharp({ create: { width: 10, height: 10, channels: 3, background: "#000000" } })
        .png()
        .toBuffer(),
    );
    const fields: Record<string, Record<string, unknown>> = {
      crop: { width: 20, height: 20 },
      resize: { width: 50 },
      tint: { color: "#ff8800" },
      modulate: { brightness: 0.5, hue: 90 },
      pad: { amount: 4 },
      overlay: { path: "dot.png", left: 5, top: 5 },
    };
    for (const op of OPERATION_NAMES) {
      const result = await call("image_edit", {
        path: "in.png",
        operations: [
          { op, ...fields[op] },
          { op: "resize", height: 40 },
        ],
        output: `${op}.png`,
      });
      expect([op, result.error]).toEqual([op, undefined]);
    }
    const [r, g, b] = await pixel(path("grayscale.png"), [10, 10]);
    expect([r === g, g === b]).toEqual([true, true]);
    expect(await pixel(path("overlay.png"), [4, 4])).toEqual([0, 0, 0]);
    expect(await pixel(path("flip.png"), [10, 30])).toEqual(RED);
    expect(await pixel(path("flop.png"), [10, 10])).toEqual(GREEN);
    expect(await pixel(path("rotate.png"), [2, 5])).toEqual(BLUE);
    const [dark = 255] = await pixel(path("modulate.png"), [70, 35]);
    expect(dark).toBeLessThan(160);
  });

  it("turns pictures of cameras upright first, and leaves out what they tell besides", async () => {
    const { call, path } = await caller();
    writeFileSync(
      path("camera.jpg"),
      await sharp(await quarters())
        .withMetadata({ orientation: 6 })
        .jpeg({ quality: 100 })
        .toBuffer(),
    );
    const result = await call("image_edit", {
      path: "camera.jpg",
      operations: [{ op: "crop", width: 100, height: 60 }],
    });
    expect(result.structured).toMatchObject({
      path: path("camera-edited.jpg"),
      original: { width: 100, height: 200 },
    });
    const [r = 0, g = 0, b = 0] = await pixel(path("camera-edited.jpg"), [10, 10]);
    expect([r < 20, g < 20, b > 230]).toEqual([true, true, true]);
    expect((await sharp(path("camera-edited.jpg")).metadata()).orientation).toBeUndefined();
  });

  it("converts; what was transparent becomes white where a format knows no transparency", async () => {
    const { call, path } = await caller();
    writeFileSync(path("glass.svg"), '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10"/>');
    const formats = { jpg: "jpeg", webp: "webp", avif: "avif", gif: "gif", tiff: "tiff" };
    for (const [extension, format] of Object.entries(formats)) {
      const result = await call("image_edit", {
        path: "glass.svg",
        operations: [],
        output: `glass.${extension}`,
      });
      expect(result.structured).toMatchObject({ format, width: 20, height: 10 });
    }
    expect(await pixel(path("glass.jpg"), [5, 5])).toEqual(WHITE);
    const named = await call("image_edit", { path: "glass.svg", operations: [], format: "jpg" });
    expect(named.structured).toMatchObject({ path: path("glass-edited.jpg"), format: "jpeg" });
  });

  it("says what is wrong and writes nothing then", async () => {
    const { call, path } = await withPicture();
    writeFileSync(path("text.png"), "no picture");
    writeFileSync(path("huge.svg"), '<svg xmlns="http://www.w3.org/2000/svg" width="20000" height="20000"/>');
    const attempts = [
      [
        { path: "in.png", operations: [{ op: "crop", left: 150, width: 100, height: 10 }] },
        /100×10 at 150,0.*200×100/,
      ],
      [
        { path: "in.png", operations: [{ op: "flip" }, { op: "resize" }] },
        /Operation 2 \(resize\) needs width/,
      ],
      [{ path: "in.png", operations: [{ op: "resize", width: 30_000 }] }, /megapixels/],
      [{ path: "in.png", operations: [{ op: "tint" }] }, /needs color/],
      [{ path: "in.png", operations: [{ op: "overlay" }] }, /needs path/],
      [{ path: "text.png", operations: [] }, /not a picture/],
      [{ path: "huge.svg", operations: [] }, /megapixels/],
      [{ path: "none.png", operations: [] }, /There is no file none.png/],
    ] as const;
    for (const [args, message] of attempts) {
      const result = await call("image_edit", { ...args, output: "out.png" });
      expect(result.error?.message).toMatch(message);
      expect(result.error?.hint).toBeTruthy();
    }
    expect(existsSync(path("out.png"))).toBe(false);
  });
});
