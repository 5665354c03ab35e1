import type { Entry } from "yauzl";
import { messageOf } from "../../base/errno.js";
import { ToolError } from "../../tool/errors.js";

/** A small sheet can name one long text a million times. */
const MAX_TEXT_CHARS = 32 * 1024 * 1024;

/** The text of a Word or Excel document: paragraphs as lines, sheets as tab-separated rows. */
export async function extractOffice(bytes: Uint8Array, extension: ".docx" | ".xlsx"): Promise<string> {
  try {
    const zip = await openZip(bytes);
    return await (extension === ".docx" ? documentText(zip) : workbookText(zip));
  } catch (error) {
    const why = messageOf(error);
    throw new ToolError(`This is not a readable ${extension} document: ${why}.`, {
      hint: "The file may be damaged, encrypted or of another type; inspect it in the terminal.",
      cause: error,
    });
  }
}

// Pieces are cut at closing tags instead of matched as pairs, so that damaged XML costs linear time too.
async function documentText(zip: Zip): Promise<string> {
  const xml = (await required(zip, "word/document.xml")).replace(/<w:p(?:\s[^<>]*)?\/>/g, "</w:p>");
  const paragraphs = xml.split("</w:p>").slice(0, -1);
  const lines = paragraphs.map((paragraph) =>
    paragraph
      .replace(/>(\s+)</g, (whole, gap: string) => (gap.includes("\n") ? "><" : whole))
      .replace(/<\?[^<>]*\?>\s*/, "")
      .replace(/<w:tab\/>/g, "\t")
      .replace(/<w:(?:br|cr)\b[^<>]*\/>/g, "\n")
      .replace(/<w:(?:delText|instrText)\b[^<>]*>[^<]*/g, "")
      .replace(/<[^<>]*>/g, ""),
  );
  return `${lines.map(unescapeXml).join("\n")}\n`;
}

async function workbookText(zip: Zip): Promise<string> {
  const strings = (await zip.read("xl/sharedStrings.xml")) ?? "";
  const shared = strings
    .replace(/<si\s*\/>/g, "</si>")
    .split("</si>")
    .map(plainTexts);
  const targets = new Map(
    tagsOf("Relationship", (await zip.read("xl/_rels/workbook.xml.rels")) ?? "").map((tag) => [
      attribute(tag, "Id"),
      attribute(tag, "Target").replace(/^\/xl\/|^\/?/, ""),
    ]),
  );
  const sheets = tagsOf("sheet", await required(zip, "xl/workbook.xml")).map((tag) => ({
    name: unescapeXml(attribute(tag, "name")),
    path: `xl/${targets.get(attribute(tag, "r:id")) ?? ""}`,
  }));
  const shown: string[] = [];
  let room = MAX_TEXT_CHARS;
  for (const { name, path } of sheets) {
    const rows = sheetRows((await zip.read(path)) ?? "", { shared, room });
    const text = `# sheet: ${name}\n${rows.join("\n")}\n`;
    room -= text.length;
    shown.push(text);
  }
  return shown.join("\n");
}

function tagsOf(name: string, xml: string): string[] {
  return [...xml.matchAll(new RegExp(`<${name}\\b[^<>]*>`, "g"))].map(([tag]) => tag);
}

function sheetRows(xml: string, sheet: { shared: readonly string[]; room: number }): string[] {
  const { shared } = sheet;
  const rows = xml.split("</row>").slice(0, -1);
  let room = sheet.room;
  return rows.map((row) => {
    const cells: string[] = [];
    const add = (text: string) => {
      room -= text.length + 1;
      if (room < 0) throw new Error("its sheets hold more text than can be shown");
      cells.push(text);
    };
    const closed = row
      .replace(/<c\b([^<>]*)\/>/g, "<c$1></c>")
      .split("</c>")
      .slice(0, -1);
    for (const cell of closed) {
      const body = cell.slice(cell.lastIndexOf("<c "));
      const tag = body.slice(0, body.indexOf(">"));
      const column = columnIndex(attribute(tag, "r"), cells.length);
      while (cells.length < column) add("");
      add(cellText(attribute(tag, "t"), body, shared));
    }
    return cells.join("\t");
  });
}

function cellText(type: string, body: string, shared: readonly string[]): string {
  if (type === "inlineStr") return plainTexts(body);
  const value = /<v\b[^<>]*>([^<]*)<\/v>/.exec(body)?.[1] ?? "";
  if (type === "s") return shared[Number(value)] ?? "";
  if (type === "b") return value === "1" ? "TRUE" : "FALSE";
  return unescapeXml(value);
}

const MAX_COLUMNS = 16_384;

function columnIndex(reference: string, fallback: number): number {
  const letters = /^[A-Z]{1,3}/.exec(reference)?.[0];
  if (letters === undefined) return fallback;
  const index = [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
  return Math.min(index, MAX_COLUMNS);
}

function plainTexts(xml: string): string {
  const texts = [...xml.matchAll(/<t\b[^<>]*>([^<]*)<\/t>/g)].map(([, content = ""]) => content);
  return unescapeXml(texts.join("")).replace(/[\t\n]/g, " ");
}

function attribute(tag: string, name: string): string {
  return new RegExp(`(?:^|\\s)${name}="([^"]*)"`).exec(tag)?.[1] ?? "";
}

async function required(zip: Zip, name: string): Promise<string> {
  const content = await zip.read(name);
  if (content === undefined) throw new Error(`it has no ${name}`);
  return content;
}

const ENTITIES = new Map([
  ["lt", "<"],
  ["gt", ">"],
  ["amp", "&"],
  ["quot", '"'],
  ["apos", "'"],
]);

function unescapeXml(text: string): string {
  return text.replace(/&(#x?[0-9a-f]+|\w+);/gi, (whole, entity: string) => {
    if (!entity.startsWith("#")) return ENTITIES.get(entity) ?? whole;
    const code = /^#x/i.test(entity) ? Number.parseInt(entity.slice(2), 16) : Number(entity.slice(1));
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

const MAX_MEMBERS = 10_000;
/** Documents inflate about tenfold; far more is a bomb. */
const MAX_INFLATED_BYTES = 64 * 1024 * 1024;

interface Zip {
  /** The text of a member, or undefined when there is none of that name. */
  read(name: string): Promise<string | undefined>;
}

/** The members of a ZIP container. All that is read from one container together stays within a limit. */
async function openZip(bytes: Uint8Array): Promise<Zip> {
  const { fromBufferPromise } = await import("yauzl");
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const container = await fromBufferPromise(buffer, { lazyEntries: true, autoClose: false });
  const members = new Map<string, Entry>();
  for await (const entry of container.eachEntry()) {
    if (members.size >= MAX_MEMBERS) throw new Error(`it has more than ${MAX_MEMBERS} members`);
    members.set(entry.fileName, entry);
  }
  let budget = MAX_INFLATED_BYTES;
  const spend = (size: number): void => {
    budget -= size;
    if (budget < 0) throw new Error("it inflates to more than is safe");
  };
  return {
    async read(name) {
      const member = members.get(name);
      if (member === undefined) return undefined;
      // The size is only a claim, but the reader fails when a member turns out to be larger.
      spend(member.uncompressedSize);
      const chunks: Buffer[] = [];
      for await (const chunk of await container.openReadStreamPromise(member)) chunks.push(chunk as Buffer);
      return Buffer.concat(chunks).toString("utf8");
    },
  };
}
