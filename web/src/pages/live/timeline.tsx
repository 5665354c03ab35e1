import type { BriefCall, WholeCall } from "../../api/types.js";
import { took } from "../../lib/format.js";
import { visibleLine } from "../../lib/visible.js";
import { setQuery } from "../../router.js";
import { Section } from "../../ui/drawer.js";
import { StatusIcon, toneOf } from "../../ui/status.js";
import { idOf } from "./calls-store.js";

/** At least two pixels, so that the quickest call is still seen. */
const LEAST = 7;
const WIDTH = 1_000;
const MARKS = [0, 1 / 3, 2 / 3, 1];
const SHOWN = 60;

/** A call and those inside it on one axis; picking one shows it in the drawer. */
export function Timeline(props: {
  readonly root: WholeCall;
  readonly children_: readonly BriefCall[];
  readonly current: string;
}) {
  const { root } = props;
  const children = props.children_.toSorted((a, b) => a.started_at - b.started_at);
  const start = Math.min(root.started_at, ...children.map(({ started_at }) => started_at));
  const end = Math.max(
    root.started_at + (root.duration_ms ?? 0),
    ...children.map((call) => call.started_at + (call.duration_ms ?? 0)),
    start + 1,
  );
  const span = end - start;
  const hasWait = [root, ...children].some(({ approval_wait_ms }) => (approval_wait_ms ?? 0) > 0);
  const place = (ms: number) => ((ms - start) / span) * WIDTH;
  return (
    <Section
      title="Timeline"
      end={
        <span className="legend">
          <span>
            <svg viewBox="0 0 12 8" aria-hidden="true">
              <rect className="b-ok" width="12" height="8" />
            </svg>
            ran
          </span>
          {hasWait && (
            <span>
              <svg viewBox="0 0 12 8" aria-hidden="true">
                <Hatch id="hatch-key" width={5} />
                <rect fill="url(#hatch-key)" width="12" height="8" />
              </svg>
              waited for you
            </span>
          )}
        </span>
      }
    >
      <div className="tl">
        <div className="tl-axis" aria-hidden="true">
          <span />
          <span className="marks">
            {MARKS.map((share) => (
              <span key={share}>{share === 0 ? "0" : took(span * share)}</span>
            ))}
          </span>
          <span />
        </div>
        <ol>
          {[root, ...children.slice(0, SHOWN)].map((call, index) => {
            const tone = toneOf(call.status);
            const wait = Math.min(call.approval_wait_ms ?? 0, call.duration_ms ?? 0);
            const from = place(call.started_at);
            const ran = from + (wait / span) * WIDTH;
            const to = Math.max(place(call.started_at + (call.duration_ms ?? 0)), ran + LEAST);
            return (
              <li key={call.call_id}>
                <button
                  type="button"
                  className="tl-node"
                  data-level={index === 0 ? 1 : 2}
                  data-st={tone}
                  aria-current={call.call_id === props.current || undefined}
                  onClick={() => setQuery({ call: idOf(call as BriefCall) })}
                >
                  <span className="label">
                    <StatusIcon tone={tone} />
                    <span className="hush">{tone}</span>
                    <span className="cut">{visibleLine(call.tool)}</span>
                  </span>
                  <svg
                    className="bars"
                    viewBox={`0 0 ${WIDTH} 10`}
                    preserveAspectRatio="none"
                    aria-hidden="true"
                  >
                    <Hatch id={`hatch-${index}`} width={22} />
                    <path className="lane" d={`M0 5h${WIDTH}`} />
                    {wait > 0 && (
                      <rect
                        fill={`url(#hatch-${index})`}
                        x={from}
                        width={Math.max(LEAST, ran - from)}
                        y="1"
                        height="8"
                      />
                    )}
                    <rect
                      className={index === 0 ? "b-root" : "b-tone"}
                      x={Math.min(ran, WIDTH - LEAST)}
                      width={Math.min(to, WIDTH) - Math.min(ran, WIDTH - LEAST)}
                      y="1"
                      height="8"
                    />
                  </svg>
                  <span className="num quiet">{took(call.duration_ms)}</span>
                </button>
              </li>
            );
          })}
        </ol>
        {children.length > SHOWN && <p className="note">{children.length - SHOWN} more are in the list.</p>}
      </div>
    </Section>
  );
}

function Hatch(props: { readonly id: string; readonly width: number }) {
  return (
    <pattern id={props.id} width={props.width} height="8" patternUnits="userSpaceOnUse">
      <rect className="hatch-bg" width={props.width} height="8" />
      <path
        className="hatch-line"
        d={`M-2 9L${props.width * 0.6} -1M${props.width - 2} 9L${props.width * 1.6} -1`}
      />
    </pattern>
  );
}
