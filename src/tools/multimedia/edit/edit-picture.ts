import type sharpModule from "sharp";
import type { Sharp } from "sharp";
import { messageOf } from "../../../base/errno.js";
import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import { readMediaFile } from "../media-files.js";
import { applyOperation, MAX_PIXELS, type Operation } from "./operations.js";

export const PICTURE_FORMATS = ["png", "jpeg", "webp", "avif", "gif", "tiff"] as const;
export type PictureFormat = (typeof PICTURE_FORMATS)[number];

const MAX_BYTES = 200 * 1024 * 1024;
const STEP_SECONDS = 60;

export interface EditedPicture {
  readonly bytes: Buffer;
  readonly width: number;
  readonly height: number;
  readonly format: PictureFormat;
  readonly original: { readonly width: number; readonly height: number; readonly format: string };
  readonly note?: string | undefined;
}

/**
 * Applies the operations in their order. The library keeps an order of its own inside one pipeline, so each step is a
 * pipeline; between them are plain pixels.
 */
export async function editPicture(request: {
  readonly path: string;
  readonly operations: readonly Operation[];
  /** As the input has it, when left out. */
  readonly format?: PictureFormat | undefined;
  readonly quality?: number | undefined;
  readonly ctx: CallContext;
}): Promise<EditedPicture> {
  const { path, operations, quality, ctx } = request;
  const { default: sharp } = await ctx.load<{ default: typeof sharpModule }>("sharp");
  const { bytes } = await readMediaFile(path, { ctx, maxBytes: MAX_BYTES });
  const open = () => sharp(bytes, { limitInputPixels: MAX_PIXELS, failOn: "error" });
  const { width, height, format, pages } = await readable(path, async () => {
    const found = await open().metadata();
    return { ...found, ...found.autoOrient };
  });
  // Cameras store pictures lying on their side and say so; everybody who looks at one sees it upright.
  let image: Sharp = open().autoOrient();
  let size = { width, height };
  for (const [at, operation] of operations.entries()) {
    ctx.signal.throwIfAborted();
    const overlay =
      operation.op === "overlay"
        ? (await readMediaFile(operation.path ?? "", { ctx, maxBytes: MAX_BYTES })).bytes
        : undefined;
    image = applyOperation(image, { operation, number: at + 1, size, overlay });
    if (at === operations.length - 1) break;
    const step = image.timeout({ seconds: STEP_SECONDS });
    const { data, info } = await readable(path, () => step.raw().toBuffer({ resolveWithObject: true }));
    size = { width: info.width, height: info.height };
    image = sharp(data, {
      raw: { width: info.width, height: info.height, channels: info.channels },
      limitInputPixels: MAX_PIXELS,
    });
    if (operations.length > 2)
      ctx.progress({ message: operation.op, fraction: (at + 1) / operations.length });
  }
  const target = request.format ?? formatOf(format);
  const made = await readable(path, () =>
    encoded(image.timeout({ seconds: STEP_SECONDS }), target, quality).toBuffer({ resolveWithObject: true }),
  );
  ctx.signal.throwIfAborted();
  return {
    bytes: made.data,
    width: made.info.width,
    height: made.info.height,
    format: target,
    original: { width, height, format },
    note:
      pages !== undefined && pages > 1
        ? `Of its ${pages} frames or pages only the first was edited.`
        : undefined,
  };
}

/** What the extension of a file name says. */
export function formatOfName(name: string): PictureFormat | undefined {
  const extension = /\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? "";
  const spelled = { jpg: "jpeg", tif: "tiff" }[extension] ?? extension;
  return PICTURE_FORMATS.find((format) => format === spelled);
}

/** The same where it can be written; PNG for what can only be read, such as SVG. */
function formatOf(format: string): PictureFormat {
  return PICTURE_FORMATS.find((known) => known === format) ?? (format === "heif" ? "avif" : "png");
}

function encoded(image: Sharp, format: PictureFormat, quality: number | undefined): Sharp {
  const chosen = quality === undefined ? {} : { quality };
  switch (format) {
    case "png":
      return image.png();
    case "gif":
      return image.gif();
    case "jpeg":
      // It has no transparency; black would be the library's choice.
      return image.flatten({ background: "#ffffff" }).jpeg({ mozjpeg: true, ...chosen });
    case "webp":
      return image.webp(chosen);
    case "avif":
      return image.avif(chosen);
    default:
      return image.tiff(chosen);
  }
}

async function readable<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (ToolError.isInstance(error)) throw error;
    const why = messageOf(error);
    if (/pixel limit/i.test(why)) {
      throw new ToolError(`${path} has more than ${MAX_PIXELS / 1e6} megapixels.`, {
        code: "invalid_arguments",
        hint: "Make it smaller with a program in the terminal first.",
        cause: error,
      });
    }
    const unknown = /unsupported image format|bad seek|corrupt/i.test(why);
    throw new ToolError(
      unknown ? `${path} is not a picture that can be read.` : `${path} could not be edited: ${why}.`,
      {
        hint: "PNG, JPEG, WebP, AVIF, GIF, TIFF and SVG can be read.",
        cause: error,
      },
    );
  }
}
