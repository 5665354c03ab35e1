import { useQuery } from "@tanstack/react-query";
import { address, get } from "../../api/client.js";
import { visibleLine } from "../../lib/visible.js";
import { type Place, setQuery } from "../../router.js";
import { Select } from "../../ui/controls.js";
import { Icon } from "../../ui/icon.js";
import type { Range } from "./range.js";
import { DIMENSIONS, type Dimension, type StatsAnswer, type StatsFilter } from "./types.js";

/** The names in the address that calls are held against. */
export function filterFrom(query: Place["query"]): StatsFilter {
  return Object.fromEntries(
    DIMENSIONS.flatMap((name) => (query[name] === undefined ? [] : [[name, query[name]]])),
  );
}

/** What everything on the page is counted for, each taken away by a click. */
export function FilterTokens({ only }: { readonly only: StatsFilter }) {
  const set = DIMENSIONS.flatMap((name) => {
    const value = only[name];
    return value === undefined ? [] : [{ name, text: `${name}: ${visibleLine(value)}` }];
  });
  if (set.length === 0) return null;
  return (
    <div className="stats-filter" role="group" aria-label="Counted only for">
      <span className="quiet">Only</span>
      {set.map(({ name, text }) => (
        <button
          key={name}
          type="button"
          className="token"
          aria-label={`Remove filter ${text}`}
          onClick={() => setQuery({ [name]: undefined }, { replace: false })}
        >
          <span className="cut">{text}</span>
          <Icon name="close" />
        </button>
      ))}
    </div>
  );
}

const CHOSEN = ["toolset", "model"] as const;

/** The two that people ask for most, without looking for a row of them. */
export function FilterSelects({ range, only }: { readonly range: Range; readonly only: StatsFilter }) {
  return CHOSEN.map((name) => <FilterSelect key={name} name={name} range={range} value={only[name]} />);
}

function FilterSelect(props: {
  readonly name: (typeof CHOSEN)[number];
  readonly range: Range;
  readonly value: string | undefined;
}) {
  const { name, range, value } = props;
  const { data } = useQuery({
    queryKey: ["stats", "names", name, range.name, range.from, range.until],
    staleTime: 60_000,
    queryFn: ({ signal }) => {
      const since = Math.floor(range.from ?? Date.now() - range.lengthMs);
      return get<StatsAnswer>(address("/v1/stats", { since, until: range.until, by: name }), { signal });
    },
  });
  const names = (data?.groups ?? []).map(({ key }) => key).filter((key) => key !== "");
  const known = value === undefined || names.includes(value) ? names : [value, ...names];
  if (known.length === 0) return null;
  return (
    <Select
      label={`Only this ${name}`}
      value={value ?? ""}
      options={[
        { value: "", label: `All ${name}s` },
        ...known.map((each) => ({ value: each, label: visibleLine(each) })),
      ]}
      onChange={(chosen) => setQuery({ [name]: chosen === "" ? undefined : chosen }, { replace: false })}
    />
  );
}

/** Counts everything for one row of the table, which then says what that one is made of. */
export function OnlyThis(props: { readonly by: Dimension; readonly name: string }) {
  const { by, name } = props;
  const words = `Only ${by} ${visibleLine(name)}`;
  return (
    <button
      type="button"
      className="only-this"
      aria-label={words}
      title={words}
      onClick={() => setQuery({ [by]: name, by: by === "tool" ? "model" : undefined }, { replace: false })}
    >
      <Icon name="filter" />
    </button>
  );
}
