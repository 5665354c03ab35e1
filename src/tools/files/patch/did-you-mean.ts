import { splitLines } from "./regions.js";
import { similarityTo } from "./similarity.js";

const MAX_SUGGESTIONS = 3;
const MIN_SIMILARITY = 0.4;
const MAX_LINES_COMPARED = 50_000;
const MAX_LINE_COMPARED = 400;
const MAX_LINE_SHOWN = 160;

/** Lines of the file that resemble what was looked for, as "12| text". */
export function similarLines(text: string, pattern: string): string[] {
  const wanted = pattern
    .split("\n")
    .map((line) => line.trim())
    .reduce((longest, line) => (line.length > longest.length ? line : longest), "");
  const likeness = similarityTo(wanted.slice(0, MAX_LINE_COMPARED));
  return splitLines(text)
    .slice(0, MAX_LINES_COMPARED)
    .map((line, index) => {
      const score = likeness(line.text.trim().slice(0, MAX_LINE_COMPARED));
      return { number: index + 1, text: line.text, score };
    })
    .filter((line) => line.score >= MIN_SIMILARITY)
    .sort((left, right) => right.score - left.score)
    .slice(0, MAX_SUGGESTIONS)
    .map(({ number, text: line }) => `${number}| ${line.slice(0, MAX_LINE_SHOWN)}`);
}
