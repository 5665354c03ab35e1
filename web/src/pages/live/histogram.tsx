import { clock, plural } from "../../lib/format.js";
import type { LiveCall } from "./calls-store.js";

const BARS = 90;
const SPAN_MS = 15 * 60_000;
const PARTS = ["ok", "asked", "running", "denied", "timeout", "error"] as const;
type Part = (typeof PARTS)[number];

function partOf(call: LiveCall, isAsked: boolean): Part {
  if (isAsked) return "asked";
  if (call.status === "blocked" || call.status === "denied") return "denied";
  if (call.status === "error" || call.status === "timeout" || call.status === "running") return call.status;
  return "ok";
}

/** Calls of the last quarter of an hour, ten seconds a bar. `since`: how far back the list reaches. */
export function Histogram(props: {
  readonly calls: readonly LiveCall[];
  /** The keys of those that wait for a person. */
  readonly asked: { has(key: string): boolean };
  readonly since: number;
  readonly now: number;
}) {
  // Whole bars, so that they stand still between two of them.
  const step = SPAN_MS / BARS;
  const end = Math.ceil(props.now / step) * step;
  const start = end - SPAN_MS;
  const bars = Array.from({ length: BARS }, () => new Map<Part, number>());
  let failed = 0;
  let denied = 0;
  let all = 0;
  for (const call of props.calls) {
    const bar = bars[Math.floor((call.started_at - start) / step)];
    if (bar === undefined) continue;
    const part = partOf(call, props.asked.has(call.key));
    bar.set(part, (bar.get(part) ?? 0) + 1);
    all += 1;
    if (part === "error" || part === "timeout") failed += 1;
    if (part === "denied") denied += 1;
  }
  const top = Math.max(4, ...bars.map((bar) => [...bar.values()].reduce((sum, one) => sum + one, 0)));
  return (
    <figure
      className="histo"
      role="img"
      aria-label={`Calls in the last 15 minutes: ${plural(all, "call")}, of which ${failed} failed and ${denied} were denied`}
    >
      <svg viewBox="0 0 1000 40" preserveAspectRatio="none" aria-hidden="true">
        {bars.flatMap((bar, index) => {
          const x = (index * 1000) / BARS;
          let height = 0;
          return PARTS.flatMap((part) => {
            const many = bar.get(part);
            if (many === undefined) return [];
            const size = Math.max(2, (many / top) * 40);
            height += size;
            return [
              <rect
                key={`${x}-${part}`}
                className={`c-${part}`}
                x={x}
                y={40 - height}
                width={1000 / BARS - 2}
                height={size}
              />,
            ];
          });
        })}
        {props.since > start && (
          <rect className="unread" x="0" y="0" width={((props.since - start) / SPAN_MS) * 1000} height="40" />
        )}
      </svg>
      <div className="axis" aria-hidden="true">
        {[0, 1 / 3, 2 / 3].map((share) => (
          <span key={share}>{clock(start + share * SPAN_MS).slice(0, 5)}</span>
        ))}
        <span>now</span>
      </div>
    </figure>
  );
}
