import { extname } from "node:path";
import type { FileStat } from "../../env/environment.js";
import { ToolError } from "../../tool/errors.js";
import type { CallContext } from "../../tool/tool.js";
import { kindByContent, kindByName } from "./binary-kind.js";
import { notebookToText } from "./notebook.js";
import { extractOffice } from "./office.js";
import type { Location } from "./paths.js";
import { similarNames } from "./similar-names.js";
import { decodeText, detectEncoding, type TextEncoding, UTF8 } from "./text-encoding.js";

const HEAD_BYTES = 1024 * 1024;
const MAX_TRANSCODED_BYTES = 10 * 1024 * 1024;
const MAX_DOCUMENT_BYTES = 20 * 1024 * 1024;

/** A file opened for reading as text, as chunks of bytes in `encoding`. */
export interface TextSource {
  readonly chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  readonly encoding: TextEncoding;
  /** Set when the text was made from something else, e.g. "utf-16le" or "notebook". */
  readonly convertedFrom?: string;
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
      hint: `List it with search_files (target: "files", pattern: "*", path: "${path}").`,
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

export async function openText(location: Location, stat: FileStat, ctx: CallContext): Promise<TextSource> {
  const { files } = ctx.environment;
  const extension = extname(location.path).toLowerCase();
  if (extension === ".docx" || extension === ".xlsx") {
    const bytes = await readWhole({ location, stat, ctx, maxBytes: MAX_DOCUMENT_BYTES });
    return textSource(await extractOffice(bytes, extension), extension.slice(1));
  }
  const kind = kindByName(location.path);
  if (kind !== undefined) throw binaryError(location.path, `${kind} file (${extension})`);

  const head = await readHead(location.real, stat, ctx);
  const whole = head.length < HEAD_BYTES;
  const magic = kindByContent(head);
  const encoding = detectEncoding(head);
  if (encoding === undefined || magic !== undefined) throw binaryError(location.path, magic ?? "binary file");

  if (extension === ".ipynb") {
    const bytes = whole ? head : await readWhole({ location, stat, ctx, maxBytes: MAX_DOCUMENT_BYTES });
    const text = notebookToText(await decodeText(bytes, encoding));
    if (text !== undefined) return textSource(text, "notebook");
  }
  if (encoding.name === "utf-16le" || encoding.name === "utf-16be") {
    const bytes = whole ? head : await readWhole({ location, stat, ctx, maxBytes: MAX_TRANSCODED_BYTES });
    return textSource(await decodeText(bytes, encoding), encoding.name);
  }
  const converted = encoding.name === "utf-8" ? {} : { convertedFrom: encoding.name };
  if (whole) return { chunks: [encoding.bom ? head.subarray(3) : head], encoding, ...converted };
  return { chunks: files.stream(location.real, { start: encoding.bom ? 3 : 0 }), encoding, ...converted };
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
  return { chunks: [Buffer.from(text, "utf8")], encoding: UTF8, convertedFrom };
}

function binaryError(path: string, kind: string): ToolError {
  return new ToolError(`${path} is not text: ${kind}.`, {
    code: "failed",
    hint: "Use a tool made for this kind of file, or inspect it in the terminal (file, xxd, unzip -l).",
    details: { path, kind },
  });
}
