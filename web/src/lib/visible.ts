/** Stricter than elsewhere: whoever approves must see every sign, also what only looks like a blank. */
const UNSEEN = /(?![\n\t ])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu;

export function isUnseen(sign: string): boolean {
  UNSEEN.lastIndex = 0;
  return UNSEEN.test(sign);
}

/** Signs that steer or hide text, written out as `\u{202e}`. Use it for every text that comes from outside. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (sign) => `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`);
}

/** The same on one line. */
export function visibleLine(text: string): string {
  return visible(text.replace(/\s*\n\s*/g, " ⏎ "));
}
