import type sharpModule from "sharp";
import { messageOf } from "../../../base/errno.js";
import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";

/** What models look at: larger pictures are scaled down by their servers anyway, or refused. */
export const LONG_EDGE = 1_568;
const TARGET_BYTES = 256 * 1024;
const MAX_PIXELS = 100_000_000;
const AS_IT_IS: ReadonlySet<string> = new Set(["png", "jpeg", "webp"]);
const QUALITIES = [85, 70, 55] as const;

export interface ShownPicture {
  readonly data: string;
  readonly mimeType: string;
  /** Of the picture itself, upright. */
  readonly width: number;
  readonly height: number;
  /** What coordinates in the shown picture must be multiplied by; 1 when it was not scaled. */
  readonly factor: number;
}

/** A picture made small enough for every model. */
export async function shownPicture(
  bytes: Buffer,
  { ctx, longEdge = LONG_EDGE }: { readonly ctx: CallContext; readonly longEdge?: number },
): Promise<ShownPicture> {
  const { default: sharp } = await ctx.load<{ default: typeof sharpModule }>("sharp");
  try {
    const open = () => sharp(bytes, { limitInputPixels: MAX_PIXELS });
    const { format, autoOrient, orientation = 1 } = await open().metadata();
    const { width, height } = autoOrient;
    const factor = Math.max(1, Math.max(width, height) / longEdge);
    const size = { width, height, factor };
    if (factor === 1 && orientation === 1 && bytes.length <= TARGET_BYTES && AS_IT_IS.has(format))
      return { ...size, data: bytes.toString("base64"), mimeType: `image/${format}` };
    const scaled = open()
      .autoOrient()
      .resize({ width: longEdge, height: longEdge, fit: "inside", withoutEnlargement: true });
    const sharpest = await scaled.clone().png({ compressionLevel: 9 }).toBuffer();
    if (sharpest.length <= TARGET_BYTES)
      return { ...size, data: sharpest.toString("base64"), mimeType: "image/png" };
    let made = sharpest;
    for (const quality of QUALITIES) {
      made = await scaled.clone().flatten({ background: "#ffffff" }).jpeg({ quality }).toBuffer();
      if (made.length <= TARGET_BYTES) break;
    }
    return { ...size, data: made.toString("base64"), mimeType: "image/jpeg" };
  } catch (error) {
    throw new ToolError(`This is not a picture that can be looked at: ${messageOf(error)}.`, {
      hint: "PNG, JPEG, WebP, AVIF, GIF, TIFF and SVG with up to 100 megapixels can be looked at.",
      cause: error,
    });
  }
}
