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
const PART_BYTES = 512 * 1024;
/** Pixels of one picture; beyond, it is left out. */
const MAX_IMAGE_PIXELS = 60_000_000;

/** Opens a document for one piece of work and frees it afterwards. */
export async function withDocument<T>(
  request: {
    readonly source: { readonly path: string } | { readonly url: string };
    readonly password?: string | undefined;
    readonly ctx: CallContext;
  },
  work: (document: PdfDocument) => Promise<T>,
): Promise<T> {
  const { source, password, ctx } = request;
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
  let document: PdfDocument;
  const open = async (): Promise<PdfDocument> => {
    if ("url" in source) return getDocumentProxy(await downloaded(source.url, ctx), options);
    const { real, size } = await findMediaFile(source.path, { ctx, maxBytes: MAX_FILE_BYTES });
    const { files } = ctx.environment;
    // The library takes the memory for itself, so it gets its own copy.
    if (size <= WHOLE_BYTES)
      return getDocumentProxy(Uint8Array.from(await files.read(real, { real: true })), options);
    const { PDFDataRangeTransport } = await getResolvedPDFJS();
    class FileParts extends PDFDataRangeTransport {
      override requestDataRange(begin: number, end: number): void {
        files.read(real, { start: begin, end, real: true }).then(
          (bytes) => this.onDataRange(begin, Uint8Array.from(bytes)),
          () => this.abort(),
        );
      }
    }
    return getDocumentProxy(undefined, {
      ...options,
      range: new FileParts(size, null),
      rangeChunkSize: PART_BYTES,
    });
  };
  const name = "url" in source ? source.url : source.path;
  try {
    document = await open();
  } catch (error) {
    throw unreadable(name, error);
  }
  try {
    return await work(document);
  } finally {
    await document.destroy();
  }
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
  return Uint8Array.from(bytes);
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
