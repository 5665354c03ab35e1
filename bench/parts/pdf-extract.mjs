// The text of a PDF of 500 pages: pdf_extract against the library it uses (unpdf, with pdf.js inside), both from disk.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { takeTurns, withSubjects } from "../coordinate.mjs";
import { ratios, summary } from "../statistics.mjs";

const PAGES = 500;
const LINES = 45;

export async function measurePdfExtract({ dist, effort }) {
  const folder = mkdtempSync(join(tmpdir(), "hermes-bench-"));
  try {
    const file = join(folder, "long.pdf");
    writeFileSync(file, longPdf());
    return await withSubjects(async ({ start }) => {
      const bare = await start("pdf-extract", { file, pages: PAGES });
      const tool = await start("pdf-extract", { file, pages: PAGES, dist });
      const samples = await takeTurns(
        {
          unpdf: { subject: bare, operation: "text" },
          pdf_extract: { subject: tool, operation: "text" },
        },
        effort,
      );
      return {
        milliseconds: Object.fromEntries(
          Object.entries(samples).map(([id, values]) => [id, summary(values.map((value) => value / 1e6))]),
        ),
        ratios: ratios(samples, "pdf_extract", ["unpdf"]),
      };
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Pages full of lines, compressed as programs write them. */
function longPdf() {
  const parts = [];
  const offsets = [0];
  let at = 0;
  const put = (data) => {
    const bytes = Buffer.from(data, "latin1");
    parts.push(bytes);
    at += bytes.length;
  };
  const object = (number, head, stream) => {
    offsets[number] = at;
    put(`${number} 0 obj ${head}\n`);
    if (stream !== undefined) put(`stream\n${stream.toString("latin1")}\nendstream\n`);
    put("endobj\n");
  };
  put("%PDF-1.4\n");
  object(1, "<< /Type /Catalog /Pages 2 0 R >>");
  const kids = Array.from({ length: PAGES }, (_, page) => `${4 + page * 2} 0 R`);
  object(2, `<< /Type /Pages /Kids [${kids.join(" ")}] /Count ${PAGES} >>`);
  object(3, "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>");
  for (let page = 1; page <= PAGES; page += 1) {
    const lines = Array.from(
      { length: LINES },
      (_, line) =>
        `(Page ${page}, line ${line + 1}: the quick brown fox jumps over the lazy dog.) Tj 0 -16 Td`,
    );
    const content = deflateSync(Buffer.from(`BT /F 12 Tf 40 800 Td ${lines.join("\n")} ET`, "latin1"));
    const number = 2 + page * 2;
    object(
      number,
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents ${number + 1} 0 R /Resources << /Font << /F 3 0 R >> >> >>`,
    );
    object(number + 1, `<< /Length ${content.length} /Filter /FlateDecode >>`, content);
  }
  const table = at;
  const rows = offsets.slice(1).map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`);
  put(`xref\n0 ${offsets.length}\n0000000000 65535 f \n${rows.join("")}`);
  put(`trailer << /Size ${offsets.length} /Root 1 0 R >>\nstartxref\n${table}\n%%EOF\n`);
  return Buffer.concat(parts);
}
