// What somebody types who looks for one certain file, made mechanically in four ways.
import { randomNumbers } from "./random.mjs";

export const CLASSES = ["name", "dir+name", "abbreviation", "typo"];

const LETTERS = "abcdefghijklmnopqrstuvwxyz";

/** `count` of each class: { target, query }. */
export function makeQueries({ paths, seed, count }) {
  const random = randomNumbers(seed);
  return Object.fromEntries(
    CLASSES.map((kind) => {
      const made = [];
      while (made.length < count) {
        const target = random.pick(paths);
        const query = MAKERS[kind](target, random);
        if (query !== undefined) made.push({ target, query });
      }
      return [kind, made];
    }),
  );
}

const MAKERS = {
  /** The base name with or without its extension, or a piece of it. */
  name(path, random) {
    const base = baseOf(path);
    const stem = stemOf(base);
    const way = random.next();
    if (way < 0.25) return base;
    if (way < 0.5) return stem.length < 3 ? undefined : stem;
    if (stem.length < 5) return undefined;
    const length = Math.max(4, Math.ceil(stem.length * (0.5 + random.next() * 0.4)));
    const start = random.below(stem.length - length + 1);
    return stem.slice(start, start + length);
  },

  /** A folder, or one word of it, and the base name. */
  "dir+name"(path, random) {
    const folders = path.split("/").slice(0, -1);
    const words = wordsOf(random.pick(folders) ?? "");
    const stem = stemOf(baseOf(path));
    if (words.length === 0 || stem.length < 3) return undefined;
    if (random.next() < 0.5) return `${random.pick(words)} ${stem}`;
    return `${folders.at(-1)}/${stem}`;
  },

  /** First letters of the words of a name: one of each where there are at least three, else up to three. */
  abbreviation(path, random) {
    const words = wordsOf(stemOf(baseOf(path)));
    const initials = random.next() < 0.5;
    if (words.length < (initials ? 3 : 2)) return undefined;
    return words
      .map((word) => word.slice(0, initials ? 1 : 1 + random.below(3)))
      .join("")
      .toLowerCase();
  },

  /** A letter left out, added, mistaken or swapped with its neighbour. */
  typo(path, random) {
    const stem = stemOf(baseOf(path)).toLowerCase();
    if (stem.length < 5) return undefined;
    const at = random.below(stem.length - 1);
    const wrong = random.pick([...LETTERS].filter((letter) => letter !== stem[at]));
    const [before, after] = [stem.slice(0, at), stem.slice(at + 1)];
    const slips = [
      before + after,
      before + wrong + stem.slice(at),
      before + wrong + after,
      before + stem[at + 1] + stem[at] + stem.slice(at + 2),
    ];
    const typed = random.pick(slips);
    return typed === stem ? undefined : typed;
  },
};

function baseOf(path) {
  return path.slice(path.lastIndexOf("/") + 1);
}

function stemOf(base) {
  return base.replace(/(?<=.)\.[^.]*$/, "");
}

/** "readFile-utf8" → read, File, utf8 */
function wordsOf(text) {
  return text.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+\d*|\d+/g) ?? [];
}
