/** One simple command as its words, quoting undone as far as plain text allows. */
export function wordsOf(text: string): readonly string[] {
  const words: string[] = [];
  let word = "";
  let begun = false;
  let quote = "";
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? "";
    if (quote !== "") {
      if (character === quote) quote = "";
      else if (quote === '"' && character === "\\" && /["\\$`]/.test(text[at + 1] ?? "")) {
        at += 1;
        word += text[at] ?? "";
      } else word += character;
    } else if (character === "'" || character === '"') {
      quote = character;
      begun = true;
    } else if (character === "\\" && at + 1 < text.length) {
      at += 1;
      word += text[at] === "\n" ? "" : (text[at] ?? "");
      begun = true;
    } else if (/\s/.test(character)) {
      if (begun || word !== "") words.push(word);
      word = "";
      begun = false;
    } else word += character;
  }
  if (begun || word !== "") words.push(word);
  return words;
}

/** Whether this character stands outside of every quote somewhere in the text. */
export function hasUnquoted(text: string, wanted: RegExp): boolean {
  return wanted.test(text.replace(/\\[\s\S]|'[^']*'|"(?:\\[\s\S]|[^"\\])*"/g, "x"));
}

/** Splits a line at `;`, `&`, `|` and line ends outside of quotes; for when no better analysis is at hand. */
export function splitCommands(line: string): readonly string[] {
  const parts: string[] = [];
  let part = "";
  for (const [piece] of line.matchAll(/\\[\s\S]|'[^']*'|"(?:\\[\s\S]|[^"\\])*"|[;&|\n]+|[\s\S]/g)) {
    if (/^[;&|\n]+$/.test(piece)) {
      parts.push(part);
      part = "";
    } else part += piece;
  }
  return [...parts, part].map((text) => text.trim()).filter((text) => text !== "");
}

/** The last segment of a program's path, in lower case: `/usr/bin/Sudo` is `sudo`. */
export function programName(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1).toLowerCase();
}

/** Whether the word sets a variable for the command behind it. */
export function isAssignment(word: string): boolean {
  return /^[A-Za-z_]\w*\+?=/.test(word);
}
