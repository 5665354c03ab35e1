export interface SplitOptions {
  /** Of one piece in its rendered form. */
  readonly maxChars: number;
  rendered(text: string): string;
}

const FENCE = /^\s{0,3}(`{3,}|~{3,})/;

/**
 * Pieces that fit, cut where it hurts least: between lines, else between words. What is measured is the form that will be
 * sent, since escaping makes texts longer. A block of code that is cut is closed and opened again.
 */
export function splitText(text: string, { maxChars, rendered }: SplitOptions): readonly string[] {
  const fits = (piece: string) => rendered(piece).length <= maxChars;
  if (fits(text)) return text.trim() === "" ? [] : [text];
  const pieces: string[] = [];
  const rest = text.split("\n").reverse();
  let piece: string[] = [];
  let fence: string | undefined;
  for (let line = rest.pop(); line !== undefined; line = rest.pop()) {
    const after = fenceAfter(line, fence);
    const isFresh = piece.length === (fence === undefined ? 0 : 1);
    if (fits(closed([...piece, line], after))) {
      piece.push(line);
      fence = after;
    } else if (!isFresh) {
      pieces.push(closed(piece, fence));
      piece = fence === undefined ? [] : [fence];
      rest.push(line);
    } else {
      const head = longestHead(line, (part) => fits(closed([...piece, part], fence)));
      pieces.push(closed([...piece, head], fence));
      piece = fence === undefined ? [] : [fence];
      if (head.length < line.length) rest.push(line.slice(head.length).replace(/^ /, ""));
    }
  }
  pieces.push(closed(piece, fence));
  return pieces.filter((each) => each.trim() !== "");
}

/** The line that opened the block the next line stands in. */
function fenceAfter(line: string, open: string | undefined): string | undefined {
  const mark = FENCE.exec(line)?.[1];
  if (mark === undefined) return open;
  if (open === undefined) return line;
  const opened = FENCE.exec(open)?.[1] ?? "";
  return mark.startsWith(opened) && line.trim() === mark ? undefined : open;
}

function closed(lines: readonly string[], fence: string | undefined): string {
  return (fence === undefined ? lines : [...lines, FENCE.exec(fence)?.[1] ?? "```"]).join("\n");
}

/** At least one character, so that there is always an end. */
function longestHead(line: string, fits: (head: string) => boolean): string {
  let low = 1;
  let high = line.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(line.slice(0, middle))) low = middle;
    else high = middle - 1;
  }
  const blank = line.lastIndexOf(" ", low);
  const cut = blank > low / 2 ? blank : low;
  // Not through the middle of a character.
  return /[\ud800-\udbff]$/.test(line.slice(0, cut))
    ? line.slice(0, Math.max(cut - 1, 2))
    : line.slice(0, cut);
}
