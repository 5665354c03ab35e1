import type { FileStat } from "../../../env/environment.js";
import type { CallContext } from "../../../tool/tool.js";
import { type LineWindow, readLineWindow } from "../lines.js";
import type { TextSource } from "../open-text.js";
import { MAX_LINE_CHARS } from "../page.js";
import { LineIndex } from "./line-index.js";

const MIB = 1024 * 1024;
/**
 * Files up to this size are counted to their end whatever is read of them. Of larger ones only what comes along
 * with the window: knowing the number of the last line is not worth reading all.
 */
const COUNTED_WHOLE = { here: 32 * MIB, elsewhere: 4 * MIB };

/** The wanted lines of a file. What is learned about a large one is kept for the next page. */
export async function readWindow(request: {
  readonly source: TextSource;
  readonly file: string;
  readonly stat: FileStat;
  readonly offset: number;
  readonly limit: number;
  readonly ctx: CallContext;
}): Promise<LineWindow> {
  const { source, file, stat, offset, limit, ctx } = request;
  const place = ctx.environment.kind === "local" ? "here" : "elsewhere";
  const { chunksFrom } = source;
  const index = chunksFrom === undefined ? undefined : ctx.keep(LineIndex);
  index?.noteEncoding(file, stat, source.encoding);
  const total = index?.totalLines(file, stat);
  const start = index?.nearest(file, stat, offset);
  const window = await readLineWindow({
    ...(chunksFrom !== undefined && start !== undefined
      ? { chunks: chunksFrom(start.byte), start }
      : { chunks: source.chunks, start: { line: 1, byte: source.firstByte } }),
    offset,
    limit,
    // Four bytes are the longest character, so cutting a line never meets a broken one.
    maxLineBytes: (MAX_LINE_CHARS + 1) * 4,
    countAll: total === undefined && stat.size <= COUNTED_WHOLE[place],
    ...(chunksFrom !== undefined && { endByte: stat.size }),
    ...(index !== undefined && { onPosition: (position) => index.note(file, stat, position) }),
    signal: ctx.signal,
  });
  if (!window.totalIsLowerBound) index?.noteTotal(file, stat, window.totalLines);
  return window.totalIsLowerBound && total !== undefined
    ? { ...window, totalLines: total, totalIsLowerBound: false }
    : window;
}
