import { splitRequest } from "../lexical/index.js";

/** Each part is compared with many tools, so neighbours are joined when there are more. */
const MOST_PARTS = 8;
const FEWEST_WORDS = 3;
const LONGEST_REQUEST = 2_000;
/** In characters: of a longer request the whole says little that its parts do not say better. */
const LONGEST_WHOLE = 200;

export interface SearchRequest {
  /** The whole request first, unless it is long, then its parts when it has several. */
  readonly texts: readonly string[];
  readonly hasWhole: boolean;
}

/** Who asks for several things in one breath wants a tool for each of them. */
export function readRequest(query: string): SearchRequest {
  const whole = query.slice(0, LONGEST_REQUEST).replace(/\s+/g, " ").trim();
  const parts = splitRequest(whole).filter((part) => part.split(/\s+/).length >= FEWEST_WORDS);
  if (parts.length < 2) return { texts: [whole], hasWhole: true };
  const hasWhole = whole.length <= LONGEST_WHOLE;
  return { texts: [...(hasWhole ? [whole] : []), ...joined(parts)], hasWhole };
}

function joined(parts: readonly string[]): readonly string[] {
  const together = Math.ceil(parts.length / MOST_PARTS);
  if (together === 1) return parts;
  const groups: string[] = [];
  for (let from = 0; from < parts.length; from += together)
    groups.push(parts.slice(from, from + together).join(", "));
  return groups;
}
