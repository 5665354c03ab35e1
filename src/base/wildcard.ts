/** What one position of a pattern takes: a character, any character, a run of them, or one of a set. */
export type Token =
  | { readonly kind: "one"; readonly character: string }
  | { readonly kind: "any" }
  | { readonly kind: "run" }
  | {
      readonly kind: "set";
      readonly negated: boolean;
      readonly ranges: readonly (readonly [string, string])[];
    };

/** `*`, `?`, `[a-z]`, `[!a-z]` and `\` before a character that is meant as it is. An open `[` is a plain one. */
export function readTokens(pattern: string): readonly Token[] {
  const characters = [...pattern];
  const tokens: Token[] = [];
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at] ?? "";
    if (character === "\\" && at + 1 < characters.length) {
      at += 1;
      tokens.push({ kind: "one", character: characters[at] ?? "" });
    } else if (character === "?") tokens.push({ kind: "any" });
    else if (character === "*") {
      if (tokens.at(-1)?.kind !== "run") tokens.push({ kind: "run" });
    } else {
      const set = character === "[" ? readSet(characters, at) : undefined;
      if (set !== undefined) at = set.end;
      tokens.push(set?.token ?? { kind: "one", character });
    }
  }
  return tokens;
}

function readSet(
  characters: readonly string[],
  start: number,
): { readonly token: Token; readonly end: number } | undefined {
  const negated = characters[start + 1] === "!" || characters[start + 1] === "^";
  const first = start + (negated ? 2 : 1);
  // A "]" right at the start belongs to the set.
  const end = characters.indexOf("]", first + 1);
  if (end === -1) return undefined;
  const ranges: (readonly [string, string])[] = [];
  for (let at = first; at < end; at += 1) {
    const low = characters[at] ?? "";
    const isRange = characters[at + 1] === "-" && at + 2 < end;
    ranges.push([low, isRange ? (characters[at + 2] ?? low) : low]);
    if (isRange) at += 2;
  }
  return { token: { kind: "set", negated, ranges }, end };
}

export function tokensMatch(tokens: readonly Token[], text: string): boolean {
  return sequenceMatches(tokens, [...text], CHARACTERS);
}

/** What the parts of a pattern are: some take any run of items, the others one item each. */
export interface SequenceRules<Part, Item> {
  isRun(part: Part): boolean;
  takes(part: Part, item: Item): boolean;
}

const CHARACTERS: SequenceRules<Token, string> = { isRun: ({ kind }) => kind === "run", takes };

/** Greedy with one point to come back to: time grows with pattern × items and never worse. */
export function sequenceMatches<Part, Item>(
  parts: readonly Part[],
  items: readonly Item[],
  { isRun, takes }: SequenceRules<Part, Item>,
): boolean {
  let part = 0;
  let at = 0;
  let run = -1;
  let runAt = 0;
  while (at < items.length) {
    const current = part < parts.length ? (parts[part] as Part) : undefined;
    if (current !== undefined && isRun(current)) {
      run = part;
      runAt = at;
      part += 1;
    } else if (current !== undefined && takes(current, items[at] as Item)) {
      part += 1;
      at += 1;
    } else if (run !== -1) {
      part = run + 1;
      runAt += 1;
      at = runAt;
    } else return false;
  }
  while (part < parts.length && isRun(parts[part] as Part)) part += 1;
  return part === parts.length;
}

function takes(token: Token, character: string): boolean {
  switch (token.kind) {
    case "one":
      return token.character === character;
    case "set":
      return token.ranges.some(([low, high]) => low <= character && character <= high) !== token.negated;
    default:
      return true;
  }
}

/** `*` and `?` over plain text: permissions, commands. */
export function wildcardMatches(pattern: string, text: string): boolean {
  if (pattern === "*" || pattern === text) return true;
  return /[*?]/.test(pattern) && tokensMatch(wildcardTokens(pattern), text);
}

function wildcardTokens(pattern: string): readonly Token[] {
  return [...pattern].map((character) =>
    character === "*" ? { kind: "run" } : character === "?" ? { kind: "any" } : { kind: "one", character },
  );
}
