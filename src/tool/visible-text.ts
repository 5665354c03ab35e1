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
