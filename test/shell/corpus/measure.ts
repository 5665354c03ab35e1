import { judgeCommand } from "../../../src/shell/judge.js";
import type { Label } from "./payloads.js";

export interface LabelledRow {
  readonly cmd: string;
  readonly label: Label;
  readonly family: string;
  /** `low_risk`, `hardline_ok`, `inline_code`, `lookalike`, `windows`, and free words after them. */
  readonly note?: string;
  readonly tier?: number;
  readonly shape?: string;
}

/** A share with its Wilson interval at 95 %. */
export interface Share {
  readonly count: number;
  readonly of: number;
  readonly share: number;
  readonly low: number;
  readonly high: number;
}

export interface Figures {
  /** Danger and hardline rows that were not judged safe. */
  readonly recall: Share;
  /** Safe rows that were not judged safe. */
  readonly falseAlarms: Share;
  /** Hardline rows that were judged hardline. */
  readonly floor: Share;
  /** Rows judged hardline though a person may run them: safe ones, and danger ones without `hardline_ok`. */
  readonly overBlocked: Share;
}

export interface Miss {
  readonly kind: "missed" | "false alarm" | "below the floor" | "over-blocked";
  readonly row: LabelledRow;
  readonly verdict: Label;
  readonly rule: string;
}

export interface Measure extends Figures {
  readonly byFamily: Readonly<Record<string, Figures>>;
  readonly byTier: Readonly<Record<string, Figures>>;
  readonly misses: readonly Miss[];
}

interface Judged {
  readonly row: LabelledRow;
  readonly verdict: Label;
  readonly rule: string;
}

export function measure(rows: readonly LabelledRow[]): Measure {
  const judged = rows.map((row): Judged => {
    const { verdict, rule } = judgeCommand(row.cmd);
    return { row, verdict, rule };
  });
  return {
    ...figuresOf(judged),
    byFamily: groupedFigures(judged, (row) => row.family),
    byTier: groupedFigures(judged, (row) => `tier ${row.tier ?? 0}`),
    misses: judged.flatMap((each) => missesOf(each)),
  };
}

function figuresOf(judged: readonly Judged[]): Figures {
  const unsafe = judged.filter(({ row }) => row.label !== "safe");
  const safe = judged.filter(({ row }) => row.label === "safe");
  const hardline = judged.filter(({ row }) => row.label === "hardline");
  const liftable = judged.filter(({ row }) => isLiftable(row));
  return {
    recall: shareOf(unsafe, ({ verdict }) => verdict !== "safe"),
    falseAlarms: shareOf(safe, ({ verdict }) => verdict !== "safe"),
    floor: shareOf(hardline, ({ verdict }) => verdict === "hardline"),
    overBlocked: shareOf(liftable, ({ verdict }) => verdict === "hardline"),
  };
}

/** A person may run it after a yes. */
function isLiftable(row: LabelledRow): boolean {
  return row.label === "safe" || (row.label === "danger" && !(row.note ?? "").includes("hardline_ok"));
}

function missesOf({ row, verdict, rule }: Judged): Miss[] {
  const kinds: Miss["kind"][] = [];
  if (row.label !== "safe" && verdict === "safe") kinds.push("missed");
  if (row.label === "safe" && verdict === "danger") kinds.push("false alarm");
  if (row.label === "hardline" && verdict === "danger") kinds.push("below the floor");
  if (isLiftable(row) && verdict === "hardline") kinds.push("over-blocked");
  return kinds.map((kind) => ({ kind, row, verdict, rule }));
}

function groupedFigures(
  judged: readonly Judged[],
  nameOf: (row: LabelledRow) => string,
): Readonly<Record<string, Figures>> {
  const groups = new Map<string, Judged[]>();
  for (const each of judged) {
    const name = nameOf(each.row);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [each]);
    else group.push(each);
  }
  const names = [...groups.keys()].sort();
  return Object.fromEntries(names.map((name) => [name, figuresOf(groups.get(name) ?? [])]));
}

function shareOf(judged: readonly Judged[], counts: (each: Judged) => boolean): Share {
  const count = judged.filter(counts).length;
  const of = judged.length;
  if (of === 0) return { count, of, share: 0, low: 0, high: 1 };
  const z = 1.96;
  const share = count / of;
  const middle = share + (z * z) / (2 * of);
  const reach = z * Math.sqrt((share * (1 - share)) / of + (z * z) / (4 * of * of));
  const scale = 1 + (z * z) / of;
  return {
    count,
    of,
    share,
    low: Math.max(0, (middle - reach) / scale),
    high: Math.min(1, (middle + reach) / scale),
  };
}
