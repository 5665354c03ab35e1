/** Longer words are one unknown piece, as in the vocabulary's own tokenizer. */
const LONGEST_WORD = 100;
const ACCENTS = /\p{Mn}/gu;
/** Neither seen nor separating: zero-width signs, control characters, what a broken encoding leaves behind. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\uFFFD]/gu;
const BLANKS = /[\t\n\r\p{Zs}\u2028\u2029]+/gu;
const CHINESE =
  "\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\u{20000}-\\u{2a6df}\\u{2a700}-\\u{2ceaf}\\u{2f800}-\\u{2fa1f}";
/** The vocabulary holds every ASCII sign as a piece of its own, and Chinese by the character. */
const ALONE = new RegExp(`[!-/:-@\\[-\`{-~\\p{P}${CHINESE}]|[^\\s!-/:-@\\[-\`{-~\\p{P}${CHINESE}]+`, "gu");

export interface Wordpieces {
  /** Numbers of the pieces with the begin and end marks, at most `limit` in all. */
  encode(text: string, limit: number): readonly number[];
  /** Numbers of the pieces alone. */
  pieces(text: string, limit: number): readonly number[];
  /** Share of a text's letters that stand in whole Latin words of the vocabulary: 1 in plain English, little elsewhere. */
  familiarity(text: string): number;
}

/** Splits text the way the model learnt it: lower case, no accents, longest known piece first. */
export function readWordpieces(vocabulary: string): Wordpieces {
  const numbers = new Map<string, number>();
  for (const [number, piece] of vocabulary.split("\n").entries()) {
    if (piece !== "") numbers.set(piece.replace(/\r$/, ""), number);
  }
  const begin = required(numbers, "[CLS]");
  const end = required(numbers, "[SEP]");
  const unknown = required(numbers, "[UNK]");
  const known = new Map<string, readonly number[]>();

  function piecesOf(word: string): readonly number[] {
    const before = known.get(word);
    if (before !== undefined) return before;
    const pieces = splitWord(word, numbers) ?? [unknown];
    if (known.size < 50_000) known.set(word, pieces);
    return pieces;
  }

  function pieces(text: string, limit: number): readonly number[] {
    const found: number[] = [];
    for (const word of wordsOf(text)) {
      for (const piece of piecesOf(word)) {
        if (found.length === limit) return found;
        found.push(piece);
      }
    }
    return found;
  }

  function familiarity(text: string): number {
    let all = 0;
    let known = 0;
    for (const word of wordsOf(text)) {
      if (!/\p{L}/u.test(word)) continue;
      all += word.length;
      if (/^[a-z]{2,}$/.test(word) && numbers.has(word)) known += word.length;
    }
    return all === 0 ? 0 : known / all;
  }

  return { pieces, familiarity, encode: (text, limit) => [begin, ...pieces(text, limit - 2), end] };
}

function wordsOf(text: string): readonly string[] {
  const plain = text.replace(BLANKS, " ").replace(INVISIBLE, "").toLowerCase().normalize("NFD");
  return plain.replace(ACCENTS, "").match(ALONE) ?? [];
}

/** Pieces hold whole characters, so that half of one in a slice finds nothing. */
function splitWord(word: string, numbers: ReadonlyMap<string, number>): readonly number[] | undefined {
  if (word.length > LONGEST_WORD && [...word].length > LONGEST_WORD) return undefined;
  const pieces: number[] = [];
  let from = 0;
  while (from < word.length) {
    let to = word.length;
    let number: number | undefined;
    for (; to > from; to -= 1) {
      const piece = word.slice(from, to);
      number = numbers.get(from === 0 ? piece : `##${piece}`);
      if (number !== undefined) break;
    }
    if (number === undefined) return undefined;
    pieces.push(number);
    from = to;
  }
  return pieces;
}

function required(numbers: ReadonlyMap<string, number>, piece: string): number {
  const number = numbers.get(piece);
  if (number === undefined) throw new Error(`the vocabulary has no ${piece}`);
  return number;
}
