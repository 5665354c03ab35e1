import { similarityTo } from "./similarity.js";

/** Above it a line is the other one, changed; below it just stands at its place. */
const MIN_RESEMBLANCE = 0.5;

export function indentOf(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}

/** The same lines as sent and as the file has them show how indentation differs. */
export interface IndentationEvidence {
  readonly sent: readonly string[];
  readonly found: readonly string[];
  readonly wanted: readonly string[];
  /** One level of indentation in the file, where that can be told. */
  readonly unit: string | undefined;
  /** The first line begins inside a line of the file, so that its blanks are no indentation. */
  readonly insideLine: boolean;
}

/**
 * The indentation that line `at` of the new text must have in the file; undefined when that is unclear.
 * `counterpart` is the old line it replaces.
 */
export type Reindent = (at: number, counterpart?: number) => string | undefined;

interface Pair {
  readonly sent: string;
  readonly found: string;
}

/** A line that ends like this may be followed by a deeper one. */
export const OPENER = /([{([:,=>\\&|+?<]|\b(then|do|else|begin|of|in|where|return))\s*$/;

export function reindenting(evidence: IndentationEvidence): Reindent {
  const { sent, found, wanted, insideLine } = evidence;
  const pairs = new Map<number, Pair>();
  for (const [index, line] of sent.entries()) {
    const other = found[index];
    if (other === undefined || line.trim() === "" || other.trim() === "") continue;
    if (index > 0 || !insideLine) pairs.set(index, { sent: indentOf(line), found: indentOf(other) });
  }
  const indents = wanted.map(indentOf);
  const { translate, firstIsStripped } = translation(pairs, evidence);
  const first = pairs.get(0);
  /** Every line that was sent with this indentation has the same one in the file. */
  const isClear = (indent: string) =>
    new Set([...pairs.values()].flatMap((pair) => (pair.sent === indent ? [pair.found] : []))).size <= 1;
  const resembles = (at: number, old: number) =>
    similarityTo((sent[old] ?? "").trim())((wanted[at] ?? "").trim()) >= MIN_RESEMBLANCE;
  return (at, counterpart) => {
    const indent = indents[at] ?? "";
    if (wanted[at]?.trim() === "" || (at === 0 && insideLine)) return indent;
    const replaced = counterpart === undefined ? undefined : pairs.get(counterpart);
    if (replaced?.sent === indent && (isClear(indent) || resembles(at, counterpart ?? 0)))
      return replaced.found;
    if (at === 0 && first?.sent === indent && (firstIsStripped || isClear(indent))) return first.found;
    return translate(indent);
  };
}

type Translate = (indent: string) => string | undefined;

const asSent: Translate = (indent) => indent;

interface Translation {
  readonly translate: Translate;
  /** The others show that the first line was sent without its indentation. */
  readonly firstIsStripped: boolean;
}

function translation(pairs: ReadonlyMap<number, Pair>, evidence: IndentationEvidence): Translation {
  const plainly = (translate: Translate) => ({ translate, firstIsStripped: false });
  if ([...pairs.values()].every(isSame)) return plainly(asSent);
  // A first line that was sent without any indentation may have lost it.
  const first = pairs.get(0)?.sent === "" ? pairs.get(0) : undefined;
  const rest = [...pairs.values()].filter((pair) => pair !== first);
  if (rest.length === 0) return plainly(first === undefined ? asSent : fromOneLine(first, evidence));
  const known = knownIndents(rest);
  const unclear = [...known.values()].some((all) => all.size > 1);
  const linear = unclear ? undefined : linearFit(rest, first, evidence);
  const unlike =
    first !== undefined &&
    known.get(first.sent)?.has(first.found) !== true &&
    linear?.(first.sent) !== first.found;
  const translate: Translate = (indent) => {
    if (unlike && indent === first.sent) return undefined;
    const seen = known.get(indent);
    if (seen !== undefined) return seen.size === 1 ? [...seen][0] : undefined;
    return linear?.(indent);
  };
  return { translate, firstIsStripped: unlike && linear !== undefined && known.size > 1 };
}

function isSame({ sent, found }: Pair): boolean {
  return sent === found;
}

function knownIndents(pairs: readonly Pair[]): ReadonlyMap<string, ReadonlySet<string>> {
  const known = new Map<string, Set<string>>();
  for (const { sent, found } of pairs) known.set(sent, (known.get(sent) ?? new Set()).add(found));
  return known;
}

/** Only a stripped line shows how the file is indented: others may be meant relative to it or as they stand. */
function fromOneLine(only: Pair, evidence: IndentationEvidence): Translate {
  const [ratio] = ratiosOfUnits([only], evidence);
  const relative = ratio === undefined ? undefined : linear([only], evidence, ratio);
  const lines = evidence.wanted.filter((line) => line.trim() !== "");
  const deeper = lines.findIndex((line) => indentOf(line) !== "");
  const opened = deeper > 0 && OPENER.test(lines[deeper - 1] ?? "");
  const absolute = deeper > 0 && !opened && indentOf(lines[deeper] ?? "") === only.found;
  return (indent) => {
    if (indent === "") return absolute ? undefined : only.found;
    return absolute ? indent : opened || deeper === 0 ? relative?.(indent) : undefined;
  };
}

/** The rule that explains all lines but perhaps the first one. */
function linearFit(
  rest: readonly Pair[],
  first: Pair | undefined,
  evidence: IndentationEvidence,
): Translate | undefined {
  if (rest.every(isSame)) return asSent;
  const all = first === undefined ? rest : [first, ...rest];
  const ratios = ratiosOfUnits(all, evidence);
  const fits = [all, rest].flatMap((pairs) => ratios.map((ratio) => linear(pairs, evidence, ratio)));
  return fits.find((fit) => fit !== undefined);
}

/** found = sent × ratio + offset, if that holds for every pair. */
function linear(pairs: readonly Pair[], evidence: IndentationEvidence, ratio: number): Translate | undefined {
  const [base] = pairs;
  const kind = kindOf(pairs.map(({ found }) => found)) ?? evidence.unit?.[0];
  if (base === undefined || kind === undefined) return undefined;
  const offset = base.found.length - base.sent.length * ratio;
  if (!pairs.every(({ sent, found }) => found.length === sent.length * ratio + offset)) return undefined;
  return (indent) => {
    const width = indent.length * ratio + offset;
    if (width < 0) return undefined;
    const whole = Math.floor(width);
    const remainder = indent.length - (whole - offset) / ratio;
    return kind.repeat(whole) + (kind === "\t" ? " ".repeat(Math.round(remainder)) : "");
  };
}

/** How wide one character of sent indentation may be in the file, the likeliest first. */
function ratiosOfUnits(pairs: readonly Pair[], evidence: IndentationEvidence): readonly number[] {
  const sentIndents = [...evidence.sent, ...evidence.wanted]
    .filter((line) => line.trim() !== "")
    .map((line) => indentOf(line));
  const foundIndents = pairs.map(({ found }) => found);
  if (hasMixed(sentIndents) || hasMixed(foundIndents)) return [];
  const sentKind = kindOf(sentIndents);
  const foundKind = kindOf(foundIndents) ?? evidence.unit?.[0];
  const sentStep = sentKind === "\t" ? 1 : smallestStep(sentIndents);
  if (sentStep === undefined) return sentKind === foundKind ? [1] : [];
  if (foundKind === "\t") return [1 / sentStep];
  const ofFile = evidence.unit === "\t" ? undefined : evidence.unit?.length;
  return [ofFile, smallestStep(foundIndents)].flatMap((step) =>
    step === undefined ? [] : [step / sentStep],
  );
}

function hasMixed(indents: readonly string[]): boolean {
  return indents.some((indent) => indent.includes(" ")) && indents.some((indent) => indent.includes("\t"));
}

/** The blank that indentation is made of; undefined when there is none. */
function kindOf(indents: readonly string[]): string | undefined {
  return indents.find((indent) => indent !== "")?.[0];
}

function smallestStep(indents: readonly string[]): number | undefined {
  const widths = [...new Set(indents.map((indent) => indent.length))].sort((left, right) => left - right);
  const steps = widths.slice(1).map((width, index) => width - (widths[index] ?? 0));
  return steps.length === 0 ? undefined : Math.min(...steps);
}

/** One level of indentation in a file: a tab, or the step that is taken most often. */
export function indentationUnit(lines: readonly string[]): string | undefined {
  const steps = new Map<string, number>();
  let previous = "";
  for (const line of lines) {
    if (line.trim() === "") continue;
    const indent = indentOf(line);
    if (indent.length > previous.length && indent.startsWith(previous)) {
      const step = indent.slice(previous.length);
      const unit = step.includes("\t") ? "\t" : step;
      steps.set(unit, (steps.get(unit) ?? 0) + 1);
    }
    previous = indent;
  }
  return [...steps].sort(([, left], [, right]) => right - left)[0]?.[0];
}
