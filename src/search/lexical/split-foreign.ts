/** Scripts that put no spaces between words, and Hangul, whose endings hide the word. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]/u;

/** A run of letters that are not all English: pairs of characters for scripts without spaces, else the word. */
export function splitForeignRun(run: string): readonly string[] {
  const pieces: string[] = [];
  let spaced = "";
  let unspaced: string[] = [];
  const flush = () => {
    if (spaced !== "") pieces.push(spaced);
    if (unspaced.length === 1) pieces.push(unspaced.join(""));
    for (let at = 1; at < unspaced.length; at += 1) pieces.push(`${unspaced[at - 1]}${unspaced[at]}`);
    spaced = "";
    unspaced = [];
  };
  for (const character of run) {
    const isUnspaced = UNSPACED.test(character);
    if (isUnspaced ? spaced !== "" : unspaced.length > 0) flush();
    if (isUnspaced) unspaced.push(character);
    else spaced += /[\x00-\x7f]/.test(character) ? character : character.toLowerCase();
  }
  flush();
  return pieces;
}
