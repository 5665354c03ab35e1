/**
 * Everything that shows nothing, steers the terminal, reorders its surroundings or only looks like a blank:
 * control and format characters, unassigned and private ones, lone surrogates, blanks other than the ordinary one.
 */
const UNSEEN = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Such characters are written out: what a person reads is what is there. */
export function visible(text: string): string {
  return text.replace(UNSEEN, spelledOut);
}

/** A character by its number. */
export function spelledOut(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

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
