import { useQuery } from "@tanstack/react-query";
import { queryClient } from "../../api/queries.js";
import { useEvents } from "../../events/use-events.js";
import { PageFrame, stateOf as pageState } from "../../frame/page-frame.js";
import { plural } from "../../lib/format.js";
import { useKeys } from "../../lib/keys.js";
import { go, pathTo, usePlace } from "../../router.js";
import { ButtonLink } from "../../ui/button.js";
import { Empty, ErrorState, Skeleton } from "../../ui/states.js";
import { toolsQuery } from "./queries.js";
import { ToolDetail } from "./tool-detail.js";
import { stateOf, ToolList } from "./tool-list.js";
import "./tools.css";

export default function ToolsPage() {
  const tools = useQuery(toolsQuery);
  const { item, query } = usePlace();
  const all = tools.data ?? [];
  useEvents(({ type, name }) => {
    if (type === "call.finished" && name === item)
      void queryClient.invalidateQueries({ queryKey: ["calls", "of", item] });
  });
  const step = (by: number) => {
    const at = all.findIndex(({ name }) => name === item);
    const next = all[Math.min(all.length - 1, Math.max(0, at + by))];
    if (next !== undefined) go(pathTo("tools", { item: next.name, query }), { replace: true });
  };
  useKeys({
    j: () => step(1),
    k: () => step(-1),
    Escape: () => item !== undefined && go(pathTo("tools", { query: { q: query.q, show: query.show } })),
  });
  const count = (state: string) => all.filter((tool) => stateOf(tool) === state).length;
  const [ready, setup, off] = [count("ready"), count("setup"), count("off")];
  const fact = [`${ready} ready`, setup > 0 && `${setup} need set-up`, off > 0 && `${off} off`].filter(
    Boolean,
  );
  return (
    <PageFrame
      title="Tools"
      state={pageState(tools, all.length === 0)}
      fact={tools.data === undefined ? undefined : fact.join(" · ")}
      controls={
        <span className={item === undefined ? "" : "wide-only"}>
          <ButtonLink href={pathTo("sources")} icon="sources">
            Sources
          </ButtonLink>
        </span>
      }
    >
      {tools.data === undefined ? (
        tools.isError ? (
          <ErrorState
            title="The tools could not be listed"
            error={tools.error}
            stillWorks="Calls still run."
            onRetry={() => void tools.refetch()}
            busy={tools.isFetching}
          />
        ) : (
          <Skeleton />
        )
      ) : all.length === 0 ? (
        <Empty icon="tools" title="No tools" command="hermes tools list">
          Built-in tools, plugins, YAML files and MCP servers show up here.
        </Empty>
      ) : (
        <div className={item === undefined ? "split tools-split" : "split tools-split with-item"}>
          <ToolList tools={all} />
          {item === undefined ? (
            <Empty icon="tools" title="Pick a tool">
              {plural(all.length, "tool")} in {new Set(all.map(({ toolset }) => toolset)).size} toolsets. Each
              can be tried here: nothing runs before you press Run, and every run goes through the same rules
              as a model's call.
            </Empty>
          ) : (
            <ToolDetail key={item} name={item} listed={all.find(({ name }) => name === item)} />
          )}
        </div>
      )}
    </PageFrame>
  );
}
