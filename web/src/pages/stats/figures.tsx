import type { ReactNode } from "react";
import { count, plural, took } from "../../lib/format.js";
import { Icon } from "../../ui/icon.js";
import type { Counts } from "./types.js";

const ENOUGH_CALLS = 20;

/** Few calls prove nothing about the time before. */
export function isComparable(before: Counts | undefined): before is Counts {
  return before !== undefined && before.calls >= ENOUGH_CALLS;
}

/** The figures people look for first, and how they were before. */
export function Figures(props: { readonly total: Counts; readonly before: Counts | undefined }) {
  const { total } = props;
  const before = isComparable(props.before) ? props.before : undefined;
  const tokens = total.tokens.input + total.tokens.cached + total.tokens.cache_write + total.tokens.output;
  return (
    <dl className="figures">
      <Figure name="Calls" value={count(total.calls)}>
        {before !== undefined && signed(((total.calls - before.calls) / before.calls) * 100, " %")}
      </Figure>
      <Figure name="Failed" value={(total.error_rate * 100).toFixed(1)} unit="%">
        <Change
          by={before === undefined ? 0 : (total.error_rate - before.error_rate) * 100}
          text={(points) => `${points.toFixed(1)} points`}
          least={0.05}
        />
        {before === undefined && plural(total.errors, "call")}
      </Figure>
      <Figure name="Denied" value={count(total.by_status.denied)}>
        by rules and people
      </Figure>
      <Figure name="Half within" {...figureOf(total.p50_ms)}>
        p50
        <Change by={difference(total.p50_ms, before?.p50_ms)} text={took} least={0.5} />
      </Figure>
      <Figure name="95 % within" {...figureOf(total.p95_ms)}>
        p95
        <Change by={difference(total.p95_ms, before?.p95_ms)} text={took} least={0.5} />
      </Figure>
      <Figure name="Waited for you" {...figureOf(total.approval_wait_ms)}>
        {total.queued_ms > 0 ? `${took(total.queued_ms)} in the queue` : "approvals"}
      </Figure>
      <Figure name="Results" value={short(total.tokens.result)} unit="tokens">
        {`${sized(total.bytes)} of text`}
      </Figure>
      <Figure name="Models asked" value={short(tokens)} unit="tokens">
        {`${short(total.tokens.input)} in, ${short(total.tokens.output)} out`}
      </Figure>
      <Figure name="Cost" value={cost(total.cost_usd)}>
        {total.retries + total.repairs > 0
          ? `${count(total.retries)} retries, ${count(total.repairs)} repairs`
          : "of what calls asked models"}
      </Figure>
    </dl>
  );
}

function Figure(props: {
  readonly name: string;
  readonly value: string;
  readonly unit?: string;
  readonly children?: ReactNode;
}) {
  return (
    <div className="figure">
      <dt>{props.name}</dt>
      <dd>
        <div className="fig">
          {props.value}
          {props.unit !== undefined && <small>{props.unit}</small>}
        </div>
        <div className="delta">{props.children}</div>
      </dd>
    </div>
  );
}

/** Less of it is better. */
function Change(props: {
  readonly by: number;
  readonly text: (amount: number) => string;
  readonly least: number;
}) {
  if (Math.abs(props.by) < props.least) return null;
  const worse = props.by > 0;
  return (
    <span className={worse ? "worse" : "better"}>
      <Icon name={worse ? "tri-up" : "tri-down"} />
      <span className="hush">{worse ? "more by" : "less by"} </span>
      {props.text(Math.abs(props.by))}
    </span>
  );
}

function difference(now: number | undefined, before: number | undefined): number {
  return now === undefined || before === undefined ? 0 : now - before;
}

function figureOf(ms: number | undefined): { readonly value: string; readonly unit?: string } {
  const [value = "–", unit, ...rest] = took(ms).split(" ");
  if (rest.length > 0) return { value: `${value} ${unit} ${rest.join(" ")}` };
  return unit === undefined ? { value } : { value, unit };
}

function signed(value: number, unit: string): string {
  const rounded = Math.round(value);
  if (rounded >= 1_000) return `${count(Math.round(value / 100 + 1))} times as many`;
  return `${rounded > 0 ? "+" : rounded < 0 ? "−" : "±"}${count(Math.abs(rounded))}${unit}`;
}

export function short(value: number): string {
  if (value < 10_000) return count(Math.round(value));
  return value < 1_000_000 ? `${(value / 1_000).toFixed(1)}k` : `${(value / 1_000_000).toFixed(1)}M`;
}

function sized(size: number): string {
  if (size < 1_000) return `${size} B`;
  return size < 1_000_000 ? `${(size / 1_000).toFixed(1)} kB` : `${(size / 1_000_000).toFixed(1)} MB`;
}

export function cost(usd: number): string {
  return `$${usd < 0.1 && usd > 0 ? usd.toFixed(4) : usd.toFixed(2)}`;
}
