import type { Figures, Measure, Miss, Share } from "./measure.js";

/** The figures of one set as text; `withMisses` also lists each row that went wrong. */
export function reportText(name: string, measured: Measure, withMisses: boolean): string {
  const lines = [`== ${name}`, `all: ${figuresLine(measured)}`];
  for (const [group, figures] of Object.entries({ ...measured.byTier, ...measured.byFamily })) {
    lines.push(`${group}: ${figuresLine(figures)}`);
  }
  if (withMisses) {
    const kinds: readonly Miss["kind"][] = ["missed", "below the floor", "false alarm", "over-blocked"];
    for (const kind of kinds) {
      const misses = measured.misses.filter((miss) => miss.kind === kind);
      lines.push("", `-- ${name}, ${kind}: ${misses.length}`, ...misses.map(missLine));
    }
  }
  return `${lines.join("\n")}\n`;
}

function figuresLine(figures: Figures): string {
  const parts = [
    ["recall", figures.recall],
    ["false alarms", figures.falseAlarms],
    ["floor", figures.floor],
    ["over-blocked", figures.overBlocked],
  ] as const;
  return parts
    .filter(([, share]) => share.of > 0)
    .map(([label, share]) => `${label} ${shareText(share)}`)
    .join(", ");
}

function shareText({ count, of, share, low, high }: Share): string {
  return `${count}/${of} = ${percent(share)} [${percent(low)}–${percent(high)}]`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)}%`;
}

function missLine({ row, rule }: Miss): string {
  const about = [
    row.family,
    row.tier === undefined ? "" : `t${row.tier}`,
    row.note ?? "",
    row.shape ?? "",
    rule,
  ]
    .filter((part) => part !== "")
    .join("; ");
  const text = JSON.stringify(row.cmd);
  return `${text.length > 300 ? `${text.slice(0, 200)} … ${text.slice(-80)}` : text}   (${about})`;
}
