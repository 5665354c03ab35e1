import { sha256 } from "../../base/hash.js";
import { ToolError } from "../../tool/errors.js";
import type { CallContext } from "../../tool/tool.js";
import { trackerOf } from "./read-tracker.js";

/** Above this size the check after writing compares sizes only. */
const MAX_HASHED_BYTES = 64 * 1024 * 1024;

/**
 * How a file was checked after writing. "inode": the very file that was written lies at the path, untouched since.
 * "sha256", "size": it was read again. "overtaken": it was written, and somebody else has changed it again since;
 * only possible with `expected`, where the later change was made on top of this one.
 */
export type Verification = "inode" | "sha256" | "size" | "overtaken";

export interface VerifiedWrite {
  readonly created: boolean;
  readonly dirsCreated: boolean;
  readonly verified: Verification;
}

/**
 * Replaces a file and looks at it again: success means that these bytes are in the file at this path. With
 * `expected`, nothing is written unless the file still holds that content.
 */
export async function writeVerified(request: {
  readonly real: string;
  readonly bytes: Uint8Array;
  readonly ctx: CallContext;
  readonly expected?: { readonly sha256: string | undefined };
}): Promise<VerifiedWrite> {
  const { real, bytes, ctx, expected } = request;
  const { files, name } = ctx.environment;
  ctx.signal.throwIfAborted();
  const report = await files.write(real, bytes, expected === undefined ? {} : { expected });
  const { created, dirsCreated } = report;
  const stat = report.stat ?? (await files.stat(real));
  trackerOf(ctx).noteWritten(real, stat);
  if (report.stat !== undefined) return { created, dirsCreated, verified: "inode" };
  await requireSamePlace(real, ctx);
  const found = await contentCheck(real, bytes, ctx);
  if (found.same) return { created, dirsCreated, verified: found.by };
  const reached = found.sha256 !== undefined && found.sha256 !== expected?.sha256;
  if (expected !== undefined && reached) return { created, dirsCreated, verified: "overtaken" };
  throw new ToolError(`${real} in ${name} was written, but holds something else now.`, {
    hint: "Another program is writing the same file. Read it before you try again.",
    details: { path: real, expected_bytes: bytes.length, found_bytes: stat?.size ?? null },
  });
}

/** The path was checked with its links followed; a folder swapped for a link since then leads elsewhere. */
async function requireSamePlace(real: string, ctx: CallContext): Promise<void> {
  const now = await ctx.environment.files.realpath(real);
  if (now === real) return;
  throw new ToolError(`${real} became a link to ${now} while it was being written.`, {
    code: "denied",
    hint: "Another program is changing these folders. Look at them before you try again.",
    details: { path: real, resolved_path: now },
  });
}

async function contentCheck(
  real: string,
  bytes: Uint8Array,
  ctx: CallContext,
): Promise<{ same: boolean; by: "sha256" | "size"; sha256?: string }> {
  const { files } = ctx.environment;
  const stat = await files.stat(real);
  if (stat === undefined) return { same: false, by: "size" };
  if (bytes.length > MAX_HASHED_BYTES) return { same: stat.size === bytes.length, by: "size" };
  const found = sha256(await files.read(real));
  return { same: found === sha256(bytes), by: "sha256", sha256: found };
}

/** True for the refusal of a write whose `expected` content was gone. */
export function isConflict(error: unknown): boolean {
  return ToolError.isInstance(error) && error.details?.conflict === true;
}
