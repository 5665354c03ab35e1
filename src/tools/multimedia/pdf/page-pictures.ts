import type sharpModule from "sharp";
import type { PdfPage } from "./open-document.js";

type Matrix = readonly [number, number, number, number, number, number];

/** A picture on a page: plain pixels, and the place they are drawn at. */
export interface PagePicture {
  /** The same for the same picture on other pages, where the document shares it. */
  readonly key: string;
  readonly width: number;
  readonly height: number;
  readonly channels: 1 | 3 | 4;
  readonly data: Buffer;
  readonly matrix: Matrix;
}

/** Lines and dots that programs draw as tiny pictures are of no interest. */
const MIN_SIDE = 8;
const MAX_PER_PAGE = 500;
const SCAN_LONG_EDGE = 3_500;
/** As pdf.js numbers the ways pixels are stored. */
const ONE_BIT = 1;
const RGB = 2;
const RGBA = 3;

/** All pictures of a page, in the order they are drawn. */
export async function picturesOf(page: PdfPage): Promise<readonly PagePicture[]> {
  const { getResolvedPDFJS } = await import("unpdf");
  const { OPS } = await getResolvedPDFJS();
  const { fnArray, argsArray } = await page.getOperatorList();
  const found: PagePicture[] = [];
  let matrix: Matrix = [1, 0, 0, 1, 0, 0];
  const saved: Matrix[] = [];
  for (const [at, operator] of fnArray.entries()) {
    const args: unknown = argsArray[at];
    const first: unknown = Array.isArray(args) ? args[0] : undefined;
    switch (operator) {
      case OPS.save:
        saved.push(matrix);
        break;
      case OPS.restore:
      case OPS.paintFormXObjectEnd:
        matrix = saved.pop() ?? matrix;
        break;
      case OPS.transform:
        matrix = multiplied(matrix, args);
        break;
      case OPS.paintFormXObjectBegin:
        saved.push(matrix);
        matrix = multiplied(matrix, first);
        break;
      case OPS.paintImageXObject:
      case OPS.paintInlineImageXObject:
      case OPS.paintImageMaskXObject: {
        const picture = pictureOf(await imageObject(page, first), {
          key: typeof first === "string" ? first : `inline-${page.pageNumber}-${at}`,
          matrix,
          mask: operator === OPS.paintImageMaskXObject,
        });
        if (picture !== undefined) found.push(picture);
        break;
      }
      default:
    }
    if (found.length >= MAX_PER_PAGE) break;
  }
  return found;
}

/** What pdf.js knows a picture by is its name, itself, or itself with the name of its pixels. */
async function imageObject(page: PdfPage, named: unknown): Promise<unknown> {
  if (typeof named === "string") return byName(page, named);
  if (typeof named === "object" && named !== null && "data" in named && typeof named.data === "string") {
    const inner = await byName(page, named.data);
    return typeof inner === "object" && inner !== null ? { ...named, ...inner } : undefined;
  }
  return named;
}

function byName(page: PdfPage, name: string): Promise<unknown> {
  const objects = name.startsWith("g_") ? page.commonObjs : page.objs;
  return new Promise((resolve) => {
    objects.get(name, resolve);
  });
}

function pictureOf(
  image: unknown,
  about: { readonly key: string; readonly matrix: Matrix; readonly mask: boolean },
): PagePicture | undefined {
  if (typeof image !== "object" || image === null) return undefined;
  const { width, height, data, kind, ref } = image as Record<string, unknown>;
  if (typeof width !== "number" || typeof height !== "number" || width < MIN_SIDE || height < MIN_SIDE)
    return undefined;
  if (!(data instanceof Uint8Array || data instanceof Uint8ClampedArray)) return undefined;
  const pixels = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const { matrix } = about;
  const base = { key: typeof ref === "string" ? ref : about.key, width, height, matrix };
  if (kind === RGB && pixels.length >= width * height * 3) return { ...base, channels: 3, data: pixels };
  if (kind === RGBA && pixels.length >= width * height * 4) return { ...base, channels: 4, data: pixels };
  if ((kind === ONE_BIT || about.mask) && pixels.length >= ((width + 7) >> 3) * height)
    return { ...base, channels: 1, data: unpacked(pixels, { width, height }) };
  return undefined;
}

/** One bit a pixel, lines filled up to whole bytes → one byte a pixel. */
function unpacked(bits: Buffer, { width, height }: { width: number; height: number }): Buffer {
  const out = Buffer.alloc(width * height);
  const stride = (width + 7) >> 3;
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      if (((bits[y * stride + (x >> 3)] ?? 0) >> (7 - (x & 7))) & 1) out[y * width + x] = 255;
  return out;
}

function multiplied(m: Matrix, by: unknown): Matrix {
  if (!Array.isArray(by) && !ArrayBuffer.isView(by)) return m;
  const [a, b, c, d, e, f] = Array.from(by as ArrayLike<unknown>, Number);
  if ([a, b, c, d, e, f].some((one) => one === undefined || Number.isNaN(one))) return m;
  const [n0, n1, n2, n3, n4, n5] = [a ?? 1, b ?? 0, c ?? 0, d ?? 1, e ?? 0, f ?? 0];
  return [
    m[0] * n0 + m[2] * n1,
    m[1] * n0 + m[3] * n1,
    m[0] * n2 + m[2] * n3,
    m[1] * n2 + m[3] * n3,
    m[0] * n4 + m[2] * n5 + m[4],
    m[1] * n4 + m[3] * n5 + m[5],
  ];
}

/** The page as its pictures make it up: scanners cut pages into strips, turn them and turn the page back. */
export async function scanOf(
  page: PdfPage,
  { pictures, sharp }: { readonly pictures: readonly PagePicture[]; readonly sharp: typeof sharpModule },
): Promise<Buffer | undefined> {
  const [left = 0, bottom = 0, right = 0, top = 0] = page.view;
  const boxes = pictures.map((picture) => ({ picture, box: boxOf(picture.matrix) }));
  const sharpest = Math.max(
    ...boxes.map(({ picture, box }) => longSide(picture) / Math.max(longSide(box), 1)),
  );
  const scale = Math.min(sharpest, SCAN_LONG_EDGE / Math.max(right - left, top - bottom, 1));
  const width = Math.round((right - left) * scale);
  const height = Math.round((top - bottom) * scale);
  if (width < MIN_SIDE || height < MIN_SIDE) return undefined;
  const layers = await Promise.all(
    boxes.map(async ({ picture, box }) => {
      const size = {
        width: Math.min(Math.max(Math.round(box.width * scale), 1), width),
        height: Math.min(Math.max(Math.round(box.height * scale), 1), height),
      };
      const input = await upright(picture, sharp)
        .resize({ ...size, fit: "fill" })
        .png({ compressionLevel: 1 })
        .toBuffer();
      return {
        input,
        left: clamped(Math.round((box.x - left) * scale), width - size.width),
        top: clamped(Math.round((top - box.y - box.height) * scale), height - size.height),
      };
    }),
  );
  const flat = await sharp({ create: { width, height, channels: 3, background: "#ffffff" } })
    .composite(layers)
    .png({ compressionLevel: 1 })
    .toBuffer();
  return page.rotate % 360 === 0 ? flat : sharp(flat).rotate(page.rotate).toBuffer();
}

export function rawPicture({ data, width, height, channels }: PagePicture, sharp: typeof sharpModule) {
  return sharp(data, { raw: { width, height, channels } });
}

function upright(picture: PagePicture, sharp: typeof sharpModule) {
  const [a, b, , d] = picture.matrix;
  const image = rawPicture(picture, sharp);
  if (Math.abs(b) > Math.abs(a)) return image.rotate(b > 0 ? 270 : 90);
  if (a < 0 && d < 0) return image.rotate(180);
  return a < 0 ? image.flop() : d < 0 ? image.flip() : image;
}

function boxOf([a, b, c, d, e, f]: Matrix) {
  const xs = [e, e + a, e + c, e + a + c];
  const ys = [f, f + b, f + d, f + b + d];
  const x = Math.min(...xs);
  const y = Math.min(...ys);
  return { x, y, width: Math.max(...xs) - x, height: Math.max(...ys) - y };
}

function longSide({ width, height }: { readonly width: number; readonly height: number }): number {
  return Math.max(width, height);
}

function clamped(value: number, most: number): number {
  return Math.min(Math.max(value, 0), Math.max(most, 0));
}
