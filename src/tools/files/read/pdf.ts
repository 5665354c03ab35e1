import { ToolError } from "../../../tool/errors.js";

const MAX_PAGES = 2_000;
const MAX_TEXT_CHARS = 32 * 1024 * 1024;
/** Operations of a page that paint a picture, by PDF.js number. */
const PAINTS_IMAGE = new Set([82, 83, 84, 85, 86, 87, 88, 90]);

interface TextItem {
  readonly str?: string;
  readonly hasEOL?: boolean;
}

/** The text of a PDF, page by page. A page that is only a picture says so instead of being silently empty. */
export async function extractPdf(bytes: Uint8Array, signal: AbortSignal): Promise<string> {
  const { getDocumentProxy } = await import("unpdf");
  try {
    // A copy: the reader takes the memory it is given away from its owner. No words of its own on the console.
    const document = await getDocumentProxy(Uint8Array.from(bytes), { verbosity: 0, isEvalSupported: false });
    try {
      const pages: string[] = [];
      let length = 0;
      const shown = Math.min(document.numPages, MAX_PAGES);
      for (let number = 1; number <= shown; number++) {
        signal.throwIfAborted();
        const text = await pageText(await document.getPage(number));
        length += text.length;
        if (length > MAX_TEXT_CHARS) throw new Error("it holds more text than can be shown");
        pages.push(`# page ${number} of ${document.numPages}\n${text}\n`);
      }
      if (shown < document.numPages)
        pages.push(`# pages ${shown + 1} to ${document.numPages} are left out\n`);
      return pages.join("\n");
    } finally {
      await document.destroy();
    }
  } catch (error) {
    signal.throwIfAborted();
    throw unreadable(error);
  }
}

interface Page {
  getTextContent(): Promise<{ readonly items: readonly object[] }>;
  getOperatorList(): Promise<{ readonly fnArray: readonly number[] }>;
  cleanup(): void;
}

async function pageText(page: Page): Promise<string> {
  const { items } = await page.getTextContent();
  const text = items
    .map((item: TextItem) => `${item.str ?? ""}${item.hasEOL === true ? "\n" : ""}`)
    .join("")
    .replace(/[ \t]+$/gm, "")
    .trim();
  if (text !== "") {
    page.cleanup();
    return text;
  }
  const operations = await page.getOperatorList().catch(() => ({ fnArray: [] as readonly number[] }));
  page.cleanup();
  return operations.fnArray.some((operation) => PAINTS_IMAGE.has(operation))
    ? "[no text: this page is a picture, probably a scan; it needs text recognition (OCR)]"
    : "[this page is empty]";
}

function unreadable(error: unknown): ToolError {
  const name = error instanceof Error ? error.name : "";
  const why = error instanceof Error ? error.message.replace(/\.$/, "") : String(error);
  if (name === "PasswordException") {
    return new ToolError("This PDF document is protected with a password.", {
      hint: "Ask the person for a copy without one, or decrypt it in the terminal (qpdf --decrypt).",
      cause: error,
    });
  }
  return new ToolError(`This is not a readable PDF document: ${why}.`, {
    hint: "The file may be damaged or of another type; inspect it in the terminal (pdfinfo, file).",
    cause: error,
  });
}
