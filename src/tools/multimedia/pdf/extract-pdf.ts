import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import type sharpModule from "sharp";
import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import { writeMediaFile } from "../media-files.js";
import { PictureReader } from "../ocr.js";
import { asMarkdown, laidOut, linesOf, type Table, type TextPiece, tablesIn } from "./layout.js";
import { type OpenPdf, type PdfDocument, type PdfPage, withDocument } from "./open-document.js";
import { type PagePicture, picturesOf, rawPicture, scanOf } from "./page-pictures.js";
import { pagesIn, rangeText } from "./page-range.js";

export type PdfMode = "text" | "layout" | "markdown" | "metadata";

export interface PdfRequest {
  readonly source: { readonly path: string } | { readonly url: string };
  readonly pages?: string | undefined;
  readonly mode: PdfMode;
  /** Whether pages without text are read as pictures. */
  readonly ocr: "auto" | "never" | "always";
  /** Where the pictures of the pages go. */
  readonly imagesFolder?: string | undefined;
  readonly password?: string | undefined;
  readonly ctx: CallContext;
}

export interface ExtractedPage {
  readonly n: number;
  readonly text: string;
  readonly tables?: readonly Table[] | undefined;
  /** Read in a picture of the page, and how sure that is (0 to 100). */
  readonly ocr_confidence?: number | undefined;
}

export interface ExtractedImage {
  readonly page: number;
  readonly path: string;
  readonly width: number;
  readonly height: number;
}

export interface ExtractedPdf {
  readonly pages: readonly ExtractedPage[];
  readonly total_pages: number;
  readonly metadata: Readonly<Record<string, string>>;
  readonly images?: readonly ExtractedImage[] | undefined;
  /** What was left out, and how to get it. */
  readonly notes?: readonly string[] | undefined;
}

const AT_ONCE = 16;
/** More text than this nobody reads in one answer. */
const MAX_CHARS = 8_000_000;
const MAX_OCR_PAGES = 60;
const MAX_IMAGES = 300;

export function extractPdf(request: PdfRequest): Promise<ExtractedPdf> {
  return withDocument(request, async (pdf) => {
    const metadata = await metadataOf(pdf.document);
    const total_pages = pdf.document.numPages;
    if (request.mode === "metadata") return { pages: [], total_pages, metadata };
    const extraction = new Extraction(pdf, request);
    try {
      await extraction.run(pagesIn(request.pages, total_pages));
    } finally {
      await extraction.close();
    }
    return { pages: extraction.pages, total_pages, metadata, ...extraction.extras() };
  });
}

class Extraction {
  readonly pages: ExtractedPage[] = [];
  readonly #images: ExtractedImage[] = [];
  readonly #notes: string[] = [];
  readonly #saved = new Set<string>();
  readonly #unread: number[] = [];
  readonly #pdf: OpenPdf;
  readonly #request: PdfRequest;
  #reader: PictureReader | undefined;
  #readerMissing: string | undefined;
  #readPages = 0;
  #chars = 0;
  #imagesLeft = 0;

  constructor(pdf: OpenPdf, request: PdfRequest) {
    this.#pdf = pdf;
    this.#request = request;
  }

  async run(wanted: readonly number[]): Promise<void> {
    const { ctx } = this.#request;
    const atOnce = this.#pdf.pagesAtOnce(AT_ONCE);
    for (let at = 0; at < wanted.length; at += atOnce) {
      ctx.signal.throwIfAborted();
      await this.#pdf.renewWhenFull();
      const numbers = wanted.slice(at, at + atOnce);
      for (const page of await Promise.all(numbers.map((n) => this.#page(n)))) {
        this.pages.push(await this.#finished(page));
        page.cleanUp();
      }
      if (this.#chars > MAX_CHARS && at + atOnce < wanted.length) {
        const rest = rangeText(wanted.slice(at + atOnce));
        this.#notes.push(`The text is too long for one answer: ask for pages "${rest}" separately.`);
        break;
      }
      if (wanted.length > atOnce)
        ctx.progress({
          message: `page ${numbers.at(-1)}`,
          fraction: Math.min(1, (at + atOnce) / wanted.length),
        });
      // Reading keeps the thread busy; whoever wants to interrupt it must be heard.
      await turn();
    }
  }

  extras(): Pick<ExtractedPdf, "images" | "notes"> {
    if (this.#unread.length > 0) {
      const pages = rangeText(this.#unread);
      this.#notes.push(
        this.#readerMissing ??
          `Pages ${pages} are pictures and were not read: at most ${MAX_OCR_PAGES} are in one call. Ask for pages "${pages}".`,
      );
    }
    if (this.#imagesLeft > 0)
      this.#notes.push(
        `${this.#imagesLeft} more pictures were not saved: at most ${MAX_IMAGES} are in one call.`,
      );
    return {
      ...(this.#request.imagesFolder !== undefined && { images: this.#images }),
      ...(this.#notes.length > 0 && { notes: this.#notes }),
    };
  }

  async close(): Promise<void> {
    await this.#reader?.close();
  }

  async #page(n: number) {
    const page = await this.#pdf.document.getPage(n);
    const { mode } = this.#request;
    const { items } = await page.getTextContent();
    const cleanUp = () => void page.cleanup();
    if (mode === "text") {
      let text = "";
      for (const item of items) if ("str" in item) text += item.hasEOL ? `${item.str}\n` : item.str;
      return { n, page, text, cleanUp };
    }
    const pieces: TextPiece[] = items.flatMap((item) => ("str" in item ? [pieceOf(item)] : []));
    const lines = linesOf(pieces);
    const tables = tablesIn(lines).map(({ rows }) => ({ rows }));
    return { n, page, text: mode === "layout" ? laidOut(lines) : asMarkdown(lines), tables, cleanUp };
  }

  async #finished(read: {
    readonly n: number;
    readonly page: PdfPage;
    readonly text: string;
    readonly tables?: readonly Table[];
  }): Promise<ExtractedPage> {
    const { n, page, text, tables } = read;
    const { ocr, imagesFolder } = this.#request;
    this.#chars += text.length;
    const scanned = ocr === "always" || (ocr === "auto" && text.trim() === "");
    const pictures = scanned || imagesFolder !== undefined ? await picturesOf(page) : [];
    if (imagesFolder !== undefined)
      for (const picture of pictures) await this.#save(picture, { n, imagesFolder });
    const found = scanned && pictures.length > 0 ? await this.#readScan(page, pictures) : undefined;
    if (found !== undefined) this.#chars += found.text.length;
    return {
      n,
      text: found === undefined || found.text.length < text.trim().length ? text : found.text,
      ...(tables !== undefined && tables.length > 0 && { tables }),
      ...(found !== undefined && { ocr_confidence: found.confidence }),
    };
  }

  async #readScan(page: PdfPage, pictures: readonly PagePicture[]) {
    const { ctx } = this.#request;
    if (this.#readPages >= MAX_OCR_PAGES || this.#readerMissing !== undefined) {
      this.#unread.push(page.pageNumber);
      return undefined;
    }
    try {
      this.#reader ??= await PictureReader.open(ctx);
    } catch (error) {
      if (!ToolError.isInstance(error) || error.code !== "unavailable") throw error;
      this.#readerMissing =
        `Pages that are pictures were not read: ${error.message} ${error.hint ?? ""}`.trim();
      this.#unread.push(page.pageNumber);
      return undefined;
    }
    this.#readPages += 1;
    ctx.progress({ message: `reading the picture of page ${page.pageNumber}` });
    const scan = await scanOf(page, { pictures, sharp: await sharpOf(ctx) });
    return scan === undefined ? undefined : this.#reader.read(scan);
  }

  async #save(picture: PagePicture, { n, imagesFolder }: { n: number; imagesFolder: string }): Promise<void> {
    if (this.#saved.has(picture.key)) return;
    this.#saved.add(picture.key);
    if (this.#images.length >= MAX_IMAGES) {
      this.#imagesLeft += 1;
      return;
    }
    const { ctx } = this.#request;
    const number = this.#images.filter(({ page }) => page === n).length + 1;
    const bytes = await rawPicture(picture, await sharpOf(ctx))
      .png()
      .toBuffer();
    const path = await writeMediaFile(join(imagesFolder, `page-${n}-${number}.png`), { bytes, ctx });
    this.#images.push({ page: n, path, width: picture.width, height: picture.height });
  }
}

async function sharpOf(ctx: CallContext): Promise<typeof sharpModule> {
  return (await ctx.load<{ default: typeof sharpModule }>("sharp")).default;
}

function pieceOf(item: {
  readonly str: string;
  readonly width: number;
  readonly transform: readonly unknown[];
}): TextPiece {
  const [, , c = 0, d = 0, x = 0, y = 0] = item.transform.map(Number);
  return { str: item.str, x, y, width: item.width, fontSize: Math.hypot(c, d) };
}

const METADATA: Readonly<Record<string, string>> = {
  Title: "title",
  Author: "author",
  Subject: "subject",
  Keywords: "keywords",
  Creator: "creator",
  Producer: "producer",
  CreationDate: "created",
  ModDate: "modified",
  PDFFormatVersion: "pdf_version",
};

async function metadataOf(document: PdfDocument): Promise<Readonly<Record<string, string>>> {
  const { getMeta } = await import("unpdf");
  const { info } = await getMeta(document, { parseDates: true });
  const found: Record<string, string> = {};
  for (const [theirs, ours] of Object.entries(METADATA)) {
    const value: unknown = info[theirs];
    if (value instanceof Date && !Number.isNaN(value.getTime())) found[ours] = value.toISOString();
    else if (typeof value === "string" && value.trim() !== "") found[ours] = value.slice(0, 1_000);
  }
  return found;
}
