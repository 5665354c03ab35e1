/** Told apart by most people with colour blindness, and on paper. */
export const COLORS = [
  "#2f6fde",
  "#f28e2b",
  "#23a387",
  "#d1495b",
  "#8661c5",
  "#0e9fbf",
  "#b07d12",
  "#de6fa1",
  "#6b7785",
  "#8ab52f",
] as const;

const FONT = "Inter, 'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif";

export interface Theme {
  readonly background: string;
  readonly strong: string;
  readonly text: string;
  readonly faint: string;
}

export const THEMES: Readonly<Record<"light" | "dark", Theme>> = {
  light: { background: "#ffffff", strong: "#1f2933", text: "#52606d", faint: "#e4e7eb" },
  dark: { background: "#16191f", strong: "#f2f4f7", text: "#a8b3c1", faint: "#2c333d" },
};

/** Vega's `config`: what a chart looks like unless its description says otherwise. */
export function chartConfig({ background, strong, text, faint }: Theme): Record<string, unknown> {
  return {
    background,
    padding: 20,
    font: FONT,
    title: { anchor: "start", fontSize: 18, fontWeight: 600, color: strong, offset: 18, subtitleColor: text },
    view: { stroke: null },
    axis: {
      labelColor: text,
      titleColor: text,
      labelFontSize: 12,
      titleFontSize: 12,
      titleFontWeight: 500,
      titlePadding: 10,
      labelPadding: 6,
      gridColor: faint,
      domainColor: faint,
      tickColor: faint,
      labelLimit: 220,
    },
    axisQuantitative: { domain: false, ticks: false, tickCount: 6 },
    axisBand: { grid: false, ticks: false },
    axisPoint: { grid: false },
    axisTemporal: { grid: false },
    legend: {
      labelColor: text,
      titleColor: text,
      labelFontSize: 12,
      titleFontSize: 12,
      titleFontWeight: 500,
      symbolType: "circle",
      symbolSize: 90,
      labelLimit: 260,
      rowPadding: 6,
      columnPadding: 18,
    },
    header: { labelColor: strong, titleColor: text, labelFontSize: 13 },
    range: { category: COLORS, heatmap: { scheme: "blues" }, ramp: { scheme: "blues" } },
    bar: { color: COLORS[0], cornerRadiusEnd: 3 },
    line: { color: COLORS[0], strokeWidth: 2.5, strokeJoin: "round", strokeCap: "round" },
    area: { color: COLORS[0], fillOpacity: 0.25, line: true },
    point: { color: COLORS[0], filled: true, size: 60, opacity: 0.8 },
    arc: { stroke: background, strokeWidth: 2 },
    boxplot: { color: COLORS[0], size: 32, median: { color: background } },
    text: { color: text, fontSize: 12 },
    rule: { color: text },
  };
}

const NARROW = /[ijltfrI.,:;'"|!()[\]{}\s-]/;
const WIDE = /[mwMW@%&—]/;

/**
 * How wide a text becomes, in pixels. Without a canvas the library supposes the widest letters for all, which leaves
 * charts with broad empty margins.
 */
export function textWidth(text: string, fontSize: number): number {
  let width = 0;
  for (const letter of text) {
    const code = letter.codePointAt(0) ?? 0;
    if (code > 0x2e80) width += 1;
    else if (NARROW.test(letter)) width += 0.36;
    else if (WIDE.test(letter)) width += 0.92;
    else width += letter >= "A" && letter <= "Z" ? 0.7 : 0.6;
  }
  return width * fontSize;
}
