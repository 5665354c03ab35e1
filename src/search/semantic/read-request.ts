import { splitRequest } from "../lexical/index.js";

/** Each wish is compared with many tools, so neighbours are joined when there are more. */
const MOST_WISHES = 8;
const FEWEST_WORDS = 3;
const LONGEST_REQUEST = 2_000;

/** Who asks for several things in one breath wants a tool for each of them. One wish is the request as it is. */
export function wishesOf(query: string): readonly string[] {
  const whole = query.slice(0, LONGEST_REQUEST).replace(/\s+/g, " ").trim();
  const parts = splitRequest(whole).filter((part) => part.split(/\s+/).length >= FEWEST_WORDS);
  return parts.length < 2 ? [whole] : joined(parts);
}

function joined(parts: readonly string[]): readonly string[] {
  const together = Math.ceil(parts.length / MOST_WISHES);
  if (together === 1) return parts;
  const groups: string[] = [];
  for (let from = 0; from < parts.length; from += together)
    groups.push(parts.slice(from, from + together).join(", "));
  return groups;
}
