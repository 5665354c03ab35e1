import { splitWords } from "../../search/lexical/split-words.js";
import { stem } from "../../search/lexical/stem.js";

interface Described {
  readonly name: string;
  readonly description: string;
}

/** From here on two descriptions are of the same thing. */
const SAME = 0.5;
/** Words that every description has. */
const COMMON = new Set(
  "a an and are as at be by do for from how if in into is it its not of on or so that the this to use used using when with you your skill"
    .split(" ")
    .map(stem),
);

/** The one that says most likely the same as the new one; undefined when it is new indeed. */
export function similarSkill<T extends Described>(fresh: Described, others: readonly T[]): T | undefined {
  const words = wordsOf(`${fresh.name} ${fresh.description}`);
  const names = wordsOf(fresh.name);
  let best: { readonly skill: T; readonly likeness: number } | undefined;
  for (const skill of others) {
    const isSameName = likeness(names, wordsOf(skill.name)) === 1;
    const found = isSameName ? 1 : likeness(words, wordsOf(`${skill.name} ${skill.description}`));
    if (found >= SAME && found > (best?.likeness ?? 0)) best = { skill, likeness: found };
  }
  return best?.skill;
}

/** What both have of what either has. */
function likeness(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  if (one.size === 0 || other.size === 0) return 0;
  const shared = [...one].filter((word) => other.has(word)).length;
  return shared / (one.size + other.size - shared);
}

function wordsOf(text: string): ReadonlySet<string> {
  const words = new Set<string>();
  const add = (word: string) => {
    const root = stem(word);
    if (!COMMON.has(root)) words.add(root);
  };
  splitWords(text.replaceAll("_", " "), { word: add, joined: () => {} });
  return words;
}
