import type { getDocumentProxy } from "unpdf";
import { messageOf } from "../../../base/errno.js";
import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import { findMediaFile } from "../media-files.js";
import { bringNewerLanguage } from "./newer-language.js";

export type PdfDocument = Awaited<ReturnType<typeof getDocumentProxy>>;
export type PdfPage = Awaited<ReturnType<PdfDocument["getPage"]>>;

/** Up to here a file is read at once; of larger ones only the parts that are needed. */
const WHOLE_BYTES = 16 * 1024 * 1024;
const MAX_FILE_BYTES = 2 * 1024 * 1024 * 1024 - 1;
const MAX_DOWNLOAD_BYTES = 100 * 1024 * 1024;
const DOWNLOAD_MS = 120_000;
const PART_BYTES = 64 * 1024;
/** A file that is read in parts is opened anew when this much of it is held. */
const HELD_BYTES = 24 * 1024 * 1024;
/** Pixels of one picture; beyond, it is left out. */
const MAX_IMAGE_PIXELS = 60_000_000;

interface PdfWanted {
  readonly source: { readonly path: string } | { readonly url: string };
  readonly password?: string | undefined;
  readonly ctx: CallContext;
}

/** Opens a document for one piece of work and frees it afterwards. */
export async function withDocument<T>(wanted: PdfWanted, work: (pdf: OpenPdf) => Promise<T>): Promise<T> {
  const pdf = new OpenPdf(wanted);
  try {
    await pdf.open();
    return await work(pdf);
  } finally {
    await pdf.close();
  }
}

/**
 * A document that is open. The library keeps every part of the file that it ever asked for, pictures that nobody looks
 * at among them, so a large file is closed and opened again now and then: memory stays the same however large it is.
 */
export class OpenPdf {
  readonly #wanted: PdfWanted;
  #document: PdfDocument | undefined;
  #file: { readonly real: string; readonly size: number } | undefined;
  /** Bytes of the file that the library holds, and how many of them it took to open it. */
  #held = 0;
  #heldAtOpening = 0;

  constructor(wanted: PdfWanted) {
    this.#wanted = wanted;
  }

  get document(): PdfDocument {
    if (this.#document === undefined) throw new Error("the document is not open");
    return this.#document;
  }

  /** How many pages may be read at once without holding much of the file. */
  pagesAtOnce(most: number): number {
    if (this.#file === undefined) return most;
    const pageBytes = this.#file.size / Math.max(1, this.document.numPages);
    return Math.min(most, Math.max(1, Math.floor(HELD_BYTES / 4 / pageBytes)));
  }

  async open(): Promise<void> {
    const { source } = this.#wanted;
    try {
      this.#document = await this.#opened();
      this.#heldAtOpening = this.#held;
    } catch (error) {
      throw unreadable("url" in source ? source.url : source.path, error);
    }
  }

  /** Pages of before are of no use afterwards. A damaged file, of which all is read to open it, stays open. */
  async renewWhenFull(): Promise<void> {
    if (this.#held - this.#heldAtOpening < HELD_BYTES || this.#heldAtOpening >= HELD_BYTES) return;
    await this.close();
    await this.open();
  }

  async close(): Promise<void> {
    const document = this.#document;
    this.#document = undefined;
    this.#held = 0;
    await document?.destroy();
  }

  async #opened(): Promise<PdfDocument> {
    const { source, password, ctx } = this.#wanted;
    bringNewerLanguage();
    const { getDocumentProxy, getResolvedPDFJS } = await import("unpdf");
    const options = {
      password,
      verbosity: 0,
      maxImageSize: MAX_IMAGE_PIXELS,
      isOffscreenCanvasSupported: false,
      isImageDecoderSupported: false,
      disableAutoFetch: true,
      disableStream: true,
      stopAtErrors: false,
    };
    if ("url" in source) return getDocumentProxy(await downloaded(source.url, ctx), options);
    const { real, size } = await findMediaFile(source.path, { ctx, maxBytes: MAX_FILE_BYTES });
    const { files } = ctx.environment;
    if (size <= WHOLE_BYTES)
      return getDocumentProxy(ownCopy(await files.read(real, { real: true })), options);
    this.#file = { real, size };
    const { PDFDataRangeTransport } = await getResolvedPDFJS();
    const took = (bytes: number) => {
      this.#held += bytes;
    };
    class FileParts extends PDFDataRangeTransport {
      override requestDataRange(begin: number, end: number): void {
        took(end - begin);
        files.read(real, { start: begin, end, real: true }).then(
          (bytes) => this.onDataRange(begin, ownCopy(bytes)),
          () => this.abort(),
        );
      }
    }
    return getDocumentProxy(undefined, {
      ...options,
      range: new FileParts(size, null),
      rangeChunkSize: PART_BYTES,
    });
  }
}

/** The library takes the memory for itself and refuses Node's own kind, whose memory may be shared. */
function ownCopy(bytes: Uint8Array): Uint8Array {
  const alone = bytes.byteOffset === 0 && bytes.byteLength === bytes.buffer.byteLength;
  return alone ? new Uint8Array(bytes.buffer) : new Uint8Array(bytes);
}

async function downloaded(url: string, ctx: CallContext): Promise<Uint8Array> {
  const response = await ctx.fetch({
    url,
    headers: { accept: "application/pdf, */*;q=0.5" },
    timeoutMs: DOWNLOAD_MS,
    maxBytes: MAX_DOWNLOAD_BYTES,
    hints: { tooLarge: "Download it in the terminal and give its path." },
  });
  const bytes = await response.bytes();
  if (!response.ok) {
    throw new ToolError(`${url} answered ${response.status} ${response.statusText}`.trim().concat("."), {
      hint: "Check the address.",
    });
  }
  return ownCopy(bytes);
}

function unreadable(name: string, error: unknown): unknown {
  if (ToolError.isInstance(error)) return error;
  const kind = error instanceof Error ? error.name : "";
  if (kind === "PasswordException") {
    return new ToolError(`${name} is protected by a password, and the right one was not given.`, {
      code: "invalid_arguments",
      hint: "Ask the person for it and give it as password.",
      cause: error,
    });
  }
  return new ToolError(`${name} is not a readable PDF: ${messageOf(error)}.`, {
    hint: "The file may be damaged or of another type; `file` in the terminal tells.",
    cause: error,
  });
}
