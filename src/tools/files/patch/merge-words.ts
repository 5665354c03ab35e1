import { diffArrays } from "diff";
import { plainText } from "./unicode.js";

const TOKEN = /\.\.\.|…|\n|[^\S\n]+|[\p{L}\p{M}\p{N}_]+|./gsu;

interface Hunk {
  /** Tokens [from, to) of the base … */
  readonly from: number;
  readonly to: number;
  /** … become this. */
  readonly text: string;
}

/**
 * Makes the change that leads from `base` to `theirs` in `ours`, which is the same text in another spelling:
 * words that the change leaves alone stay as they are in `ours`. Undefined when both changed the same words.
 */
export function mergeWords(texts: {
  readonly base: string;
  readonly ours: string;
  readonly theirs: string;
}): string | undefined {
  const base = tokens(texts.base);
  const spelling = [...base];
  const ourHunks = hunks(base, tokens(texts.ours), (at, token) => {
    spelling[at] = token;
  });
  const theirHunks = hunks(base, tokens(texts.theirs));
  if (theirHunks.some((their) => ourHunks.some((our) => clash(our, their)))) return undefined;
  return applied(spelling, [...ourHunks, ...theirHunks]);
}

function tokens(text: string): string[] {
  return text.match(TOKEN) ?? [];
}

/** The differences between two lists of tokens; tokens that mean the same are told one by one. */
function hunks(base: string[], other: string[], onSame?: (at: number, token: string) => void): Hunk[] {
  const found: Hunk[] = [];
  const changes = diffArrays(base, other, onSame === undefined ? {} : { comparator: meansTheSame });
  let from = 0;
  let otherAt = 0;
  let open: { from: number; to: number; text: string } | undefined;
  for (const { value, added, removed } of changes) {
    if (!added && !removed) {
      if (open !== undefined) found.push(open);
      open = undefined;
      for (let index = 0; index < value.length; index++) onSame?.(from + index, other[otherAt + index] ?? "");
      from += value.length;
      otherAt += value.length;
      continue;
    }
    open ??= { from, to: from, text: "" };
    if (removed) {
      from += value.length;
      open.to = from;
    } else {
      open.text += value.join("");
      otherAt += value.length;
    }
  }
  if (open !== undefined) found.push(open);
  return found;
}

function meansTheSame(left: string, right: string): boolean {
  if (left === right) return true;
  if (left.includes("\n") || right.includes("\n")) return false;
  const [plainLeft, plainRight] = [plainText(left).text, plainText(right).text];
  return plainLeft === plainRight || (plainLeft.trim() === "" && plainRight.trim() === "");
}

function clash(our: Hunk, their: Hunk): boolean {
  if (our.from === our.to || their.from === their.to) {
    // An insertion clashes with what is inserted at the same point or changed around it.
    return our.from === our.to && their.from === their.to
      ? our.from === their.from
      : our.from === our.to
        ? their.from < our.from && our.from < their.to
        : our.from < their.from && their.from < our.to;
  }
  return our.from < their.to && their.from < our.to;
}

function applied(spelling: readonly string[], changes: readonly Hunk[]): string {
  // An insertion in front of a token comes before the change of that token.
  const ordered = changes.toSorted((left, right) => left.from - right.from || left.to - right.to);
  let result = "";
  let position = 0;
  for (const { from, to, text } of ordered) {
    result += spelling.slice(position, from).join("") + text;
    position = Math.max(position, to);
  }
  return result + spelling.slice(position).join("");
}
