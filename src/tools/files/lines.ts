const NEWLINE = 10;

export interface LineRequest {
  readonly chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** First line wanted, starting at 1. */
  readonly offset: number;
  readonly limit: number;
  /** Bytes kept of one line; the rest is counted and dropped, so that a line of 1 GB costs nothing. */
  readonly maxLineBytes: number;
  /** Bytes read behind the window just to count lines. */
  readonly countBudget: number;
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
 * Newlines are found with `Buffer.indexOf`, which is native code: deep offsets cost about as much as
 * `memchr`.
 */
export async function readLineWindow(request: LineRequest): Promise<LineWindow> {
  const { offset, limit, countBudget, signal } = request;
  const lines: RawLine[] = [];
  let line = new LineCollector(request.maxLineBytes);
  let number = 1;
  let open = false;
  let bytesBehind = 0;

  for await (const part of request.chunks) {
    signal.throwIfAborted();
    const chunk = Buffer.from(part.buffer, part.byteOffset, part.byteLength);
    const before = skipLines(chunk, 0, offset - number);
    number += before.lines;
    let position = before.position;
    while (number >= offset && lines.length < limit && position < chunk.length) {
      const newline = chunk.indexOf(NEWLINE, position);
      line.add(chunk.subarray(position, newline === -1 ? chunk.length : newline));
      if (newline === -1) break;
      lines.push(line.finish(true));
      line = new LineCollector(request.maxLineBytes);
      number++;
      position = newline + 1;
    }
    if (lines.length >= limit) {
      number += skipLines(chunk, position, Number.POSITIVE_INFINITY).lines;
      bytesBehind += chunk.length - position;
    }
    if (chunk.length > 0) open = chunk[chunk.length - 1] !== NEWLINE;
    if (bytesBehind > countBudget) {
      return { lines, totalLines: open ? number : number - 1, totalIsLowerBound: true };
    }
  }
  if (open && number >= offset && lines.length < limit) lines.push(line.finish(false));
  return { lines, totalLines: open ? number : number - 1, totalIsLowerBound: false };
}

/** Passes over at most `most` whole lines; fewer when the chunk ends first. */
function skipLines(chunk: Buffer, from: number, most: number): { lines: number; position: number } {
  let lines = 0;
  let position = from;
  while (lines < most) {
    const newline = chunk.indexOf(NEWLINE, position);
    if (newline === -1) return { lines, position: chunk.length };
    lines++;
    position = newline + 1;
  }
  return { lines, position };
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
    // A copy, so that a window does not keep whole chunks of the file alive.
    const kept = part.slice(0, room);
    this.#kept += kept.length;
    this.#parts.push(kept);
  }

  finish(terminated: boolean): RawLine {
    const [only] = this.#parts;
    const bytes = this.#parts.length === 1 && only !== undefined ? only : Buffer.concat(this.#parts);
    return { bytes, length: this.#length, terminated };
  }
}
