import { useCallback, useDeferredValue, useMemo } from "react";
import { PageFrame, stateOf } from "../../frame/page-frame.js";
import { plural } from "../../lib/format.js";
import { useKeys } from "../../lib/keys.js";
import { go, pathTo, setQuery, usePlace } from "../../router.js";
import { Button } from "../../ui/button.js";
import { FilterField } from "../../ui/controls.js";
import { List } from "../../ui/list.js";
import { Empty, ErrorState, Skeleton } from "../../ui/states.js";
import { sessionColumns } from "./columns.js";
import { SessionDetail } from "./detail.js";
import { type Row, useSessions } from "./use-sessions.js";
import "./sessions.css";

export default function SessionsPage() {
  const { item, query } = usePlace();
  const words = query.q ?? "";
  const { pages, rows } = useSessions(useDeferredValue(words.trim()));
  const columns = useMemo(() => sessionColumns(words), [words]);
  const open = useCallback(
    (row: Row) =>
      go(pathTo("sessions", { item: row.id, query: { q: words, message: row.passage?.message } })),
    [words],
  );
  const step = (by: 1 | -1) => {
    const at = rows?.findIndex(({ id }) => id === item) ?? -1;
    const next = rows?.[at < 0 ? 0 : at + by];
    if (next !== undefined) open(next);
  };
  useKeys({
    j: () => step(1),
    k: () => step(-1),
    Escape: () => item !== undefined && go(pathTo("sessions", { query: { q: words } })),
  });
  const { fetchNextPage, hasNextPage, isFetchingNextPage } = pages;
  const onEnd = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  const isEmpty = rows?.length === 0;
  return (
    <PageFrame
      title="Sessions"
      state={item === undefined ? stateOf(pages, isEmpty === true) : "ready"}
      fact={
        rows === undefined
          ? undefined
          : words !== ""
            ? `${plural(rows.length, "conversation")} with these words`
            : `${plural(rows.length, "conversation")}${hasNextPage ? " and more" : ""}`
      }
    >
      <div className={item === undefined ? "split sessions" : "split sessions opened"}>
        <div className="pane">
          <div className="filters">
            <FilterField
              label="Search in all messages"
              placeholder="Search in all messages"
              value={words}
              onChange={(value) => setQuery({ q: value === "" ? undefined : value })}
            />
          </div>
          {rows === undefined ? (
            pages.isError ? (
              <ErrorState
                title="The conversations could not be read"
                error={pages.error}
                stillWorks="Calls still run."
                onRetry={() => void pages.refetch()}
                busy={pages.isFetching}
              />
            ) : (
              <Skeleton />
            )
          ) : isEmpty ? (
            words === "" ? (
              <Empty
                icon="sessions"
                title="No conversations yet"
                command='hermes chat -q "What is in this folder?"'
              >
                What you and the agent say to each other is kept here. Begin one:
              </Empty>
            ) : (
              <Empty
                icon="search"
                title="No message has these words"
                action={<Button onClick={() => setQuery({ q: undefined })}>Show all</Button>}
              >
                All words have to stand in the same message. Try fewer of them.
              </Empty>
            )
          ) : (
            <List
              label="Conversations"
              layout="session"
              rowHeight={58}
              rows={rows}
              columns={columns}
              keyOf={({ id }) => id}
              selected={item}
              onOpen={open}
              onEnd={onEnd}
            />
          )}
        </div>
        {item !== undefined && <SessionDetail key={item} id={item} />}
      </div>
    </PageFrame>
  );
}
