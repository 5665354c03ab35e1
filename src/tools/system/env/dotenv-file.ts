import { sha256 } from "../../../base/hash.js";
import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import { refuseDevice } from "../../files/path-guard.js";
import { type Location, locate } from "../../files/paths.js";
import { readDotenvText, setInDotenv, unsetInDotenv } from "./dotenv-text.js";

const MAX_BYTES = 1024 * 1024;
/** A new file of variables is for its owner only. */
const PRIVATE = 0o600;

export interface DotenvFile {
  readonly path: string;
  readonly exists: boolean;
  readonly values: Readonly<Record<string, string>>;
}

export async function openDotenv(file: string, ctx: CallContext): Promise<DotenvFile> {
  const location = await locate(file, ctx);
  const bytes = await readBytes(location, ctx);
  return {
    path: location.path,
    exists: bytes !== undefined,
    values: bytes === undefined ? {} : readDotenvText(textOf(bytes, location)),
  };
}

/** Sets or, with an undefined value, removes one name; the rest of the file stays as it is. */
export async function changeDotenv(
  change: { readonly file: string; readonly key: string; readonly value: string | undefined },
  ctx: CallContext,
): Promise<{ readonly path: string; readonly changed: boolean; readonly created: boolean }> {
  const location = await locate(change.file, ctx);
  refuseDevice(location);
  const bytes = await readBytes(location, ctx);
  const before = bytes === undefined ? "" : textOf(bytes, location);
  const { key, value } = change;
  const after = value === undefined ? unsetInDotenv(before, key) : setInDotenv(before, key, value);
  if (after === undefined) throw cannotSpell(change, location);
  if (after === before && (bytes !== undefined || value === undefined)) {
    return { path: location.path, changed: false, created: false };
  }
  const { created } = await ctx.environment.files.write(location.real, Buffer.from(after, "utf8"), {
    expected: { sha256: bytes === undefined ? undefined : sha256(bytes) },
    ...(bytes === undefined && { mode: PRIVATE }),
  });
  return { path: location.path, changed: true, created };
}

async function readBytes({ path, real }: Location, ctx: CallContext): Promise<Uint8Array | undefined> {
  const stat = await ctx.environment.files.stat(real);
  if (stat === undefined) return undefined;
  if (stat.type !== "file" || stat.size > MAX_BYTES) {
    throw new ToolError(
      stat.type === "file"
        ? `${path} is larger than ${MAX_BYTES} bytes, which no file of variables is.`
        : `${path} is not a file.`,
      { code: "invalid_arguments", hint: "Name a file of NAME=value lines." },
    );
  }
  return ctx.environment.files.read(real, { real: true });
}

function textOf(bytes: Uint8Array, { path }: Location): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ToolError(`${path} is not UTF-8 text.`, {
      code: "invalid_arguments",
      hint: "Name a file of NAME=value lines in UTF-8.",
    });
  }
}

function cannotSpell(
  change: { readonly value: string | undefined; readonly key: string },
  { path }: Location,
) {
  const why =
    change.value === undefined
      ? "other values of the file would change with it"
      : "no quoting of such a file can hold this value";
  return new ToolError(`${change.key} cannot be changed in ${path}: ${why}.`, {
    code: "invalid_arguments",
    hint:
      change.value === undefined
        ? "Look at the quotes in that file and mend them first."
        : "Leave out one of the three kinds of quotes, or line ends, or encode the value.",
  });
}
