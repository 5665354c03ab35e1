import { dirname, join } from "node:path";
import type sharpModule from "sharp";
import type Tesseract from "tesseract.js";
import { messageOf } from "../../base/errno.js";
import { ToolError } from "../../tool/errors.js";
import type { CallContext } from "../../tool/tool.js";

/** More pixels make it slower and no better. */
const LONG_EDGE = 4_000;
/** Letters of small pictures are too few pixels high to be told apart. */
const SMALL_EDGE = 1_000;
export const MAX_OCR_PIXELS = 100_000_000;

export interface ReadPicture {
  readonly text: string;
  /** 0 to 100. */
  readonly confidence: number;
}

/** What can be read in pictures, here on this machine; a thread of its own, ended by `close`. */
export class PictureReader {
  readonly #sharp: typeof sharpModule;
  readonly #worker: Tesseract.Worker;
  readonly #signal: AbortSignal;

  private constructor(sharp: typeof sharpModule, worker: Tesseract.Worker, signal: AbortSignal) {
    this.#sharp = sharp;
    this.#worker = worker;
    this.#signal = signal;
  }

  static async open(ctx: CallContext): Promise<PictureReader> {
    const [{ default: sharp }, { default: tesseract }, { default: language }] = await Promise.all([
      ctx.load<{ default: typeof sharpModule }>("sharp"),
      ctx.load<{ default: typeof Tesseract }>("tesseract.js"),
      ctx.load<{ default: { readonly langPath: string } }>("@tesseract.js-data/eng"),
    ]);
    const worker = await tesseract.createWorker("eng", 1, {
      // The smaller of its two models is as good for printed text and loads in a third of the time.
      langPath: join(dirname(language.langPath), "4.0.0_best_int"),
      gzip: true,
      cacheMethod: "none",
      // Without one, it throws where nobody can catch it.
      errorHandler: () => undefined,
    });
    return new PictureReader(sharp, worker, ctx.signal);
  }

  /** `picture`: a file in a format of the library, or plain pixels. */
  async read(
    picture: Buffer,
    raw?: { width: number; height: number; channels: 1 | 2 | 3 | 4 },
  ): Promise<ReadPicture> {
    const png = await this.#prepared(picture, raw);
    const { data } = await this.#untilAborted(this.#worker.recognize(png));
    return { text: data.text.trim(), confidence: Math.round(data.confidence) };
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  async #prepared(
    picture: Buffer,
    raw: { width: number; height: number; channels: 1 | 2 | 3 | 4 } | undefined,
  ) {
    const image = this.#sharp(picture, {
      limitInputPixels: MAX_OCR_PIXELS,
      ...(raw !== undefined && { raw }),
    });
    try {
      const { autoOrient } = await image.metadata();
      const long = Math.max(autoOrient.width, autoOrient.height);
      const wanted =
        long > LONG_EDGE ? LONG_EDGE : long < SMALL_EDGE ? Math.min(long * 2, SMALL_EDGE * 2) : long;
      return await image
        .autoOrient()
        .flatten({ background: "#ffffff" })
        .resize({ width: wanted, height: wanted, fit: "inside", kernel: "lanczos3" })
        .grayscale()
        // Without one it supposes 25 dots per inch and complains.
        .withMetadata({ density: 200 })
        .png({ compressionLevel: 1 })
        .toBuffer();
    } catch (error) {
      throw new ToolError(`This is not a picture that can be read: ${messageOf(error)}.`, {
        hint: "PNG, JPEG, WebP, AVIF, GIF, TIFF and SVG with up to 100 megapixels can be read.",
        cause: error,
      });
    }
  }

  /** The thread is ended; what it was asked would never be answered. */
  async #untilAborted<T>(work: Promise<T>): Promise<T> {
    const signal = this.#signal;
    signal.throwIfAborted();
    let stop: () => void = () => undefined;
    const aborted = new Promise<never>((_resolve, reject) => {
      stop = () => {
        void this.#worker.terminate();
        reject(signal.reason);
      };
      signal.addEventListener("abort", stop, { once: true });
    });
    try {
      return await Promise.race([work, aborted]);
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }
}
