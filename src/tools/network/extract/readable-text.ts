import { ToolError } from "../../../tool/errors.js";

const MAX_PDF_PAGES = 2_000;

/** Text that no reader sees was not written for readers. */
const HIDDEN =
  '[hidden], [aria-hidden="true"], template, noscript, [style*="display:none" i], [style*="display: none" i], ' +
  '[style*="visibility:hidden" i], [style*="visibility: hidden" i], [style*="font-size:0" i], [style*="opacity:0;" i]';

export interface ReadableText {
  readonly title?: string | undefined;
  readonly author?: string | undefined;
  readonly published?: string | undefined;
  readonly markdown: string;
}

/** What a person would read of a document, as Markdown. */
export async function readableText(document: {
  readonly bytes: Buffer;
  readonly type: string;
  readonly url: string;
}): Promise<ReadableText> {
  const { bytes, type, url } = document;
  const mime = (type.split(";")[0] ?? "").trim().toLowerCase();
  if (mime === "application/pdf" || bytes.subarray(0, 5).toString("latin1") === "%PDF-") return ofPdf(bytes);
  const text = decoded(bytes, type);
  if (mime.includes("html") || (mime === "" && /^\s*<(?:!doctype html|html)/i.test(text)))
    return ofPage(text, url);
  if (mime.includes("json")) return { markdown: `\`\`\`json\n${pretty(text)}\n\`\`\`` };
  if (mime.startsWith("text/") || mime.endsWith("xml") || mime === "" || mime === "application/javascript")
    return { markdown: text };
  throw new ToolError(`${url} is ${mime}, which has no text to read.`, {
    hint: "Download it with http_request, or look at a picture with vision_analyze.",
  });
}

async function ofPage(html: string, url: string): Promise<ReadableText> {
  const [{ parseHTML }, { Defuddle }] = await Promise.all([import("linkedom"), import("defuddle/node")]);
  const { document } = parseHTML(html);
  for (const element of [...document.querySelectorAll(HIDDEN)]) element.remove();
  // Its helpers for single sites would fetch from elsewhere by themselves.
  const found = await Defuddle(document, url, { markdown: true, useAsync: false });
  const { title, author, published } = found;
  return {
    title: title || undefined,
    author: author || undefined,
    published: published || undefined,
    markdown: found.content.trim(),
  };
}

async function ofPdf(bytes: Buffer): Promise<ReadableText> {
  const { extractText, getDocumentProxy, getMeta } = await import("unpdf");
  const document = await getDocumentProxy(new Uint8Array(bytes));
  try {
    if (document.numPages > MAX_PDF_PAGES) {
      throw new ToolError(
        `The PDF has ${document.numPages} pages; at most ${MAX_PDF_PAGES} are read at once.`,
        {
          hint: "Download it with http_request and read a range of pages with pdf_extract.",
        },
      );
    }
    const [{ text }, { info }] = await Promise.all([extractText(document), getMeta(document)]);
    const title: unknown = info.Title;
    return {
      title: typeof title === "string" && title !== "" ? title : undefined,
      markdown: text.map((page, index) => `## Page ${index + 1}\n\n${page.trim()}`).join("\n\n"),
    };
  } finally {
    await document.destroy();
  }
}

function decoded(bytes: Buffer, type: string): string {
  const named =
    /charset\s*=\s*"?([\w.:-]+)/i.exec(type)?.[1] ??
    /<meta[^>]+charset\s*=\s*["']?([\w.:-]+)/i.exec(bytes.subarray(0, 2_048).toString("latin1"))?.[1];
  try {
    return new TextDecoder(named ?? "utf-8").decode(bytes);
  } catch {
    return bytes.toString("utf8");
  }
}

function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}
