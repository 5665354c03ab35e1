export { createLexicalIndex, type LexicalScores, type WordIndex } from "./lexical-index.js";
