import { extname } from "node:path";
import { LruMap } from "../../base/lru.js";
import type { FileStat } from "../../env/environment.js";
import { ToolError } from "../../tool/errors.js";
import type { CallContext, Kept } from "../../tool/tool.js";
import { kindByContent, kindByName } from "./binary-kind.js";
import { notebookToText } from "./notebook.js";
import { extractOffice } from "./office.js";
import type { Location } from "./paths.js";
import { type ImageFacts, imageFacts } from "./read/image-size.js";
import { LineIndex } from "./read/line-index.js";
import { extractPdf } from "./read/pdf.js";
import { similarNames } from "./similar-names.js";
import { decodeText, detectEncoding, type TextEncoding, UTF8 } from "./text-encoding.js";

const HEAD_BYTES = 1024 * 1024;
const MAX_TRANSCODED_BYTES = 10 * 1024 * 1024;
const MAX_DOCUMENT_BYTES = 20 * 1024 * 1024;

/** Sent as text it grows by a third, and the strictest of the model services takes 5 MB of that. */
const MAX_IMAGE_BYTES = 3_750_000;

/** A file opened for reading as text, as chunks of bytes in `encoding`. */
export interface TextSource {
  readonly kind: "text";
  readonly chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  readonly encoding: TextEncoding;
  /** Where the first chunk begins in the file. */
  readonly firstByte: number;
  /** Present for large files that are shown as they are: the same from another byte on. */
  chunksFrom?(byte: number): AsyncIterable<Uint8Array>;
  /** Set when the text was made from something else, e.g. "utf-16le" or "notebook". */
  readonly convertedFrom?: string;
}

/** A picture that goes to the model as it is. */
export interface ImageSource {
  readonly kind: "image";
  readonly image: ImageFacts;
  readonly bytes: Uint8Array;
}

/** The file's facts, or an error that says what stands in the way. */
export async function statRegularFile(location: Location, ctx: CallContext): Promise<FileStat> {
  const { path, real } = location;
  const stat = await ctx.environment.files.stat(real);
  if (stat === undefined) {
    const similar = await similarNames(path, ctx);
    throw new ToolError(`${path} does not exist.`, {
      code: "failed",
      hint:
        similar.length > 0
          ? `Similar names: ${similar.join(", ")}`
          : 'Look for it with search_files (target: "files").',
      details: { path, similar_files: similar },
    });
  }
  if (stat.type === "directory") {
    throw new ToolError(`${path} is a directory, not a file.`, {
      code: "invalid_arguments",
      hint: `List it with directory_list (path: "${path}").`,
      details: { path },
    });
  }
  if (stat.type !== "file") {
    throw new ToolError(`${path} is a device, pipe or socket, not a regular file.`, {
      code: "invalid_arguments",
      hint: "Name a regular file.",
      details: { path },
    });
  }
  return stat;
}

/** The file as text, or as a picture that a model can look at. */
export async function openSource(
  location: Location,
  stat: FileStat,
  ctx: CallContext,
): Promise<TextSource | ImageSource> {
  const { path, real } = location;
  const extension = extname(path).toLowerCase();
  const converted = async (from: string, convert: (bytes: Uint8Array) => Promise<string>) => {
    const make = async () => convert(await readWhole({ location, stat, ctx, maxBytes: MAX_DOCUMENT_BYTES }));
    return textSource(await ctx.keep(ConvertedTexts).of(real, stat, make), from);
  };
  if (extension === ".docx" || extension === ".xlsx") {
    return converted(extension.slice(1), (bytes) => extractOffice(bytes, extension));
  }
  const promised = kindByName(path);
  if (promised !== undefined && promised !== "image" && extension !== ".pdf") {
    throw binaryError(path, `${promised} file (${extension})`);
  }

  const known = stat.size >= HEAD_BYTES ? ctx.keep(LineIndex).encoding(real, stat) : undefined;
  if (known !== undefined) return largeText({ real, encoding: known, ctx });
  const head = await readHead(real, stat, ctx);
  const magic = kindByContent(head);
  if (magic === "PDF document") return converted("pdf", (bytes) => extractPdf(bytes, ctx.signal));
  const image = imageFacts(head);
  if (image !== undefined) return openImage({ location, stat, ctx, image });
  const encoding = detectEncoding(head);
  if (encoding === undefined || magic !== undefined) {
    const named = promised === undefined ? undefined : `${promised} file (${extension})`;
    throw binaryError(path, named ?? magic ?? "binary file");
  }

  const whole = head.length < HEAD_BYTES;
  if (extension === ".ipynb") {
    const bytes = whole ? head : await readWhole({ location, stat, ctx, maxBytes: MAX_DOCUMENT_BYTES });
    const text = notebookToText(await decodeText(bytes, encoding));
    if (text !== undefined) return textSource(text, "notebook");
  }
  if (encoding.name === "utf-16le" || encoding.name === "utf-16be") {
    const bytes = whole ? head : await readWhole({ location, stat, ctx, maxBytes: MAX_TRANSCODED_BYTES });
    return textSource(await decodeText(bytes, encoding), encoding.name);
  }
  if (!whole) return largeText({ real, encoding, ctx, head });
  const firstByte = encoding.bom ? 3 : 0;
  return {
    kind: "text",
    chunks: [head.subarray(firstByte)],
    encoding,
    firstByte,
    ...(encoding.name !== "utf-8" && { convertedFrom: encoding.name }),
  };
}

function largeText(file: {
  real: string;
  encoding: TextEncoding;
  ctx: CallContext;
  /** The first bytes, when they have been read already. */
  head?: Uint8Array;
}): TextSource {
  const { real, encoding, ctx, head } = file;
  const firstByte = encoding.bom ? 3 : 0;
  // Two in turn: one is looked at while the next is being read. The head's memory is free by the second piece.
  const stream = (start: number, second: Uint8Array) =>
    ctx.environment.files.stream(real, { start, into: [Buffer.allocUnsafeSlow(HEAD_BYTES), second] });
  const chunksFrom = (byte: number) => stream(byte, Buffer.allocUnsafeSlow(HEAD_BYTES));
  return {
    kind: "text",
    chunks:
      head === undefined
        ? chunksFrom(firstByte)
        : headAndRest(head.subarray(firstByte), () => stream(head.length, head)),
    encoding,
    firstByte,
    chunksFrom,
    ...(encoding.name !== "utf-8" && { convertedFrom: encoding.name }),
  };
}

async function* headAndRest(
  head: Uint8Array,
  rest: () => AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield head;
  yield* rest();
}

async function openImage(found: {
  location: Location;
  stat: FileStat;
  ctx: CallContext;
  image: ImageFacts;
}): Promise<ImageSource> {
  const { location, stat, ctx, image } = found;
  if (stat.size > MAX_IMAGE_BYTES) {
    throw new ToolError(
      `${location.path} is a picture of ${image.width} × ${image.height} pixels and ${stat.size.toLocaleString("en")} bytes; at most ${MAX_IMAGE_BYTES.toLocaleString("en")} bytes can be shown.`,
      {
        code: "failed",
        hint: "Make a smaller copy first (for example: convert in.png -resize 1568x1568 out.jpg) and read that.",
        details: { path: location.path, ...image },
      },
    );
  }
  return { kind: "image", image, bytes: await ctx.environment.files.read(location.real) };
}

/** The first bytes; fewer than HEAD_BYTES means that they are the whole file. */
async function readHead(path: string, stat: FileStat, ctx: CallContext): Promise<Uint8Array> {
  if (stat.size > 0) return await ctx.environment.files.read(path, { start: 0, end: HEAD_BYTES });
  // Files of /proc claim to be empty; only reading tells.
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of ctx.environment.files.stream(path)) {
    parts.push(part);
    length += part.length;
    if (length >= HEAD_BYTES) break;
  }
  return Buffer.concat(parts);
}

async function readWhole(request: {
  location: Location;
  stat: FileStat;
  ctx: CallContext;
  maxBytes: number;
}): Promise<Uint8Array> {
  const { location, stat, ctx, maxBytes } = request;
  if (stat.size > maxBytes) {
    throw new ToolError(
      `${location.path} must be converted to be read and is too large for that (${stat.size} bytes, at most ${maxBytes}).`,
      { code: "failed", hint: "Convert it with a program in the terminal and read the result." },
    );
  }
  return await ctx.environment.files.read(location.real);
}

function textSource(text: string, convertedFrom: string): TextSource {
  return { kind: "text", chunks: [Buffer.from(text, "utf8")], encoding: UTF8, firstByte: 0, convertedFrom };
}

function binaryError(path: string, kind: string): ToolError {
  return new ToolError(`${path} is not text: ${kind}.`, {
    code: "failed",
    hint: hintFor(kind),
    details: { path, kind },
  });
}

function hintFor(kind: string): string {
  if (kind.startsWith("image")) {
    return "Only png, jpeg, gif and webp pictures can be shown, and this is none that is whole; convert it in the terminal.";
  }
  if (kind.includes("archive")) return 'Look inside with file_compress (action: "list").';
  return "Use a tool made for this kind of file, or inspect it in the terminal (file, xxd, strings).";
}

const MAX_DOCUMENTS = 4;
const MAX_CHARS = 8 * 1024 * 1024;
/** A change within one tick of the file system's clock would not show in the time of a file. */
const SETTLED_MS = 2_000;

/** Texts made of documents, kept so that the next page of one does not mean converting it again. */
class ConvertedTexts implements Kept {
  readonly #texts = new LruMap<string, { readonly fingerprint: string; readonly text: string }>(
    MAX_DOCUMENTS,
  );

  /** The text of this very state of the file, made only when it is not known. */
  async of(file: string, stat: FileStat, convert: () => Promise<string>): Promise<string> {
    const fingerprint = `${stat.inode}:${stat.size}:${stat.mtimeMs}`;
    const known = this.#texts.get(file);
    if (known?.fingerprint === fingerprint) return known.text;
    const text = await convert();
    this.#texts.delete(file);
    const settled = Date.now() - stat.mtimeMs >= SETTLED_MS;
    if (settled && text.length <= MAX_CHARS) this.#texts.set(file, { fingerprint, text });
    return text;
  }

  close(): void {
    this.#texts.clear();
  }
}
