import type { Sharp } from "sharp";
import { ToolError } from "../../../tool/errors.js";

export const OPERATION_NAMES = [
  "crop",
  "resize",
  "rotate",
  "flip",
  "flop",
  "blur",
  "sharpen",
  "grayscale",
  "tint",
  "negate",
  "normalize",
  "modulate",
  "gamma",
  "threshold",
  "trim",
  "pad",
  "flatten",
  "overlay",
] as const;

/** One step, as a caller writes it; which fields count depends on `op`. */
export interface Operation {
  readonly op: (typeof OPERATION_NAMES)[number];
  readonly left?: number | undefined;
  readonly top?: number | undefined;
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  readonly fit?: "cover" | "contain" | "fill" | "inside" | "outside" | undefined;
  readonly angle?: number | undefined;
  readonly amount?: number | undefined;
  readonly color?: string | undefined;
  readonly brightness?: number | undefined;
  readonly saturation?: number | undefined;
  readonly hue?: number | undefined;
  readonly path?: string | undefined;
}

export interface Step {
  readonly operation: Operation;
  /** Its number, from 1, for messages. */
  readonly number: number;
  /** The picture as it is before. */
  readonly size: { readonly width: number; readonly height: number };
  /** The picture that an overlay puts on top. */
  readonly overlay?: Buffer | undefined;
}

/** The most pixels that a step may make. */
export const MAX_PIXELS = 100_000_000;
const MAX_SIDE = 30_000;
const TRANSPARENT = { r: 0, g: 0, b: 0, alpha: 0 };

type Apply = (image: Sharp, step: Step) => Sharp;

const APPLY: Readonly<Record<Operation["op"], Apply>> = {
  crop: (image, step) => image.extract(cropArea(step)),
  resize: (image, step) => {
    const { width, height, fit, color } = step.operation;
    if (width === undefined && height === undefined) throw wrong(step, "needs width, height or both");
    refuseHuge(step, resized(step));
    return image.resize({
      width,
      height,
      // A picture that is asked for in a size has that size; without distorting it nothing else does.
      fit: fit ?? (width === undefined || height === undefined ? "inside" : "fill"),
      background: color ?? TRANSPARENT,
    });
  },
  rotate: (image, { operation }) =>
    image.rotate(operation.angle ?? 90, { background: operation.color ?? TRANSPARENT }),
  flip: (image) => image.flip(),
  flop: (image) => image.flop(),
  blur: (image, { operation }) => image.blur(Math.min(operation.amount ?? 3, 1_000)),
  sharpen: (image, { operation }) => image.sharpen({ sigma: Math.min(operation.amount ?? 1, 10) }),
  grayscale: (image) => image.grayscale(),
  tint: (image, step) => image.tint(step.operation.color ?? missing(step, "color")),
  negate: (image) => image.negate({ alpha: false }),
  normalize: (image) => image.normalize(),
  modulate: (image, step) => {
    const { brightness, saturation, hue } = step.operation;
    if (brightness === undefined && saturation === undefined && hue === undefined)
      throw wrong(step, "needs brightness, saturation or hue");
    return image.modulate({
      ...(brightness !== undefined && { brightness }),
      ...(saturation !== undefined && { saturation }),
      ...(hue !== undefined && { hue: Math.round(hue) }),
    });
  },
  gamma: (image, { operation }) => image.gamma(Math.min(Math.max(operation.amount ?? 2.2, 1), 3)),
  threshold: (image, { operation }) => image.threshold(Math.min(Math.round(operation.amount ?? 128), 255)),
  trim: (image) => image.trim(),
  pad: (image, step) => {
    const { operation, size } = step;
    const sides = {
      left: operation.left ?? operation.amount ?? 0,
      right: operation.width ?? operation.left ?? operation.amount ?? 0,
      top: operation.top ?? operation.amount ?? 0,
      bottom: operation.height ?? operation.top ?? operation.amount ?? 0,
    };
    if (Object.values(sides).every((side) => side === 0)) throw wrong(step, "needs amount, or left and top");
    refuseHuge(step, {
      width: size.width + sides.left + sides.right,
      height: size.height + sides.top + sides.bottom,
    });
    return image.extend({ ...sides, background: operation.color ?? TRANSPARENT });
  },
  flatten: (image, { operation }) => image.flatten({ background: operation.color ?? "#ffffff" }),
  overlay: (image, { operation, overlay }) =>
    image.composite([
      { input: overlay ?? Buffer.alloc(0), left: operation.left ?? 0, top: operation.top ?? 0 },
    ]),
};

export function applyOperation(image: Sharp, step: Step): Sharp {
  return APPLY[step.operation.op](image, step);
}

function cropArea(step: Step) {
  const { operation, size } = step;
  const left = operation.left ?? 0;
  const top = operation.top ?? 0;
  const width = operation.width ?? size.width - left;
  const height = operation.height ?? size.height - top;
  if (left + width > size.width || top + height > size.height || width < 1 || height < 1) {
    throw wrong(
      step,
      `asks for ${width}×${height} at ${left},${top}, but the picture has ${size.width}×${size.height} there`,
    );
  }
  return { left, top, width, height };
}

function resized({ operation, size }: Step) {
  const { width, height } = operation;
  if (width !== undefined && height !== undefined) return { width, height };
  const factor = width === undefined ? (height ?? 0) / size.height : width / size.width;
  return { width: size.width * factor, height: size.height * factor };
}

function refuseHuge(step: Step, { width, height }: { width: number; height: number }): void {
  if (width <= MAX_SIDE && height <= MAX_SIDE && width * height <= MAX_PIXELS) return;
  throw wrong(
    step,
    `would make ${Math.round(width)}×${Math.round(height)}; at most ${MAX_PIXELS / 1e6} megapixels are made`,
  );
}

function missing(step: Step, field: string): never {
  throw wrong(step, `needs ${field}`);
}

function wrong({ operation, number }: Step, what: string): ToolError {
  return new ToolError(`Operation ${number} (${operation.op}) ${what}.`, {
    code: "invalid_arguments",
    hint: "Nothing was written. Operations run in their order, each on the picture that the one before has made.",
  });
}
