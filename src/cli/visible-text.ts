import { spelledOut, visible } from "../tool/visible-text.js";

export { spelledOut, visible };

/** For a terminal: new lines, tabs and colours stay, whatever else would steer it is written out. */
export function calm(text: string): string {
  return text.replace(/\x1b\[[\d;]*m|[\n\t]|\r\n|[^\n\t\r\x1b]+|[\r\x1b]/g, (piece) =>
    /^(?:\x1b\[[\d;]*m|[\n\t]|\r\n)$/.test(piece) ? piece : harmless(piece),
  );
}

/** A result may hold emoji and blanks of every kind; only what steers the terminal or reorders text is a danger. */
function harmless(text: string): string {
  return text.replace(
    /[\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/gu,
    spelledOut,
  );
}
