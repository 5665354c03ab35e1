import { randomBytes } from "node:crypto";
import { open } from "node:fs/promises";
import { degrees, PDFDocument, type PDFPage, StandardFonts } from "pdf-lib";
import sharp from "sharp";

export interface PageText {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly size?: number;
}

/** A PDF with these texts, page by page. */
export async function pdfOf(
  pages: readonly (readonly PageText[])[],
  change: (document: PDFDocument, pages: readonly PDFPage[]) => void | Promise<void> = () => undefined,
): Promise<Buffer> {
  const document = await PDFDocument.create();
  const font = await document.embedFont(StandardFonts.Helvetica);
  const made = pages.map((texts) => {
    const page = document.addPage([595, 842]);
    for (const { text, x, y, size = 12 } of texts) page.drawText(text, { x, y, size, font });
    return page;
  });
  await change(document, made);
  return Buffer.from(await document.save());
}

/** Black letters on white, as a scanner would see them. */
export function scanned(lines: readonly string[], { width = 1240, height = 1754 } = {}): Promise<Buffer> {
  const texts = lines.map(
    (line, at) => `<text x="120" y="${200 + at * 80}" font-size="44" font-family="sans-serif">${line}</text>`,
  );
  return sharp(
    Buffer.from(
      `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="100%" height="100%" fill="white"/>${texts.join("")}</svg>`,
    ),
  )
    .flatten({ background: "#ffffff" })
    .jpeg({ quality: 90 })
    .toBuffer();
}

/** A page that is one picture, cut into strips, in a document that turns it. */
export async function scannedPdf(lines: readonly string[]): Promise<Buffer> {
  const picture = await scanned(lines);
  return pdfOf([[], []], async (document, [whole, turned]) => {
    whole?.drawImage(await document.embedJpg(picture), { x: 0, y: 0, width: 595, height: 842 });
    // The page lies on its side and says that it is to be turned by 90 degrees, its picture is in two strips.
    turned?.setSize(842, 595);
    turned?.setRotation(degrees(90));
    const lying = await sharp(picture).rotate(270).toBuffer();
    const half = async (left: number) =>
      document.embedJpg(
        await sharp(lying).extract({ left, top: 0, width: 877, height: 1240 }).jpeg().toBuffer(),
      );
    turned?.drawImage(await half(0), { x: 0, y: 0, width: 421, height: 595 });
    turned?.drawImage(await half(877), { x: 421, y: 0, width: 421, height: 595 });
  });
}

/** A file of pages with one line of text and one uncompressed picture each, written without holding it. */
export async function writeLargePdf(
  path: string,
  { pages, pictureBytes }: { pages: number; pictureBytes: number },
): Promise<void> {
  const file = await open(path, "w");
  const offsets: number[] = [];
  let at = 0;
  const put = async (data: string | Buffer) => {
    const bytes = typeof data === "string" ? Buffer.from(data, "latin1") : data;
    await file.write(bytes);
    at += bytes.length;
  };
  const object = async (number: number, head: string, stream?: Buffer) => {
    offsets[number] = at;
    await put(`${number} 0 obj ${head}\n`);
    if (stream !== undefined) {
      await put("stream\n");
      await put(stream);
      await put("\nendstream\n");
    }
    await put("endobj\n");
  };
  try {
    await put("%PDF-1.4\n");
    const kids = Array.from({ length: pages }, (_, page) => `${3 + page * 3} 0 R`);
    await object(1, "<< /Type /Catalog /Pages 2 0 R >>");
    await object(2, `<< /Type /Pages /Kids [${kids.join(" ")}] /Count ${pages} >>`);
    const side = Math.floor(Math.sqrt(pictureBytes));
    const pixels = randomBytes(side * side);
    for (let page = 0; page < pages; page++) {
      const first = 3 + page * 3;
      const content = Buffer.from(
        `BT /F 12 Tf 40 700 Td (Large page ${page + 1}) Tj ET q 100 0 0 100 40 40 cm /I Do Q`,
      );
      const resources = `<< /Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> /XObject << /I ${first + 2} 0 R >> >>`;
      await object(
        first,
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents ${first + 1} 0 R /Resources ${resources} >>`,
      );
      await object(first + 1, `<< /Length ${content.length} >>`, content);
      await object(
        first + 2,
        `<< /Type /XObject /Subtype /Image /Width ${side} /Height ${side} /ColorSpace /DeviceGray /BitsPerComponent 8 /Length ${pixels.length} >>`,
        pixels,
      );
    }
    const table = at;
    const rows = offsets.slice(1).map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`);
    await put(`xref\n0 ${offsets.length}\n0000000000 65535 f \n${rows.join("")}`);
    await put(`trailer << /Size ${offsets.length} /Root 1 0 R >>\nstartxref\n${table}\n%%EOF\n`);
  } finally {
    await file.close();
  }
}
