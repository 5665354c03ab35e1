interface FuzzyMatch {
  readonly item: string;
}

interface FuzzyFinder {
  find(query: string): Promise<readonly FuzzyMatch[]>;
}

/** The part of fzf used here; its own type declarations do not resolve for ES modules. */
interface FuzzyModule {
  readonly AsyncFzf: new (
    items: readonly string[],
    options: {
      readonly limit: number;
      readonly casing: "case-insensitive";
      readonly forward: boolean;
      readonly tiebreakers: readonly ((left: FuzzyMatch, right: FuzzyMatch) => number)[];
    },
  ) => FuzzyFinder;
}

/** Items that hold the letters of the query in order, best first. Equal scores: shorter, then alphabetical. */
export async function rankFuzzily(
  items: readonly string[],
  query: string,
  limit = Number.POSITIVE_INFINITY,
): Promise<string[]> {
  const { AsyncFzf } = (await import("fzf")) as unknown as FuzzyModule;
  const finder = new AsyncFzf(items, {
    limit,
    casing: "case-insensitive",
    // From the end: people type the file name more often than its folders.
    forward: false,
    tiebreakers: [
      (left, right) => left.item.length - right.item.length,
      (left, right) => (left.item < right.item ? -1 : 1),
    ],
  });
  // Between words anything may stand, a folder separator too.
  const matches = await finder.find(query.replace(/\s+/g, ""));
  return matches.map((match) => match.item);
}
