import { useMemo } from "react";
import { count, took } from "../../lib/format.js";
import { visibleLine } from "../../lib/visible.js";
import { pathTo, setQuery, usePlace } from "../../router.js";
import { Card, Cut, Sparkline } from "../../ui/bits.js";
import { Select } from "../../ui/controls.js";
import { Icon, toolIcon } from "../../ui/icon.js";
import { Link } from "../../ui/link.js";
import { cost, short } from "./figures.js";
import { OnlyThis } from "./filter.js";
import { DIMENSIONS, type Dimension, type GroupRow, type StatsAnswer } from "./types.js";

const TITLES: Readonly<Record<Dimension, string>> = {
  tool: "Tools",
  toolset: "Toolsets",
  model: "Models",
  environment: "Environments",
  session: "Sessions",
  door: "Doors",
};
/** A rate that somebody should look at; few calls prove nothing. */
const BAD_RATE = 0.1;
const ENOUGH_CALLS = 5;
const MOST_ROWS = 200;

const COLUMNS = [
  { key: "calls", title: "Calls", of: (row: GroupRow) => row.calls, text: count },
  { key: "failed", title: "Failed", of: (row: GroupRow) => row.errors, text: orDash },
  { key: "rate", title: "Rate", of: (row: GroupRow) => row.error_rate, text: percent },
  { key: "denied", title: "Denied", of: (row: GroupRow) => row.by_status.denied, text: orDash },
  { key: "p50", title: "p50", of: (row: GroupRow) => row.p50_ms ?? -1, text: time },
  { key: "p95", title: "p95", of: (row: GroupRow) => row.p95_ms ?? -1, text: time },
  { key: "p99", title: "p99", of: (row: GroupRow) => row.p99_ms ?? -1, text: time },
  { key: "tokens", title: "Tokens", of: tokensOf, text: short },
  { key: "cost", title: "Cost", of: (row: GroupRow) => row.cost_usd, text: orNoCost },
] as const;

export function GroupsTable(props: { readonly stats: StatsAnswer; readonly by: Dimension }) {
  const { stats, by } = props;
  const { query } = usePlace();
  const sort = COLUMNS.find(({ key }) => key === query.sort) ?? COLUMNS[0];
  const rows = useMemo(() => {
    const all = stats.groups ?? stats.tools.map((row): GroupRow => ({ ...row, key: row.tool }));
    return [...all].sort((first, second) => sort.of(second) - sort.of(first)).slice(0, MOST_ROWS);
  }, [stats, sort]);
  const errors = new Map(stats.tools.map(({ tool, last_error }) => [tool, last_error]));
  const hasSpark = rows.some(({ spark }) => spark !== undefined);
  return (
    <Card
      title={TITLES[by]}
      className="groups"
      end={
        <span className="row-flex">
          <span className="opt">{rows.length} used</span>
          <Select
            label="Group by"
            value={by}
            options={DIMENSIONS.map((value) => ({ value, label: `By ${value}` }))}
            onChange={(value) => setQuery({ by: value === "tool" ? undefined : value })}
          />
        </span>
      }
    >
      <div className="tablewrap" tabIndex={0} role="group" aria-label={`${TITLES[by]}, table`}>
        <table className="table">
          <thead>
            <tr>
              <th scope="col">{TITLES[by].replace(/s$/, "")}</th>
              {hasSpark && <th scope="col">Over time</th>}
              {COLUMNS.map((column) => (
                <th
                  key={column.key}
                  scope="col"
                  className="num"
                  aria-sort={column.key === sort.key ? "descending" : undefined}
                >
                  <button
                    type="button"
                    className="sorter"
                    onClick={() => setQuery({ sort: column.key === "calls" ? undefined : column.key })}
                  >
                    {column.title}
                    {column.key === sort.key && <Icon name="down" size="s" />}
                  </button>
                </th>
              ))}
              {by === "tool" && <th scope="col">Last error</th>}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => {
              const bad = row.error_rate >= BAD_RATE && row.calls >= ENOUGH_CALLS;
              return (
                <tr key={row.key}>
                  <td>
                    <span className="row-name">
                      <Name by={by} name={row.key} />
                      {row.key !== "" && query[by] !== row.key && <OnlyThis by={by} name={row.key} />}
                    </span>
                  </td>
                  {hasSpark && (
                    <td>
                      <Sparkline
                        values={row.spark ?? []}
                        label={`Calls of ${visibleLine(row.key)} over time`}
                        bad={bad}
                      />
                    </td>
                  )}
                  {COLUMNS.map(({ key, of, text }) => (
                    <td key={key} className={key === "rate" && bad ? "num worse" : "num"}>
                      {text(of(row))}
                    </td>
                  ))}
                  {by === "tool" && (
                    <td className="soft last-error">
                      <Cut text={errors.get(row.key) ?? "–"} />
                    </td>
                  )}
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

function Name({ by, name }: { readonly by: Dimension; readonly name: string }) {
  if (name === "") return <span className="quiet">{by === "model" ? "no model" : "none"}</span>;
  if (by === "tool")
    return (
      <Link className="group-name" href={pathTo("tools", { item: name })}>
        <Icon name={toolIcon(name, undefined)} />
        <Cut text={name} />
      </Link>
    );
  if (by === "session")
    return (
      <Link className="group-name" href={pathTo("live", { query: { session: name } })}>
        <Cut text={name} mono />
      </Link>
    );
  return (
    <span className="group-name">
      <Cut text={name} />
    </span>
  );
}

function tokensOf({ tokens }: GroupRow): number {
  return tokens.input + tokens.cached + tokens.cache_write + tokens.output + tokens.result;
}

function orDash(value: number): string {
  return value === 0 ? "–" : count(value);
}

function percent(value: number): string {
  return `${(value * 100).toFixed(1)} %`;
}

function time(value: number): string {
  return value < 0 ? "–" : took(value);
}

function orNoCost(value: number): string {
  return value === 0 ? "–" : cost(value);
}
