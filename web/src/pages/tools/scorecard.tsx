import { useQuery } from "@tanstack/react-query";
import { address, get } from "../../api/client.js";
import type { ScorecardsAnswer } from "../../api/types.js";
import { count, plural, took } from "../../lib/format.js";
import { visible, visibleLine } from "../../lib/visible.js";
import { Card } from "../../ui/bits.js";
import { Icon } from "../../ui/icon.js";
import { Empty, ErrorState, Skeleton } from "../../ui/states.js";

/** How each model gets along with the tool, and what a better description could prevent. */
export function ScorecardTab({ tool }: { readonly tool: string }) {
  const asked = useQuery({
    queryKey: ["calls", "scorecard", tool],
    queryFn: ({ signal }) => get<ScorecardsAnswer>(address("/v1/scorecards", { tool }), { signal }),
  });
  const { data } = asked;
  if (data === undefined)
    return asked.isError ? (
      <ErrorState
        title="The scorecard could not be counted"
        error={asked.error}
        onRetry={() => void asked.refetch()}
        busy={asked.isFetching}
      />
    ) : (
      <Skeleton rows={4} />
    );
  if (data.cards.length === 0)
    return (
      <Empty icon="tools" title="Nobody has called it yet">
        Once models call it, here is what they get wrong and what its description could say.
      </Empty>
    );
  const hints = data.cards.flatMap((card) => card.hints);
  return (
    <div className="page">
      <Card title="By model" end={`the last ${data.days} days`}>
        <div className="tablewrap" tabIndex={0} role="group" aria-label="By model, table">
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Model</th>
                {["Calls", "Failed", "Mended", "Repeated", "Cut", "Tokens", "p50", "p95"].map((title) => (
                  <th key={title} scope="col" className="num">
                    {title}
                  </th>
                ))}
                <th scope="col">Errors</th>
              </tr>
            </thead>
            <tbody>
              {data.cards.map((card) => (
                <tr key={card.model ?? ""}>
                  <td>
                    {card.model === null ? <span className="quiet">no model</span> : visibleLine(card.model)}
                  </td>
                  {[card.calls, card.calls - card.ok, card.repaired, card.retries, card.truncated].map(
                    (value, index) => (
                      // biome-ignore lint/suspicious/noArrayIndexKey: columns have no other name
                      <td key={index} className="num">
                        {value === 0 ? "–" : count(value)}
                      </td>
                    ),
                  )}
                  <td className="num">{count(card.result_tokens)}</td>
                  <td className="num">{card.p50_ms === undefined ? "–" : took(card.p50_ms)}</td>
                  <td className="num">{card.p95_ms === undefined ? "–" : took(card.p95_ms)}</td>
                  <td className="soft">{errorsText(card.errors_by_code)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </Card>
      <Card title="What its description could say" end={hints.length > 0 && plural(hints.length, "hint")}>
        {hints.length === 0 ? (
          <p className="quiet hints">Nothing was got wrong often enough to tell from it.</p>
        ) : (
          <ul className="hints">
            {hints.map((hint) => (
              <li key={hint}>
                <Icon name="info" />
                <span>{visible(hint)}</span>
              </li>
            ))}
          </ul>
        )}
      </Card>
    </div>
  );
}

function errorsText(codes: Readonly<Record<string, number>>): string {
  return (
    Object.entries(codes)
      .map(([code, times]) => `${times} ${code}`)
      .join(", ") || "–"
  );
}
