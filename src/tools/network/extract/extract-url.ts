import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import { readableText } from "./readable-text.js";

/** The whole page is held while it is read; larger ones are refused. */
const MAX_PAGE_BYTES = 20 * 1024 * 1024;
const TIMEOUT_MS = 60_000;
const HEAD_SHARE = 0.75;

export interface Extracted {
  readonly url: string;
  readonly title?: string | undefined;
  /** Markdown, as much as fits. */
  readonly content?: string | undefined;
  readonly error?: string | undefined;
  readonly author?: string | undefined;
  readonly published?: string | undefined;
  readonly word_count?: number | undefined;
  readonly total_chars?: number | undefined;
  readonly truncated?: boolean | undefined;
  /** Where the whole text is when it was shortened. */
  readonly full_path?: string | undefined;
}

/** One page; what goes wrong with it is told beside the others. */
export async function extractUrl(request: {
  readonly url: string;
  readonly limit: number;
  readonly ctx: CallContext;
}): Promise<Extracted> {
  const { url, limit, ctx } = request;
  try {
    const response = await ctx.fetch({
      url,
      headers: { accept: "text/html, application/xhtml+xml, text/markdown, application/pdf, */*;q=0.5" },
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_PAGE_BYTES,
      hints: { tooLarge: "Download it with http_request and read the file in parts." },
    });
    const bytes = await response.bytes();
    if (!response.ok)
      return { url, error: `the server answered ${response.status} ${response.statusText}`.trim() };
    const type = response.headers.get("content-type") ?? "";
    const { markdown, ...about } = await readableText({ bytes, type, url: response.url });
    const word_count = markdown.match(/\S+/g)?.length ?? 0;
    return { url: response.url, ...about, word_count, ...(await bounded(markdown, limit, ctx)) };
  } catch (error) {
    if (ctx.signal.aborted) throw error;
    if (!ToolError.isInstance(error))
      return { url, error: error instanceof Error ? error.message : String(error) };
    return { url, error: error.hint === undefined ? error.message : `${error.message} ${error.hint}` };
  }
}

/** Three quarters from the beginning, the rest from the end: that is where pages say what matters. */
async function bounded(markdown: string, limit: number, ctx: CallContext) {
  const total_chars = markdown.length;
  if (total_chars <= limit) return { content: markdown, total_chars };
  await mkdir(ctx.cacheDir, { recursive: true });
  const full_path = join(ctx.cacheDir, `page-${randomBytes(8).toString("hex")}.md`);
  await writeFile(full_path, markdown, { mode: 0o600 });
  const head = markdown.slice(0, Math.floor(limit * HEAD_SHARE));
  const tail = markdown.slice(total_chars - (limit - head.length));
  const left = total_chars - head.length - tail.length;
  const content = `${head}\n\n[… ${left} characters left out; the whole text is in ${full_path} …]\n\n${tail}`;
  return { content, total_chars, truncated: true, full_path };
}
