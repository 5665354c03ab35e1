import { useMemo } from "react";
import type uPlot from "uplot";
import { took } from "../../lib/format.js";
import { axes, Plot } from "./plot.js";
import { spanText, ticks, tickText } from "./range.js";
import type { Point } from "./types.js";

const LINES = [
  { key: "p99_ms", name: "p99", colour: "--chart-p99", text: "--text-3", width: 1.25, dash: [3, 3] },
  { key: "p95_ms", name: "p95", colour: "--chart-p95", text: "--accent", width: 1.5 },
  { key: "p50_ms", name: "p50", colour: "--chart-p50", text: "--accent", width: 2 },
] as const;
/** A logarithm has no zero. */
const LEAST_MS = 0.1;

export function LatencyChart(props: { readonly series: readonly Point[]; readonly stepMs: number }) {
  const { series, stepMs } = props;
  const data = useMemo(
    (): uPlot.AlignedData => [
      series.map(({ at }) => at + stepMs / 2),
      ...LINES.map(({ key }) =>
        series.map((point) => {
          const value = point[key];
          return value === undefined ? null : Math.max(LEAST_MS, value);
        }),
      ),
    ],
    [series, stepMs],
  );
  const first = series[0]?.at ?? 0;
  const last = (series.at(-1)?.at ?? 0) + stepMs;
  const slowest = series.reduce<Point | undefined>(
    (most, point) => ((point.p95_ms ?? 0) > (most?.p95_ms ?? 0) ? point : most),
    undefined,
  );
  return (
    <Plot
      label={`How long calls took, on a logarithmic scale${
        slowest === undefined
          ? ""
          : `; p95 is highest at ${spanText(slowest.at, slowest.at + stepMs)}: ${took(slowest.p95_ms)}`
      }`}
      of={`${first} ${last} ${stepMs}`}
      data={data}
      tip={(index) => {
        const point = series[index];
        if (point === undefined) return null;
        return (
          <>
            <b>{spanText(point.at, point.at + stepMs)}</b>
            {LINES.map(({ key, name }) => (
              <span key={key}>
                {name} {took(point[key])}
              </span>
            ))}
          </>
        );
      }}
      options={(colour) => ({
        padding: [8, 34, 0, 0],
        scales: {
          x: { time: false, range: () => [first, last] },
          y: {
            distr: 3,
            log: 10,
            range: (_self, low, high) => [
              10 ** Math.floor(Math.log10(low || 1)),
              10 ** Math.ceil(Math.log10(Math.max(high || 10, (low || 1) * 10))),
            ],
          },
        },
        axes: axes({
          colour,
          ticks,
          tickText,
          y: {
            size: 54,
            splits: (_self, _axis, low, high) => decades(low, high),
            values: (_self, splits) => splits.map(roundTime),
          },
        }),
        bands: [{ series: [2, 3], fill: colour("--accent-soft") }],
        series: [
          {},
          ...LINES.map(
            (line): uPlot.Series => ({
              stroke: colour(line.colour),
              width: line.width,
              spanGaps: true,
              points: { show: series.filter((point) => point[line.key] !== undefined).length < 2, size: 5 },
              ...("dash" in line && { dash: [...line.dash] }),
            }),
          ),
        ],
        hooks: { draw: [(self) => nameLines(self, colour)] },
      })}
    />
  );
}

/** At the line's end, apart from each other where the lines meet. */
function nameLines(self: uPlot, colour: (name: string) => string): void {
  const ratio = devicePixelRatio;
  const { ctx } = self;
  ctx.save();
  ctx.font = `500 ${11 * ratio}px ${colour("--font-sans")}`;
  ctx.textBaseline = "middle";
  ctx.textAlign = "left";
  let above = Number.NEGATIVE_INFINITY;
  LINES.forEach((line, index) => {
    const values = self.data[index + 1] ?? [];
    const last = [...values].findLast((value) => value !== null && value !== undefined);
    if (last === undefined || last === null) return;
    const y = Math.max(self.valToPos(last, "y", true), above + 13 * ratio);
    above = y;
    ctx.fillStyle = colour(line.text);
    ctx.fillText(line.name, self.bbox.left + self.bbox.width + 6 * ratio, y);
  });
  ctx.restore();
}

function decades(low: number, high: number): number[] {
  const first = Math.round(Math.log10(low));
  const last = Math.round(Math.log10(high));
  const step = Math.max(1, Math.ceil((last - first) / 4));
  return Array.from(
    { length: Math.floor((last - first) / step) + 1 },
    (_, index) => 10 ** (first + index * step),
  );
}

function roundTime(ms: number): string {
  if (ms < 1) return `${Math.round(ms * 1_000)} µs`;
  if (ms < 1_000) return `${ms} ms`;
  return `${ms / 1_000} s`;
}
