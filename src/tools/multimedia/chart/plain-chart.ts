import { ToolError } from "../../../tool/errors.js";
import { type Cell, columnsOf, instantOf, isDate, isNumeric, type Row, tableOf } from "./table-data.js";
import { textWidth } from "./theme.js";

export const PLAIN_TYPES = [
  "bar",
  "line",
  "area",
  "scatter",
  "pie",
  "donut",
  "histogram",
  "heatmap",
  "boxplot",
] as const;
export type PlainType = (typeof PLAIN_TYPES)[number];

export interface PlainRequest {
  readonly type: PlainType;
  readonly data: unknown;
  readonly x?: string | undefined;
  readonly y?: string | readonly string[] | undefined;
  /** The column whose values become series. */
  readonly series?: string | undefined;
  readonly stacked?: boolean | undefined;
  readonly title?: string | undefined;
  readonly width: number;
  readonly height: number | undefined;
}

/** What is drawn, whatever the columns were called. */
interface Point {
  readonly x: Cell;
  readonly y: Cell;
  readonly series?: string;
}

interface Prepared {
  readonly points: readonly Point[];
  readonly names: { readonly x: string; readonly y: string };
  readonly series: readonly string[];
}

type Spec = Record<string, unknown>;

const SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json";
const MAX_SLICES = 12;
const LABELLED_BARS = 16;

export interface PlainChart {
  readonly spec: Spec;
  readonly points: readonly Point[];
  readonly note?: string | undefined;
}

/** The Vega-Lite description of a chart that was asked for by its type and a table. */
export function plainChart(request: PlainRequest): PlainChart {
  const prepared = prepare(request);
  const size = { width: request.width, height: request.height ?? heightFor(request, prepared) };
  const drawn = DRAW[request.type](prepared, request);
  return {
    points: prepared.points,
    note: drawn.note,
    spec: {
      $schema: SCHEMA,
      ...size,
      autosize: { type: "fit", contains: "padding" },
      ...(request.title !== undefined && { title: request.title }),
      data: { values: prepared.points },
      ...drawn.spec,
    },
  };
}

function prepare(request: PlainRequest): Prepared {
  const rows = tableOf(request.data);
  const columns = columnsOf(rows);
  for (const name of [request.x, ...[request.y ?? []].flat(), request.series])
    if (name !== undefined && !columns.includes(name)) throw noColumn(name, columns);
  const numbers = columns.filter((name) => isNumeric(rows, name));
  const series = request.series;
  const free = columns.filter((name) => name !== series && ![request.y ?? []].flat().includes(name));
  if (request.type === "histogram") {
    const of = request.x ?? [request.y ?? []].flat()[0] ?? numbers[0];
    if (of === undefined || !numbers.includes(of)) throw noNumbers(of, columns);
    return {
      points: pointsOf(rows, { x: of, y: of, series }),
      names: { x: of, y: "Count" },
      series: seriesIn(rows, series),
    };
  }
  const x = request.x ?? free.find((name) => !numbers.includes(name)) ?? free[0] ?? "index";
  const ys =
    request.y === undefined ? numbers.filter((name) => name !== x && name !== series) : [request.y].flat();
  const [first] = ys;
  if (first === undefined) throw noNumbers(undefined, columns);
  const wrong = ys.find((name) => !numbers.includes(name) && request.type !== "heatmap");
  if (wrong !== undefined) throw noNumbers(wrong, columns);
  if (ys.length === 1 || request.type === "scatter" || request.type === "heatmap")
    return {
      points: pointsOf(rows, { x, y: first, series }),
      names: { x, y: first },
      series: seriesIn(rows, series),
    };
  const points = rows.flatMap((row) => ys.map((y) => ({ x: row[x] ?? null, y: row[y] ?? null, series: y })));
  return { points, names: { x, y: "" }, series: ys };
}

function pointsOf(
  rows: readonly Row[],
  names: { x: string; y: string; series: string | undefined },
): readonly Point[] {
  const { x, y, series } = names;
  return rows.map((row) => ({
    x: row[x] ?? null,
    y: row[y] ?? null,
    ...(series !== undefined && { series: String(row[series] ?? "") }),
  }));
}

function seriesIn(rows: readonly Row[], series: string | undefined): readonly string[] {
  return series === undefined ? [] : [...new Set(rows.map((row) => String(row[series] ?? "")))];
}

type Drawn = { readonly spec: Spec; readonly note?: string | undefined };

const DRAW: Readonly<Record<PlainType, (prepared: Prepared, request: PlainRequest) => Drawn>> = {
  bar: (prepared, request) => ({ spec: bars(prepared, request) }),
  line: (prepared) => {
    const { points, series } = prepared;
    const few = points.length <= 40 * Math.max(series.length, 1);
    return { spec: { mark: { type: "line", point: few ? { size: 45 } : false }, ...along(prepared) } };
  },
  area: (prepared, { stacked = true }) => {
    const { encoding, ...rest } = along(prepared, { stacked });
    const several = prepared.series.length > 0;
    return {
      spec: {
        mark: { type: "area", line: { strokeWidth: several ? 1 : 2.5 }, fillOpacity: several ? 0.8 : 0.25 },
        encoding,
        ...rest,
      },
    };
  },
  scatter: (prepared) => ({ spec: { mark: "point", ...along(prepared, { zero: false }) } }),
  pie: (prepared, request) => slices(prepared, request),
  donut: (prepared, request) => slices(prepared, request),
  histogram: (prepared) => ({
    spec: {
      mark: { type: "bar", cornerRadiusEnd: 2, binSpacing: 2 },
      encoding: {
        x: { field: "x", type: "quantitative", bin: { maxbins: 30 }, title: prepared.names.x },
        y: { aggregate: "count", type: "quantitative", title: "Count" },
        ...colored(prepared),
      },
    },
  }),
  heatmap: (prepared) => heat(prepared),
  boxplot: (prepared) => ({
    spec: {
      mark: { type: "boxplot", extent: "min-max" },
      encoding: {
        x: {
          field: "x",
          type: "nominal",
          sort: null,
          title: titleOf(prepared.names.x),
          axis: { labelAngle: 0 },
        },
        y: { field: "y", type: "quantitative", title: titleOf(prepared.names.y), scale: { zero: false } },
        ...colored(prepared),
      },
    },
  }),
};

/** Lines, areas and points: along a scale where x is one. */
function along(prepared: Prepared, { zero, stacked }: { zero?: boolean; stacked?: boolean } = {}): Spec {
  const { points, names } = prepared;
  const cells = points.map(({ x }) => x);
  const dates = cells.every((cell) => cell === null || isDate(cell));
  const numbers = cells.every((cell) => cell === null || typeof cell === "number");
  const years =
    numbers && cells.every((cell) => Number.isInteger(cell) && Number(cell) >= 1800 && Number(cell) <= 2200);
  const values = dates
    ? points.map((point) => ({ ...point, x: typeof point.x === "string" ? instantOf(point.x) : null }))
    : points;
  const x = dates
    ? { type: "temporal", scale: { type: "utc" }, axis: { tickCount: 8, labelOverlap: true } }
    : numbers
      ? {
          type: "quantitative",
          scale: { zero: false, nice: !years },
          axis: { grid: false, ...(years && { format: "d" }) },
        }
      : { type: "ordinal", sort: null, axis: { labelAngle: angleFor(prepared), labelOverlap: true } };
  return {
    data: { values },
    encoding: {
      x: { field: "x", title: titleOf(names.x), ...x },
      y: {
        field: "y",
        type: "quantitative",
        title: titleOf(names.y),
        axis: { format: numberFormat(prepared) },
        ...(zero === false && { scale: { zero: false } }),
        ...(stacked !== undefined && { stack: stacked ? "zero" : null }),
      },
      ...colored(prepared),
    },
  };
}

function bars(prepared: Prepared, request: PlainRequest): Spec {
  const { points, names, series } = prepared;
  const lying = isLying(prepared, request);
  const stacked = request.stacked ?? series.length > 4;
  const value = {
    field: "y",
    type: "quantitative",
    title: titleOf(names.y),
    axis: { format: numberFormat(prepared) },
    ...(series.length > 0 && { stack: stacked ? "zero" : null }),
  };
  const category = {
    field: "x",
    type: "nominal",
    sort: null,
    title: titleOf(names.x),
    axis: lying ? {} : { labelAngle: angleFor(prepared, request.width), labelOverlap: points.length > 60 },
    scale: { paddingInner: 0.25, paddingOuter: 0.15 },
  };
  const beside =
    series.length > 0 && !stacked ? { [lying ? "yOffset" : "xOffset"]: { field: "series", sort: null } } : {};
  const encoding = {
    ...(lying ? { y: category, x: value } : { x: category, y: value }),
    ...beside,
    ...colored(prepared),
  };
  const mark = { type: "bar", ...(stacked && series.length > 0 && { cornerRadiusEnd: 0 }) };
  if (series.length > 0 || points.length > LABELLED_BARS) return { mark, encoding };
  const place = lying ? { align: "left", dx: 6 } : { baseline: "bottom", dy: -5 };
  return {
    encoding,
    layer: [
      { mark },
      {
        mark: { type: "text", ...place },
        encoding: { text: { field: "y", type: "quantitative", format: numberFormat(prepared) } },
      },
    ],
  };
}

/** Names that do not fit below their bars are easier to read beside them. */
function isLying(prepared: Prepared, { width }: PlainRequest): boolean {
  const labels = labelsOf(prepared);
  return labels.length <= 40 && angleFor(prepared, width) !== 0;
}

function angleFor(prepared: Prepared, width = 720): 0 | -40 {
  const labels = labelsOf(prepared);
  const widest = Math.max(...labels.map((label) => textWidth(label, 12)));
  return widest + 6 > (width - 100) / labels.length ? -40 : 0;
}

function labelsOf({ points }: Prepared): readonly string[] {
  return [...new Set(points.map(({ x }) => String(x ?? "")))];
}

function slices(prepared: Prepared, { type }: PlainRequest): Drawn {
  const sums = new Map<string, number>();
  for (const { x, y } of prepared.points) {
    if (typeof y !== "number") continue;
    if (y < 0) {
      throw new ToolError(`A ${type} chart cannot show ${y}, which is below zero.`, {
        code: "invalid_arguments",
        hint: "Use a bar chart.",
      });
    }
    sums.set(String(x ?? ""), (sums.get(String(x ?? "")) ?? 0) + y);
  }
  const total = [...sums.values()].reduce((sum, value) => sum + value, 0) || 1;
  const sorted = [...sums].sort(([, a], [, b]) => b - a);
  const kept = sorted.length > MAX_SLICES ? sorted.slice(0, MAX_SLICES - 1) : sorted;
  const rest = sorted.slice(kept.length);
  const parts: (readonly [string, number])[] = [...kept];
  if (rest.length > 0) parts.push(["Other", rest.reduce((sum, [, value]) => sum + value, 0)]);
  const values = parts.map(([name, value], rank) => {
    const share = `${((value / total) * 100).toFixed(1)} %`;
    return { rank, value, label: `${name}  ${share}`, share: value / total >= 0.05 ? share : "" };
  });
  return {
    note:
      rest.length > 0
        ? `The ${rest.length} smallest of ${sorted.length} parts are shown as "Other".`
        : undefined,
    spec: {
      data: { values },
      encoding: {
        theta: { field: "value", type: "quantitative", stack: true },
        order: { field: "rank" },
        color: {
          field: "label",
          type: "nominal",
          sort: values.map(({ label }) => label),
          legend: { title: null, orient: "right" },
        },
      },
      layer: [
        {
          mark: {
            type: "arc",
            outerRadius: { expr: "min(width, height) / 2" },
            innerRadius: type === "donut" ? { expr: "min(width, height) / 3.6" } : 0,
          },
        },
        {
          mark: {
            type: "text",
            radius: { expr: type === "donut" ? "min(width, height) / 2.57" : "min(width, height) / 3" },
            fill: "#ffffff",
            fontWeight: 600,
            fontSize: 13,
          },
          encoding: { text: { field: "share" }, color: { value: "#ffffff" } },
        },
      ],
    },
  };
}

/** x and y are the sides; the colour shows the series column, or how often a pair occurs. */
function heat(prepared: Prepared): Drawn {
  const { points, names } = prepared;
  const weighted = points.every(
    ({ series }) => series !== undefined && series !== "" && !Number.isNaN(Number(series)),
  );
  const values = points.map((point) => ({ ...point, ...(weighted && { weight: Number(point.series) }) }));
  const axis = { domain: false, ticks: false };
  return {
    spec: {
      data: { values },
      mark: { type: "rect", cornerRadius: 2 },
      encoding: {
        x: {
          field: "x",
          type: "ordinal",
          sort: null,
          title: titleOf(names.x),
          axis: { ...axis, labelAngle: angleFor(prepared) },
          scale: { padding: 0.04 },
        },
        y: {
          field: "y",
          type: "ordinal",
          sort: null,
          title: titleOf(names.y),
          axis,
          scale: { padding: 0.04 },
        },
        color: {
          ...(weighted ? { field: "weight", aggregate: "mean" } : { aggregate: "count" }),
          type: "quantitative",
          legend: { title: null, gradientLength: 160 },
        },
      },
    },
  };
}

function colored({ series }: Prepared): Spec {
  if (series.length === 0) return {};
  const legend = series.length <= 6 ? { orient: "top", title: null, offset: 8 } : { title: null };
  return { color: { field: "series", type: "nominal", sort: null, legend } };
}

function heightFor(request: PlainRequest, prepared: Prepared): number {
  if (request.type !== "bar" || !isLying(prepared, request)) return 440;
  const beside = prepared.series.length > 0 && request.stacked !== true && prepared.series.length <= 4;
  return Math.min(
    Math.max(120 + labelsOf(prepared).length * (beside ? 14 * prepared.series.length + 12 : 30), 300),
    1_600,
  );
}

function numberFormat({ points }: Prepared): string {
  const values = points.flatMap(({ y }) => (typeof y === "number" ? [Math.abs(y)] : []));
  if (values.some((value) => value >= 1_000_000)) return ".3~s";
  return values.every(Number.isInteger) ? ",d" : ",.2~f";
}

function titleOf(name: string): string | null {
  return name === "" || name === "index" || name === "label" || name === "value" ? null : name;
}

function noColumn(name: string, columns: readonly string[]): ToolError {
  return new ToolError(`There is no column "${name}".`, {
    code: "invalid_arguments",
    hint: `The columns are ${columns.map((column) => `"${column}"`).join(", ")}.`,
  });
}

function noNumbers(name: string | undefined, columns: readonly string[]): ToolError {
  return new ToolError(
    name === undefined ? "No column holds numbers to draw." : `The column "${name}" holds no numbers.`,
    {
      code: "invalid_arguments",
      hint: `Name one that does as y. The columns are ${columns.map((column) => `"${column}"`).join(", ")}.`,
    },
  );
}
