import { useInfiniteQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { address, get } from "../../api/client.js";
import type { LogLine, LogsAnswer } from "../../api/types.js";
import { useEvents } from "../../events/use-events.js";

const PAGE = 500;
const MOST_NEW = 5_000;
const NO_LINES: readonly LogLine[] = [];

/** The kept lines and those that come, newest first. While `held`, what comes waits. */
export function useLogs(held: boolean) {
  const pages = useInfiniteQuery({
    queryKey: ["logs"],
    initialPageParam: undefined as number | undefined,
    queryFn: ({ pageParam, signal }) =>
      get<LogsAnswer>(address("/v1/logs", { limit: PAGE, before: pageParam }), { signal }),
    getNextPageParam: (last) => last.next_before,
  });
  const [came, setCame] = useState<{
    readonly shown: readonly LogLine[];
    readonly waiting: readonly LogLine[];
  }>({
    shown: NO_LINES,
    waiting: NO_LINES,
  });
  useEvents((event) => {
    if (event.type !== "log.line") return;
    const line = event as unknown as LogLine;
    setCame(({ shown, waiting }) =>
      held
        ? { shown, waiting: [line, ...waiting].slice(0, MOST_NEW) }
        : { shown: [line, ...waiting, ...shown].slice(0, MOST_NEW), waiting: NO_LINES },
    );
  });
  const release = () =>
    setCame(({ shown, waiting }) => ({ shown: [...waiting, ...shown], waiting: NO_LINES }));
  const lines = useMemo(() => {
    const all = [...came.shown, ...(pages.data?.pages ?? []).flatMap(({ lines: page }) => page.toReversed())];
    // What came while the first page was on its way is in both.
    const seen = new Set<number>();
    return all
      .filter(({ seq }) => !seen.has(seq) && seen.add(seq))
      .sort((first, second) => second.seq - first.seq);
  }, [came.shown, pages.data]);
  return { pages, lines, waiting: came.waiting.length, release };
}
