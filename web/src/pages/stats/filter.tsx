import { visibleLine } from "../../lib/visible.js";
import { type Place, setQuery } from "../../router.js";
import { Icon } from "../../ui/icon.js";
import { DIMENSIONS, type Dimension, type StatsFilter } from "./types.js";

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
