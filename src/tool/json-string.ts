const BACKSLASH = 0x5c;

/**
 * Index of the quote that closes the string opened at `start`, or the length of the text. Found with
 * indexOf because long strings are the usual bulk of a text.
 */
export function endOfString(text: string, start: number): number {
  let index = start;
  for (;;) {
    index = text.indexOf('"', index + 1);
    if (index === -1) return text.length;
    let backslashes = 0;
    while (text.charCodeAt(index - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return index;
  }
}
