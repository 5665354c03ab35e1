import { useMemo } from "react";
import uPlot from "uplot";
import { count } from "../../lib/format.js";
import { axes, Plot } from "./plot.js";
import { spanText, ticks, tickText } from "./range.js";
import { PARTS, type Part, type Point, partOf } from "./types.js";

const COLOURS: Readonly<Record<Part, string>> = {
  ok: "--chart-ok",
  cancelled: "--line-strong",
  denied: "--denied",
  timeout: "--timeout",
  error: "--error",
};

export function partsIn(series: readonly Point[]): readonly Part[] {
  return PARTS.filter((part) => part !== "cancelled" || series.some((point) => partOf(point, part) > 0));
}

/** Calls over time, one part of a bar on the other. */
export function CallsChart(props: { readonly series: readonly Point[]; readonly stepMs: number }) {
  const { series, stepMs } = props;
  const data = useMemo((): uPlot.AlignedData => {
    const sums = series.map(() => 0);
    const stacked = PARTS.map((part) =>
      series.map((point, index) => {
        const sum = (sums[index] ?? 0) + partOf(point, part);
        sums[index] = sum;
        return partOf(point, part) === 0 ? null : sum;
      }),
    );
    // From the whole bar down: the next one behind is where a part has its foot.
    return [series.map(({ at }) => at + stepMs / 2), ...stacked.reverse()];
  }, [series, stepMs]);
  const worst = series.reduce<Point | undefined>(
    (most, point) => (failedIn(point) > (most === undefined ? 0 : failedIn(most)) ? point : most),
    undefined,
  );
  const first = series[0]?.at ?? 0;
  const last = (series.at(-1)?.at ?? 0) + stepMs;
  return (
    <Plot
      label={`Calls over time, ${spanText(first, last)}${
        worst === undefined
          ? ""
          : `; most failed at ${spanText(worst.at, worst.at + stepMs)}: ${failedIn(worst)}`
      }`}
      of={`${first} ${last} ${stepMs}`}
      data={data}
      tip={(index) => {
        const point = series[index];
        if (point === undefined) return null;
        return (
          <>
            <b>{spanText(point.at, point.at + stepMs)}</b>
            {PARTS.filter((part) => part === "ok" || partOf(point, part) > 0).map((part) => (
              <span key={part}>
                {part} {count(partOf(point, part))}
              </span>
            ))}
          </>
        );
      }}
      options={(colour) => ({
        padding: [8, 4, 0, 0],
        scales: {
          x: { time: false, range: () => [first, last] },
          y: { range: (_self, _low, high) => [0, Math.max(4, high * 1.06)] },
        },
        axes: axes({
          colour,
          ticks,
          tickText,
          y: {
            size: 40,
            space: 44,
            incrs: [1, 2, 5, 10, 20, 50, 100, 200, 300, 500, 1_000, 2_000, 5_000, 10_000, 50_000, 100_000],
            values: (_self, splits) => splits.map(short),
          },
        }),
        series: [
          {},
          ...[...PARTS].reverse().map((part): uPlot.Series => {
            const fill = colour(COLOURS[part]);
            const paths = uPlot.paths.bars?.({ size: [0.72, 18], align: 0, disp: FROM_ITS_FOOT });
            return { fill, width: 0, points: { show: false }, ...(paths && { paths }) };
          }),
        ],
      })}
    />
  );
}

/** A part that lay over another one would tint its edge. */
const FROM_ITS_FOOT: uPlot.Series.BarsPathBuilderDisplay = {
  y0: {
    unit: 1,
    values: ({ data }, at) => {
      const below = data.slice(at + 1);
      return Array.from(
        data[at] ?? [],
        (_, index) => below.find((part) => part[index] != null)?.[index] ?? 0,
      );
    },
  },
  y1: { unit: 1, values: ({ data }, at) => Array.from<number | null | undefined>(data[at] ?? []) },
};

function failedIn(point: Point): number {
  return partOf(point, "error") + partOf(point, "timeout");
}

function short(value: number): string {
  return value >= 10_000 ? `${value / 1_000}k` : count(value);
}

export function CallsLegend({ parts }: { readonly parts: readonly Part[] }) {
  return (
    <span className="legend">
      {parts.map((part) => (
        <span key={part}>
          <svg viewBox="0 0 12 8" aria-hidden="true">
            <rect className={`c-${part}`} width="12" height="8" />
          </svg>
          {part}
        </span>
      ))}
    </span>
  );
}
