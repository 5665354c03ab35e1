import { sha256 } from "../../../base/hash.js";
import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import { kindByContent } from "../binary-kind.js";
import { statRegularFile } from "../open-text.js";
import type { Location } from "../paths.js";
import { decodeText, detectEncoding, encodeText, type TextEncoding } from "../text-encoding.js";

const MAX_PATCHED_BYTES = 50 * 1024 * 1024;

/** A file as it was read, with what is needed to write it back in the same spelling. */
export interface Snapshot {
  readonly text: string;
  readonly bytes: Uint8Array;
  readonly sha256: string;
  readonly encoding: TextEncoding;
}

export async function readSnapshot(location: Location, ctx: CallContext): Promise<Snapshot> {
  const stat = await statRegularFile(location, ctx);
  if (stat.size > MAX_PATCHED_BYTES) {
    throw new ToolError(`${location.path} is too large to patch (${stat.size} bytes).`, {
      hint: "Edit it with a stream editor in the terminal.",
    });
  }
  const bytes = await ctx.environment.files.read(location.real);
  const encoding = kindByContent(bytes) === undefined ? detectEncoding(bytes) : undefined;
  if (encoding === undefined) {
    throw new ToolError(`${location.path} is a binary file (${kindByContent(bytes) ?? "unknown kind"}).`, {
      code: "invalid_arguments",
      hint: "patch edits text files only.",
    });
  }
  const text = await decodeText(bytes, encoding);
  const faithful = Buffer.compare(await encodeText(text, encoding), bytes) === 0;
  if (!faithful) {
    throw new ToolError(
      `${location.path} holds bytes that are not valid ${encoding.name}; editing would alter them.`,
      {
        hint: "Edit it with a program in the terminal.",
      },
    );
  }
  return { text, bytes, sha256: sha256(bytes), encoding };
}
