/** Deeper than any honest argument, far below where recursive readers run out of stack. */
export const MAX_DEPTH = 512;

/** Bounds the walk over values that share or repeat parts, which JSON text cannot express. */
const MAX_WALK = 1_000_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

export interface TextMeasure {
  readonly depth: number;
  /** Containers and separators: an upper bound for the number of values JSON.parse would build. */
  readonly values: number;
}

/**
 * Looks at JSON text without building anything. For text that is not JSON it is right up to the first
 * error, which is as far as JSON.parse reads. Stops early once there are more than `maxValues`.
 */
export function measureText(text: string, maxValues = Number.POSITIVE_INFINITY): TextMeasure {
  let depth = 0;
  let deepest = 0;
  let values = 1;
  for (let at = 0; at < text.length && values <= maxValues; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at);
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        values++;
        depth++;
        if (depth > deepest) deepest = depth;
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        depth--;
        break;
      case COMMA:
        values++;
        break;
    }
  }
  return { depth: deepest, values };
}

/** True when JSON text nests more than `limit` levels of lists and objects. */
export function exceedsDepth(text: string, limit: number): boolean {
  return measureText(text).depth > limit;
}

/** Index of the quote that closes the string opened at `start`, or the end of the text. */
function endOfString(text: string, start: number): number {
  let close = text.indexOf('"', start + 1);
  while (close !== -1) {
    let first = close;
    while (text.charCodeAt(first - 1) === BACKSLASH) first--;
    if ((close - first) % 2 === 0) return close;
    close = text.indexOf('"', close + 1);
  }
  return text.length;
}

/**
 * The same question for a value. Not recursive; a value that contains itself counts as too deep, and so
 * does one with more parts than the walk may visit.
 */
export function valueExceedsDepth(value: unknown, limit: number): boolean {
  if (!isContainer(value)) return false;
  const pending: object[] = [value];
  const depths: number[] = [1];
  let visited = 0;
  for (let current = pending.pop(); current !== undefined; current = pending.pop()) {
    const depth = depths.pop() ?? 1;
    visited++;
    if (depth > limit || visited > MAX_WALK) return true;
    for (const child of Array.isArray(current) ? current : Object.values(current)) {
      if (!isContainer(child)) continue;
      pending.push(child);
      depths.push(depth + 1);
    }
  }
  return false;
}

/** Plain lists and objects; buffers, dates and the like have no levels of their own. */
function isContainer(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
