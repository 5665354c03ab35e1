export { createLexicalIndex, type LexicalScores, type WordIndex } from "./lexical-index.js";
export type { PartScores } from "./part-scorer.js";
export { splitRequest } from "./split-request.js";
