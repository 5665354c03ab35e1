import type { Locator } from "playwright-core";
import type { CallContext } from "../../tool/tool.js";
import { browserSettings } from "./settings.js";
import type { Tab } from "./tab.js";

/** Browsers draw no larger picture. */
const MAX_HEIGHT = 16_000;
/** What the strictest models take: a picture beyond that would break every later turn it is part of. */
const MODEL_EDGE = 1_568;
const MODEL_BYTES = 1_000_000;
const MODEL_QUALITY = 70;

export interface Picture {
  readonly bytes: Buffer;
  readonly width: number;
  readonly height: number;
  readonly mimeType: "image/png" | "image/jpeg";
  /** The page goes on below. */
  readonly cut: boolean;
  /** The same, small enough for a model. */
  readonly small: { readonly data: string; readonly mimeType: string };
}

export async function takePicture(options: {
  readonly tab: Tab;
  readonly ctx: CallContext;
  readonly fullPage?: boolean | undefined;
  readonly element?: Locator | undefined;
  readonly format?: "png" | "jpeg" | undefined;
}): Promise<Picture> {
  const { tab, ctx, fullPage = false, element, format = "png" } = options;
  const { page } = tab;
  const shot = {
    type: format,
    timeout: browserSettings(ctx).timeoutMs,
    scale: "css",
    animations: "disabled",
    signal: ctx.signal,
  } as const;
  const size = page.viewportSize() ?? { width: 1280, height: 800 };
  const pageHeight = fullPage ? await heightOf(tab) : size.height;
  const cut = pageHeight > MAX_HEIGHT;
  const clip = { x: 0, y: 0, width: size.width, height: Math.min(pageHeight, MAX_HEIGHT) };
  const bytes =
    element === undefined
      ? await page.screenshot({ ...shot, fullPage, ...(cut && { clip }) })
      : await element.screenshot(shot);
  const { width, height } = sizeOf(bytes) ?? clip;
  const mimeType = format === "png" ? "image/png" : "image/jpeg";
  const fits = Math.max(width, height) <= MODEL_EDGE && bytes.length <= MODEL_BYTES;
  const box = element === undefined ? clip : ((await element.boundingBox()) ?? clip);
  const small = fits
    ? { data: bytes.toString("base64"), mimeType }
    : { data: await scaledDown({ tab, box, fullPage }), mimeType: "image/jpeg" };
  return { bytes, width, height, mimeType, cut, small };
}

async function heightOf({ page }: Tab): Promise<number> {
  const height: unknown = await page.evaluate(
    "Math.max(document.documentElement.scrollHeight, document.body?.scrollHeight ?? 0)",
  );
  return typeof height === "number" ? Math.ceil(height) : MAX_HEIGHT;
}

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Drawn smaller by the browser itself; there may be no library here that could do it. */
async function scaledDown({
  tab,
  box,
  fullPage,
}: {
  tab: Tab;
  box: Box;
  fullPage: boolean;
}): Promise<string> {
  const { page } = tab;
  const scroll: unknown = fullPage ? [0, 0] : await page.evaluate("[scrollX, scrollY]");
  const [left, top] = Array.isArray(scroll) ? scroll.map(Number) : [0, 0];
  const session = await page.context().newCDPSession(page);
  try {
    const { data } = await session.send("Page.captureScreenshot", {
      format: "jpeg",
      quality: MODEL_QUALITY,
      captureBeyondViewport: true,
      clip: {
        ...box,
        x: box.x + (left ?? 0),
        y: box.y + (top ?? 0),
        scale: Math.min(1, MODEL_EDGE / Math.max(box.width, box.height)),
      },
    });
    return data;
  } finally {
    await session.detach().catch(() => undefined);
  }
}

/** As the file itself says. */
export function sizeOf(bytes: Buffer): { readonly width: number; readonly height: number } | undefined {
  if (bytes.length > 24 && bytes.readUInt32BE(0) === 0x89504e47)
    return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
  // JPEG: segments up to the one that begins a frame.
  for (let at = 2; at + 9 < bytes.length && bytes[at] === 0xff; ) {
    const marker = bytes[at + 1] ?? 0;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}
