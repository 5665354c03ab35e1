import { count, took } from "../../lib/format.js";
import { chooseSpan, spanText } from "./range.js";
import { PARTS, type Point, partOf } from "./types.js";

/** The charts in words and figures, for those who do not see them. A row sets the range, as dragging does. */
export function SeriesTable(props: { readonly series: readonly Point[]; readonly stepMs: number }) {
  const rows = props.series.filter((point) => PARTS.some((part) => partOf(point, part) > 0));
  return (
    <div className="tablewrap tall" tabIndex={0} role="group" aria-label="Calls and times, table">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Time</th>
            {PARTS.map((part) => (
              <th key={part} scope="col" className="num">
                {part}
              </th>
            ))}
            <th scope="col" className="num">
              p50
            </th>
            <th scope="col" className="num">
              p95
            </th>
            <th scope="col" className="num">
              p99
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((point) => (
            <tr key={point.at}>
              <td>
                <button
                  type="button"
                  className="sorter link"
                  onClick={() => chooseSpan(point.at, point.at + props.stepMs)}
                >
                  {spanText(point.at, point.at + props.stepMs)}
                </button>
              </td>
              {PARTS.map((part) => (
                <td key={part} className="num">
                  {partOf(point, part) === 0 ? "–" : count(partOf(point, part))}
                </td>
              ))}
              <td className="num">{took(point.p50_ms)}</td>
              <td className="num">{took(point.p95_ms)}</td>
              <td className="num">{took(point.p99_ms)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
