export { createLexicalIndex, type LexicalScores, type WordIndex } from "./lexical-index.js";
export { splitRequest } from "./split-request.js";
