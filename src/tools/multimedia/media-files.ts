import { extname } from "node:path";
import { sizeText } from "../../base/human.js";
import { ToolError } from "../../tool/errors.js";
import type { CallContext } from "../../tool/tool.js";
import { refuseDevice } from "../files/path-guard.js";
import { locate } from "../files/paths.js";
import { writeVerified } from "../files/write-verified.js";

export interface MediaFile {
  /** Absolute, as the caller named it. */
  readonly path: string;
  readonly real: string;
  readonly size: number;
}

/** A file that is there and not too large; its bytes are not read yet. */
export async function findMediaFile(
  path: string,
  { ctx, maxBytes }: { readonly ctx: CallContext; readonly maxBytes: number },
): Promise<MediaFile> {
  const location = await locate(path, ctx);
  refuseDevice(location);
  const stat = await ctx.environment.files.stat(location.real);
  if (stat === undefined) {
    throw new ToolError(`There is no file ${path}.`, {
      code: "not_found",
      hint: "Check the path; directory_list shows what is there.",
    });
  }
  if (stat.type !== "file") {
    throw new ToolError(`${path} is a ${stat.type === "directory" ? "folder" : stat.type}, not a file.`, {
      code: "invalid_arguments",
      hint: "Name a file inside it.",
    });
  }
  if (stat.size > maxBytes) {
    throw new ToolError(
      `${path} has ${sizeText(stat.size, "decimal")}; at most ${sizeText(maxBytes, "decimal")} are read.`,
      { code: "invalid_arguments", hint: "Make it smaller with a program in the terminal first." },
    );
  }
  return { ...location, size: stat.size };
}

export async function readMediaFile(
  path: string,
  options: { readonly ctx: CallContext; readonly maxBytes: number },
): Promise<MediaFile & { readonly bytes: Buffer }> {
  const file = await findMediaFile(path, options);
  const read = await options.ctx.environment.files.read(file.real, { real: true });
  return { ...file, bytes: Buffer.from(read.buffer, read.byteOffset, read.byteLength) };
}

/** Puts a made file in its place; answers with the absolute path. */
export async function writeMediaFile(
  path: string,
  { bytes, ctx }: { readonly bytes: Uint8Array; readonly ctx: CallContext },
): Promise<string> {
  const location = await locate(path, ctx);
  refuseDevice(location);
  const stat = await ctx.environment.files.stat(location.real);
  if (stat !== undefined && stat.type !== "file") {
    throw new ToolError(`${path} is there already and is not a file.`, {
      code: "invalid_arguments",
      hint: "Name a file inside it, or another path.",
    });
  }
  await writeVerified({ real: location.real, bytes, ctx });
  return location.path;
}

/** `photo.png` → `photo-edited.webp`. */
export function nameBeside(path: string, { suffix, extension }: { suffix: string; extension: string }) {
  const old = extname(path);
  return `${old === "" ? path : path.slice(0, -old.length)}${suffix}${extension}`;
}

/** An address on the web, in contrast to the path of a file. */
export function isWebAddress(text: string): boolean {
  return /^https?:\/\//i.test(text);
}
