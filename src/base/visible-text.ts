/**
 * Everything that shows nothing, steers the terminal, reorders its surroundings or only looks like a blank:
 * control and format characters, unassigned and private ones, lone surrogates, blanks other than the ordinary one.
 */
const UNSEEN = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Such characters are written out: what a person reads is what is there. For one line, and for whatever is approved. */
export function visible(text: string): string {
  return text.replace(UNSEEN, spelledOut);
}

/**
 * What steers a terminal, hides or reorders the text around it. Text of several lines may hold emoji, tabs and blanks
 * of every kind; only this is a danger.
 */
export const STEERING =
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/gu;

/** For text of several lines: line breaks and tabs stay, what steers or hides is written out. */
export function visibleLines(text: string): string {
  return text.replace(STEERING, spelledOut);
}

/** For a terminal: colours stay as well. */
export function visibleWithColours(text: string): string {
  return text.replace(/(\x1b\[[\d;]*m|\r\n)|[^\r\x1b]+|[\r\x1b]/g, (piece, kept?: string) =>
    kept === undefined ? visibleLines(piece) : piece,
  );
}

/** A character by its number. */
export function spelledOut(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** What `stripControls` has nothing to do with, which is most text. */
const SUSPECT = /[^\t\n\x20-\x7e\xa1-\xac\xae-\xff]/;

// Introducers are left out of the payload class so that a row of them is not scanned again and again.
const STRING_SEQUENCE =
  /(?:\x1b[\]P^_X]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x90\x98\x9c-\x9f\n\r]{0,4096}(?:\x07|\x1b\\|\x9c)/g;
const UNFINISHED_OSC = /(?:\x1b\]|\x9d)(?:\d{1,4};)?/g;
const CSI = /(?:\x1b\[|\x9b)[0-?]{0,256}[ -/]{0,16}[@-~]?/g;
const OTHER_ESCAPE = /\x1b[ -/]{0,8}[0-~]?/g;

const OVERSTRIKE = /([^\n\x08])\x08\1/g;
const LINE_BREAK = /\r\n|[\r\v\f\x85\u2028\u2029]/g;
const HIDDEN =
  /(?!\u200c|\u200d|\ufe0e|\ufe0f)\p{Default_Ignorable_Code_Point}|[\x00-\x08\x0e-\x1f\x7f-\x9f\ufff9-\ufffb]/gu;
const JOINERS = /(?:\u200c|\u200d|\ufe0e|\ufe0f)+/g;
const LONE_SURROGATE = /\p{Surrogate}/gu;

/**
 * Leaves only what a reader would see: no terminal sequences, no characters that overwrite, reorder or hide
 * others. A lone carriage return becomes a line break, so that text "under" an overwritten line shows.
 */
export function stripControls(text: string): string {
  if (!SUSPECT.test(text)) return text;
  return text
    .replace(LONE_SURROGATE, "\ufffd")
    .replace(STRING_SEQUENCE, "")
    .replace(UNFINISHED_OSC, "")
    .replace(CSI, "")
    .replace(OTHER_ESCAPE, "")
    .replace(OVERSTRIKE, "$1")
    .replace(LINE_BREAK, "\n")
    .replace(HIDDEN, "")
    .replace(JOINERS, keepJoiners);
}

/** Joiners belong between letters of some scripts and inside emoji; between ASCII they only hide things. */
function keepJoiners(run: string, offset: number, text: string): string {
  const after = text.charCodeAt(offset + run.length);
  const followsForeign = offset > 0 && text.charCodeAt(offset - 1) > 0x7f;
  if (!followsForeign) return "";
  if (after > 0x7f) return run.slice(0, 2);
  return run.startsWith("\ufe0f") ? "\ufe0f" : "";
}
