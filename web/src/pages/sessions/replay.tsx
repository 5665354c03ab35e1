import { useQuery } from "@tanstack/react-query";
import { get } from "../../api/client.js";
import type { ReplayAnswer } from "../../api/types.js";
import { plural } from "../../lib/format.js";
import { visible, visibleLine } from "../../lib/visible.js";
import { pathTo } from "../../router.js";
import { Code, CopyButton } from "../../ui/bits.js";
import { Icon, toolIcon } from "../../ui/icon.js";
import { Link } from "../../ui/link.js";
import { Empty, ErrorState, Skeleton, Strip } from "../../ui/states.js";

/** What today's tools and rules would make of the calls; nothing runs. */
export function Replay({ id }: { readonly id: string }) {
  const asked = useQuery({
    queryKey: ["replay", id],
    queryFn: ({ signal }) => get<ReplayAnswer>(`/v1/sessions/${encodeURIComponent(id)}/replay`, { signal }),
    // Rules and tools may have changed since somebody looked.
    staleTime: 0,
  });
  const { data } = asked;
  if (data === undefined)
    return asked.isError ? (
      <ErrorState
        title="It could not be replayed"
        error={asked.error}
        stillWorks="The conversation itself stays as it is."
        onRetry={() => void asked.refetch()}
        busy={asked.isFetching}
      />
    ) : (
      <Skeleton rows={4} label="Asking today's rules about each call" />
    );
  if (data.calls === 0)
    return (
      <Empty icon="sessions" title="Nothing to replay">
        No tool was called in this conversation.
      </Empty>
    );
  const isSame = data.different.length === 0;
  return (
    <section className="replay" aria-label="Replay">
      <Strip tone={isSame ? "ok" : "error"} icon={isSame ? "s-ok" : "s-error"}>
        <b>
          {isSame
            ? `${plural(data.same, "call")} would end as ${data.same === 1 ? "it" : "they"} did`
            : `${plural(data.different.length, "call")} of ${data.calls} would end otherwise`}
        </b>{" "}
        by the tools and rules of today. Nothing ran.
        {data.unknown > 0 &&
          ` Of ${plural(data.unknown, "call")} only a part of the arguments was kept, so nobody can say.`}
      </Strip>
      {!isSame && (
        <ul className="card replay-list" aria-label="Differences">
          {data.different.map(({ id: call, name, why }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: ids of calls repeat
            <li key={index}>
              <Icon name={toolIcon(name, undefined)} />
              <Link className="link" href={pathTo("live", { query: { conversation: id, call } })}>
                {visibleLine(name)}
              </Link>
              <span className="soft grow">{visible(why)}</span>
            </li>
          ))}
        </ul>
      )}
      <div className="replay-how">
        <p className="quiet">As a check that fails when something would end otherwise:</p>
        <div className="row-flex">
          <Code label="Command">{`hermes replay ${id}`}</Code>
          <CopyButton text={`hermes replay ${id}`} />
        </div>
      </div>
    </section>
  );
}
