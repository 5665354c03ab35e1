import { PageFrame, stateOf } from "../../frame/page-frame.js";
import { useKeys } from "../../lib/keys.js";
import { setQuery, usePlace } from "../../router.js";
import { Card } from "../../ui/bits.js";
import { Button, ButtonLink } from "../../ui/button.js";
import { Segmented, Select } from "../../ui/controls.js";
import { Empty, ErrorState, Skeleton } from "../../ui/states.js";
import { CallsChart, CallsLegend, partsIn } from "./calls-chart.js";
import { Failures } from "./failures.js";
import { Figures, isComparable } from "./figures.js";
import { FilterSelects, FilterTokens, filterFrom } from "./filter.js";
import { GroupsTable } from "./groups-table.js";
import { LatencyChart } from "./latency-chart.js";
import { chooseRange, RANGES, type RangeName, rangeFrom, spanText } from "./range.js";
import { SeriesTable } from "./series-table.js";
import { DIMENSIONS, type StatsAnswer } from "./types.js";
import { useStats } from "./use-stats.js";
import "./stats.css";

export default function StatsPage() {
  const { query } = usePlace();
  const range = rangeFrom(query);
  const by = DIMENSIONS.find((known) => known === query.by) ?? "tool";
  const only = filterFrom(query);
  const { query: asked, before } = useStats(range, { by, only });
  const { data: stats } = asked;
  const keys = RANGES.map(({ value }, index) => [String(index + 1), () => chooseRange(value)] as const);
  useKeys({
    ...Object.fromEntries(keys),
    Escape: () => range.name === "own" && chooseRange("24h"),
  });
  const isEmpty = stats !== undefined && stats.total.calls === 0;
  return (
    <PageFrame
      title="Stats"
      state={stateOf(asked, isEmpty)}
      fact={
        range.from !== undefined && range.until !== undefined
          ? spanText(range.from, range.until)
          : before !== undefined && !isComparable(before)
            ? "no earlier calls"
            : `vs. ${range.before}`
      }
      controls={
        <>
          {range.name === "own" && (
            <Button look="plain" icon="close" keys="Esc" onClick={() => chooseRange("24h")}>
              Whole day
            </Button>
          )}
          <span className="stats-selects">
            <FilterSelects range={range} only={only} />
          </span>
          <Segmented<RangeName | "own">
            label="Time range"
            value={range.name}
            options={RANGES.map(({ value, label }) => ({ value, label }))}
            onChange={(value) => value !== "own" && chooseRange(value)}
          />
        </>
      }
    >
      <div className="scroll" tabIndex={0} role="group" aria-label="Figures">
        <FilterTokens only={only} />
        {stats === undefined ? (
          asked.isError ? (
            <ErrorState
              title="The figures could not be counted"
              error={asked.error}
              stillWorks="Calls still run and are still recorded."
              onRetry={() => void asked.refetch()}
              busy={asked.isFetching}
            />
          ) : (
            <Skeleton rows={12} />
          )
        ) : isEmpty ? (
          <NoCalls isLongest={range.name === "30d"} />
        ) : (
          <Ready stats={stats} before={before} by={by} view={query.view === "table" ? "table" : "chart"} />
        )}
      </div>
    </PageFrame>
  );
}

function NoCalls({ isLongest }: { readonly isLongest: boolean }) {
  return (
    <Empty
      icon="stats"
      title="No calls in this time"
      command="hermes call system_info"
      action={
        isLongest ? (
          <ButtonLink href="/live" look="plain">
            To Live
          </ButtonLink>
        ) : (
          <Button look="plain" onClick={() => chooseRange("30d")}>
            Look at 30 days
          </Button>
        )
      }
    >
      Figures come with the first call. Try one:
    </Empty>
  );
}

function Ready(props: {
  readonly stats: StatsAnswer;
  readonly before: StatsAnswer["total"] | undefined;
  readonly by: (typeof DIMENSIONS)[number];
  readonly view: "chart" | "table";
}) {
  const { stats, view } = props;
  const series = stats.series ?? [];
  const stepMs = (series[1]?.at ?? 0) - (series[0]?.at ?? 0) || 60_000;
  const viewSelect = (
    <Select
      label="Charts as"
      value={view}
      options={[
        { value: "chart", label: "Charts" },
        { value: "table", label: "Table" },
      ]}
      onChange={(value) => setQuery({ view: value === "table" ? "table" : undefined })}
    />
  );
  return (
    <div className="page">
      <Figures total={stats.total} before={props.before} />
      {view === "table" ? (
        <Card title="Calls and latency" end={viewSelect}>
          <SeriesTable series={series} stepMs={stepMs} />
        </Card>
      ) : (
        <div className="trio">
          <Card title="Calls" className="chart-card" end={<CallsLegend parts={partsIn(series)} />}>
            <CallsChart series={series} stepMs={stepMs} />
          </Card>
          <Card
            title="Latency"
            className="chart-card"
            end={
              <span className="row-flex">
                log scale
                {viewSelect}
              </span>
            }
          >
            <LatencyChart series={series} stepMs={stepMs} />
          </Card>
          <Failures stats={stats} />
        </div>
      )}
      <GroupsTable stats={stats} by={props.by} />
    </div>
  );
}
