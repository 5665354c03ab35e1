import { setTimeout as delay } from "node:timers/promises";
import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import { isWebAddress, readMediaFile } from "../media-files.js";

export const MAX_PICTURE_BYTES = 50 * 1024 * 1024;
const TIMEOUT_MS = 30_000;
const PAUSES_MS = [2_000, 4_000, 8_000] as const;

/** The bytes of a picture: of a file, an address, or a `data:` address. */
export async function getPicture(source: string, ctx: CallContext): Promise<Buffer> {
  if (/^data:/i.test(source)) return fromDataUrl(source);
  if (!isWebAddress(source))
    return (await readMediaFile(source.replace(/^file:\/\//, ""), { ctx, maxBytes: MAX_PICTURE_BYTES }))
      .bytes;
  for (let attempt = 0; ; attempt++) {
    const pause = PAUSES_MS[attempt];
    const got = await download(source, { ctx, last: pause === undefined });
    if (Buffer.isBuffer(got)) return got;
    ctx.progress({ message: `${got.why}; trying again in ${(pause ?? 0) / 1000} s` });
    await delay(pause, undefined, { signal: ctx.signal });
  }
}

/** What cannot be mended by waiting is thrown; the rest says why it failed. */
async function download(
  url: string,
  { ctx, last }: { readonly ctx: CallContext; readonly last: boolean },
): Promise<Buffer | { readonly why: string }> {
  try {
    const response = await ctx.fetch({
      url,
      headers: { accept: "image/*, */*;q=0.5" },
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_PICTURE_BYTES,
      hints: { tooLarge: "Pictures of up to 50 MB are looked at." },
    });
    if (response.ok) return await response.bytes();
    await response.close();
    const why = `${url} answered ${response.status} ${response.statusText}`.trim();
    if (!last && (response.status >= 500 || response.status === 429)) return { why };
    throw new ToolError(`${why}.`, { hint: "Check the address.", details: { status: response.status } });
  } catch (error) {
    ctx.signal.throwIfAborted();
    // Refused by a rule, too large, no such host: the same next time. A broken connection may be whole again.
    const broken =
      ToolError.isInstance(error) && typeof error.details?.errno === "string" && error.code === "failed";
    if (last || !broken || error.details?.errno === "ENOTFOUND") throw error;
    return { why: error.message };
  }
}

function fromDataUrl(url: string): Buffer {
  const [, encoding, body] = /^data:[^,;]*(?:;[^,;]*)*?(;base64)?,(.*)$/is.exec(url) ?? [];
  if (body === undefined) {
    throw new ToolError("The data: address is not whole.", {
      code: "invalid_arguments",
      hint: "Give a path or an http address.",
    });
  }
  return encoding === undefined ? Buffer.from(decodeURIComponent(body)) : Buffer.from(body, "base64");
}
