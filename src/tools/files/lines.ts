const NEWLINE = 10;
/** More than a chunk can hold, and still a small integer, which keeps the counting loop quick. */
const ALL_LINES = 2 ** 30;

/** The beginning of a line, as its number (starting at 1) and its place in the file. */
export interface LinePosition {
  readonly line: number;
  readonly byte: number;
}

export interface LineRequest {
  readonly chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** Where the first chunk begins; the first line of the file when left out. */
  readonly start?: LinePosition;
  /** First line wanted, starting at 1. */
  readonly offset: number;
  readonly limit: number;
  /** Bytes kept of one line; the rest is counted and dropped, so that a line of 1 GB costs nothing. */
  readonly maxLineBytes: number;
  /** Read on behind the window, to the end, just to count lines. */
  readonly countAll: boolean;
  /** The end of the file, when it is known: nothing is left to count when it has been reached. */
  readonly endByte?: number;
  /** Told about once per chunk where a line begins, so that a later request can start there. */
  onPosition?(position: LinePosition): void;
  readonly signal: AbortSignal;
}

export interface RawLine {
  /** Without its newline; at most `maxLineBytes` long. */
  readonly bytes: Uint8Array;
  readonly length: number;
  readonly terminated: boolean;
}

export interface LineWindow {
  readonly lines: readonly RawLine[];
  readonly totalLines: number;
  /** True when counting stopped before the end of the file. */
  readonly totalIsLowerBound: boolean;
}

/**
 * Lines [offset, offset + limit) of a byte stream, in one pass and with memory bounded by the window.
 * Newlines are found with `Buffer.indexOf`, which is native code, and the next piece is read meanwhile: deep
 * offsets cost about as much as reading the file.
 */
export async function readLineWindow(request: LineRequest): Promise<LineWindow> {
  const { offset, limit, signal } = request;
  const lines: RawLine[] = [];
  let line = new LineCollector(request.maxLineBytes);
  let number = request.start?.line ?? 1;
  let byte = request.start?.byte ?? 0;
  let open = false;

  for await (const part of readAhead(request.chunks)) {
    signal.throwIfAborted();
    const chunk = Buffer.from(part.buffer, part.byteOffset, part.byteLength);
    const before = skipLines(chunk, 0, Math.min(offset - number, ALL_LINES));
    number += before.lines;
    let { lineStart } = before;
    while (number >= offset && lines.length < limit && lineStart < chunk.length) {
      const newline = chunk.indexOf(NEWLINE, lineStart);
      line.add(chunk.subarray(lineStart, newline === -1 ? chunk.length : newline));
      if (newline === -1) break;
      lines.push(line.finish(true));
      line = new LineCollector(request.maxLineBytes);
      number++;
      lineStart = newline + 1;
    }
    if (lines.length >= limit) {
      const behind = skipLines(chunk, lineStart, ALL_LINES);
      number += behind.lines;
      lineStart = behind.lineStart;
    }
    if (chunk.length > 0) open = chunk[chunk.length - 1] !== NEWLINE;
    if (lineStart > 0) request.onPosition?.({ line: number, byte: byte + lineStart });
    byte += chunk.length;
    if (lines.length >= limit && !request.countAll) {
      return { lines, totalLines: open ? number : number - 1, totalIsLowerBound: byte !== request.endByte };
    }
  }
  if (open && number >= offset && lines.length < limit) lines.push(line.finish(false));
  return { lines, totalLines: open ? number : number - 1, totalIsLowerBound: false };
}

/** The same pieces; each next one is already being read while one is looked at. */
async function* readAhead(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  if (!(Symbol.asyncIterator in chunks)) {
    yield* chunks;
    return;
  }
  const iterator = chunks[Symbol.asyncIterator]();
  try {
    let next = iterator.next();
    for (;;) {
      const { done, value } = await next;
      if (done === true) return;
      next = iterator.next();
      // Nobody may be left to hear of it when the window ends first.
      next.catch(() => undefined);
      yield value;
    }
  } finally {
    await iterator.return?.();
  }
}

/** Passes over at most `most` whole lines, fewer when the chunk ends first; `lineStart` is where the next begins. */
function skipLines(chunk: Buffer, from: number, most: number): { lines: number; lineStart: number } {
  let lines = 0;
  let lineStart = from;
  while (lines < most) {
    const newline = chunk.indexOf(NEWLINE, lineStart);
    if (newline === -1) break;
    lines++;
    lineStart = newline + 1;
  }
  return { lines, lineStart };
}

class LineCollector {
  readonly #parts: Uint8Array[] = [];
  #kept = 0;
  #length = 0;
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  add(part: Uint8Array): void {
    this.#length += part.length;
    const room = this.#max - this.#kept;
    if (room <= 0 || part.length === 0) return;
    // A copy: the chunk's memory is used again, and a window must not keep whole chunks alive.
    const kept = Buffer.from(part.subarray(0, room));
    this.#kept += kept.length;
    this.#parts.push(kept);
  }

  finish(terminated: boolean): RawLine {
    const [only] = this.#parts;
    const bytes = this.#parts.length === 1 && only !== undefined ? only : Buffer.concat(this.#parts);
    return { bytes, length: this.#length, terminated };
  }
}
