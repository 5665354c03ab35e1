import { useMutation, useQueryClient } from "@tanstack/react-query";
import { post } from "../../api/client.js";
import type { Drift, SourceAccepted } from "../../api/types.js";
import { visible, visibleLine } from "../../lib/visible.js";
import { Code } from "../../ui/bits.js";
import { Button } from "../../ui/button.js";
import { Sides } from "../../ui/sides.js";
import { definitionText } from "./definition-text.js";

/** What a server says of a tool now, beside what was agreed to. The yes is to exactly what stands here. */
export function DriftOf(props: { readonly source: string; readonly drift: Drift }) {
  const { drift } = props;
  const queries = useQueryClient();
  const accept = useMutation({
    mutationFn: () =>
      post<SourceAccepted>(`/v1/sources/${encodeURIComponent(props.source)}/accept`, {
        changes: [{ tool: drift.tool, fingerprint: drift.fingerprint }],
      }),
    onSettled: () => {
      void queries.invalidateQueries({ queryKey: ["sources"] });
      void queries.invalidateQueries({ queryKey: ["tools"] });
    },
  });
  const missed = accept.data?.missed.includes(drift.tool) === true;
  return (
    <section className="drift" aria-label={`Change of ${visibleLine(drift.tool)}`}>
      <div className="hd">
        <b>{visible(drift.tool)}</b>
        <span className="quiet">calls are held back until you accept what it says now</span>
        <span className="end">
          <Button busy={accept.isPending} onClick={() => accept.mutate()}>
            Accept change
          </Button>
        </span>
      </div>
      {accept.error !== null && (
        <p className="bad-text" role="alert">
          {visible(accept.error.message)}
        </p>
      )}
      {missed && (
        <p className="bad-text" role="alert">
          It has changed once more since this was shown. Look again.
        </p>
      )}
      {drift.before !== undefined && drift.now !== undefined ? (
        <Sides
          label={`Definition of ${visibleLine(drift.tool)}`}
          before={definitionText(drift.before)}
          after={definitionText(drift.now)}
          titles={["Accepted", "Now"]}
        />
      ) : (
        <Code wrap label="What changed">
          {visible(drift.change)}
        </Code>
      )}
    </section>
  );
}
