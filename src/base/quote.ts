/** Shell text that stands for exactly these characters, as one word. */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** The same, as a person would write it: quoted only where a shell would read something else without. */
export function quoteIfNeeded(text: string): string {
  return PLAIN_WORD.test(text) ? text : quoteForShell(text);
}

/** No assignment (`A=b`) and nothing that zsh expands (`=program`), as both would mean something in front of a line. */
const PLAIN_WORD = /^(?![A-Za-z_]\w*\+?=)[\w@%+:,./-][\w@%+=:,./-]*$/;

/** What a letter behind a backslash stands for in `$'…'`, `echo -e` and `printf`. */
export const ESCAPED_LETTERS: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  e: "\x1b",
  E: "\x1b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};
