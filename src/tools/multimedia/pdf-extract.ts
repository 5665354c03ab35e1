import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import type { Effect } from "../../tool/effects.js";
import { ToolError } from "../../tool/errors.js";
import { mark } from "../../tool/marked-text.js";
import { absolutePath } from "../files/paths.js";
import type { ExtractedPdf } from "./pdf/extract-pdf.js";

export default defineTool({
  name: "pdf_extract",
  toolset: "multimedia",
  emoji: "📑",
  description:
    "Read a PDF (path or url): plain text, layout with tables, markdown, or metadata only. Scanned pages are read by OCR.",
  parameters: {
    type: "object",
    properties: {
      path: { type: "string" },
      url: { type: "string", format: "uri" },
      pages: { type: "string", description: '"2-3, 7"; all unless set' },
      mode: { type: "string", enum: ["text", "layout", "markdown", "metadata"], default: "text" },
      ocr: { type: "string", enum: ["auto", "never", "always"], default: "auto" },
      images_folder: { type: "string", description: "Save the pictures of the pages there" },
      password: { type: "string" },
    },
    additionalProperties: false,
  },
  permissions: ["file:read", "file:write", "network:fetch"],
  secretsIn: ({ password }) => (password === undefined ? {} : { password }),
  effects: ({ path, url, images_folder }, scope): readonly Effect[] => [
    ...(path === undefined
      ? []
      : [{ action: "file:read" as const, resource: absolutePath(path, scope), mode: "read" as const }]),
    ...(url === undefined
      ? []
      : [{ action: "network:fetch" as const, resource: url, mode: "read" as const }]),
    ...(images_folder === undefined
      ? []
      : [
          {
            action: "file:write" as const,
            resource: absolutePath(images_folder, scope),
            mode: "write" as const,
            reversible: false,
          },
        ]),
  ],
  timeoutMs: 600_000,

  async handler(args, ctx): Promise<ExtractedPdf> {
    const { path, url, pages, mode, ocr, images_folder, password } = args;
    if ((path === undefined) === (url === undefined)) {
      throw new ToolError("Say which PDF: exactly one of path and url.", {
        code: "invalid_arguments",
        hint: 'For example {"path": "report.pdf", "pages": "2-3"}.',
      });
    }
    const { extractPdf } = await import("./pdf/extract-pdf.js");
    const source = path === undefined ? { url: url ?? "" } : { path };
    return extractPdf({ source, pages, mode, ocr, imagesFolder: images_folder, password, ctx });
  },

  untrustedSource: ({ url }) => url,

  present: (out) => ({
    model: [text(JSON.stringify(out))],
    human: [
      `${mark.strong(out.metadata.title ?? "PDF")}  ${mark.dim(`${out.total_pages} pages`)}`,
      ...(out.pages.length === 0
        ? Object.entries(out.metadata).map(([name, value]) => `${mark.dim(name)} ${value}`)
        : []),
      ...out.pages.map(({ n, text: found }) => `${mark.heading(`Page ${n}`)}\n${found.trim()}`),
      ...(out.images ?? []).map(
        ({ path, width, height }) => `${mark.path(path)}  ${mark.dim(`${width}×${height}`)}`,
      ),
      ...(out.notes ?? []).map((note) => mark.warning(note)),
    ].join("\n\n"),
  }),

  examples: [
    {
      title: "One page of a document",
      files: { "hello.pdf": examplePdf("Hello from a PDF") },
      arguments: { path: "hello.pdf", pages: "1" },
      result: { total_pages: 1, pages: [{ n: 1, text: "Hello from a PDF" }] },
    },
  ],
});

/** The least a PDF can be made of; readers rebuild the table of contents that is not there. */
function examplePdf(words: string): string {
  const content = `BT /F1 24 Tf 40 100 Td (${words}) Tj ET`;
  return [
    "%PDF-1.4",
    "1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj",
    "2 0 obj << /Type /Pages /Kids [3 0 R] /Count 1 >> endobj",
    "3 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R",
    "  /Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >> endobj",
    `4 0 obj << /Length ${content.length} >> stream`,
    content,
    "endstream endobj",
    "trailer << /Root 1 0 R >>",
    "%%EOF",
    "",
  ].join("\n");
}
