import type { JournalRow } from "../call/journal.js";

export type EvidenceKind = "type" | "name" | "null" | "wrapped" | "missing" | "unknown" | "value";

/** One way in which a call got its arguments wrong. Values are left out. */
export interface Evidence {
  readonly kind: EvidenceKind;
  readonly parameter: string;
  /** What it was called instead; what was expected. */
  readonly detail?: string | undefined;
  /** True where the call could be mended. */
  readonly repaired: boolean;
}

/** What a row tells about the arguments of its call, from the notes of the decoder and its complaints. */
export function evidenceOf(row: JournalRow): readonly Evidence[] {
  const notes = row.repairs === undefined ? [] : listOf(row.repairs);
  const complaints = row.error_code === "invalid_arguments" ? complaintsIn(row.error_message ?? "") : [];
  return [...notes.flatMap(fromRepair), ...complaints.flatMap(fromComplaint)];
}

function listOf(json: string): readonly string[] {
  try {
    const read: unknown = JSON.parse(json);
    return Array.isArray(read) ? read.filter((each) => typeof each === "string") : [];
  } catch {
    return [];
  }
}

const PATH = "[\\w.[\\]-]+";
const RENAMED = new RegExp(`^(${PATH}) → (${PATH})$`);
const LEFT_OUT = new RegExp(`^(${PATH}): null → left out$`);
const CONVERTED = new RegExp(`^(${PATH}): .* → `, "s");

function fromRepair(note: string): readonly Evidence[] {
  const [, written, meant] = RENAMED.exec(note) ?? [];
  if (written !== undefined && meant !== undefined)
    return [{ kind: "name", parameter: meant, detail: written, repaired: true }];
  const [, needless] = LEFT_OUT.exec(note) ?? [];
  if (needless !== undefined) return [{ kind: "null", parameter: needless, repaired: true }];
  if (/: unwrapped$|^arguments: /.test(note)) {
    return [{ kind: "wrapped", parameter: "arguments", repaired: true }];
  }
  const [, converted] = CONVERTED.exec(note) ?? [];
  return converted === undefined
    ? []
    : [{ kind: "type", parameter: withoutPlaces(converted), repaired: true }];
}

/** Behind "Invalid arguments for NAME: "; a value that holds "; " is cut apart and its pieces mean nothing. */
function complaintsIn(message: string): readonly string[] {
  return message.replace(/^Invalid arguments for [^:]+: /, "").split("; ");
}

const MISSING = new RegExp(`^(${PATH}): required, but missing`);
const UNKNOWN = new RegExp(`^(${PATH}): no such parameter`);
const EXPECTED = new RegExp(`^(${PATH}): expected (.{1,120}), got `, "s");

function fromComplaint(complaint: string): readonly Evidence[] {
  const [, missing] = MISSING.exec(complaint) ?? [];
  if (missing !== undefined) return [{ kind: "missing", parameter: missing, repaired: false }];
  const [, unknown] = UNKNOWN.exec(complaint) ?? [];
  if (unknown !== undefined) return [{ kind: "unknown", parameter: unknown, repaired: false }];
  const [, wrong, expected] = EXPECTED.exec(complaint) ?? [];
  if (wrong === undefined) return [];
  return [{ kind: "value", parameter: withoutPlaces(wrong), detail: expected, repaired: false }];
}

/** `items[3].name` is `items[].name`: which one it was does not matter. */
function withoutPlaces(path: string): string {
  return path.replace(/\[\d+\]/g, "[]");
}

/** Fewer than these prove nothing. */
const FEWEST_CALLS = 2;
const LEAST_SHARE = 0.1;
const LARGE_RESULT_TOKENS = 4_000;

/** What the evidence says about the description of a tool. */
export function hintsFrom(found: {
  readonly who: string;
  readonly calls: number;
  readonly truncated: number;
  readonly resultTokens: number;
  readonly errors: ReadonlyMap<string, number>;
  readonly evidence: readonly (Evidence & { readonly calls: number })[];
}): readonly string[] {
  const { who, calls, truncated, resultTokens, errors } = found;
  const counts = (some: number) => some >= FEWEST_CALLS && some / calls >= LEAST_SHARE;
  const of = (some: number) => `${some} of ${calls} calls${who}`;
  const hints = found.evidence
    .filter((each) => counts(each.calls))
    .sort((a, b) => b.calls - a.calls)
    .map((each) => `${of(each.calls)} ${adviceOn(each)}`);
  for (const [code, some] of errors) {
    const advice = ERROR_ADVICE[code];
    if (advice !== undefined && counts(some)) hints.push(`${of(some)} ${advice}`);
  }
  if (counts(truncated)) {
    hints.push(`${of(truncated)} got a result that had to be cut: say how to ask for less of it`);
  }
  const each = Math.round(resultTokens / calls);
  if (calls >= FEWEST_CALLS && each >= LARGE_RESULT_TOKENS) {
    hints.push(
      `results take ${each} tokens on average: offer a limit or a filter, and name it in the description`,
    );
  }
  return hints;
}

function adviceOn({ kind, parameter, detail }: Evidence): string {
  switch (kind) {
    case "type":
      return `gave \`${parameter}\` in another type, which was mended: say in its description what it takes, with an example`;
    case "name":
      return `wrote \`${detail ?? ""}\` for \`${parameter}\`, which was mended: give it the name that is expected, or use it in an example`;
    case "null":
      return `sent null for \`${parameter}\`: say in its description that it can be left out`;
    case "wrapped":
      return "wrapped the arguments once more, which was mended: an example of a whole call shows their shape";
    case "missing":
      return `left \`${parameter}\` out: say in its description what it is for, or give it a default`;
    case "unknown":
      return `gave \`${parameter}\`, which does not exist: say in the description what to use instead`;
    case "value":
      return `gave \`${parameter}\` a value it does not take: say in its description that it must be ${detail ?? "another"}`;
  }
}

const ERROR_ADVICE: Readonly<Record<string, string>> = {
  not_found: "asked for something that is not there: say in the description how to find out what there is",
  timeout: "ran out of time: say in the description how long it may take, and how to ask for less",
  denied: "were denied: say in the description what it may not be used for",
  over_budget: "repeated what had not worked: say in the description what to do after a failure",
};
