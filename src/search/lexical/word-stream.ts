import type { SearchableTool } from "../types.js";
import { growingInts } from "./growing-numbers.js";
import { splitWords } from "./split-words.js";
import { FIELDS, fieldsOf } from "./tool-fields.js";
import { NO_TERM, type Vocabulary } from "./vocabulary.js";

/** All words of a catalogue one after the other, as terms. */
export interface WordStream {
  /** A joined spelling is stored as `~term`, so that neighbours and lengths can leave it out. */
  readonly terms: Int32Array;
  /** Where field `f` of tool `t` ends: `ends[t * FIELDS.length + f]`. It starts where the one before ends. */
  readonly ends: Int32Array;
}

export function readWords(tools: readonly SearchableTool[], vocabulary: Vocabulary): WordStream {
  const terms = growingInts();
  const ends = new Int32Array(tools.length * FIELDS.length);
  const sink = {
    word(word: string) {
      const term = vocabulary.add(word);
      if (term !== NO_TERM) terms.push(term);
    },
    joined(word: string) {
      const term = vocabulary.add(word);
      if (term !== NO_TERM) terms.push(~term);
    },
  };
  let at = 0;
  for (const tool of tools) {
    for (const texts of fieldsOf(tool)) {
      for (const text of texts) splitWords(text, sink);
      ends[at] = terms.length;
      at += 1;
    }
  }
  return { terms: terms.view().slice(), ends };
}
