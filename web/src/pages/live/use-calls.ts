import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useSyncExternalStore } from "react";
import { address, get } from "../../api/client.js";
import type { CallsAnswer } from "../../api/types.js";
import { useEvents } from "../../events/use-events.js";
import { CallsStore } from "./calls-store.js";
import { type CallFilter, matcher } from "./filters.js";

const PAGE = 500;
/** Calls of other processes of this home are in the journal too, but send no event here. */
const LOOK_AGAIN_MS = 5_000;
const RECENT = 100;

/** The calls that match, live. `statuses` are for older pages only: of the newest, all are kept and counted. */
export function useCalls(filter: CallFilter, statuses: readonly string[]) {
  const key = JSON.stringify(filter);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` is the filter
  const store = useMemo(() => new CallsStore(matcher(filter)), [key]);
  const { calls, waiting } = useSyncExternalStore(store.subscribe, store.snapshot);
  const pages = useInfiniteQuery({
    queryKey: ["calls", key, statuses.join()],
    initialPageParam: undefined as number | undefined,
    queryFn: ({ pageParam, signal }) =>
      pageParam === undefined
        ? // The newest are asked for whatever their status, for the counts.
          get<CallsAnswer>(address("/v1/calls", { brief: 1, ...filter, limit: PAGE }), { signal })
        : olderCalls({ filter, statuses, before: pageParam, signal }),
    getNextPageParam: (last) => last.next_before,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const told = pages.data?.pages;
  useEffect(() => {
    for (const page of told ?? []) store.add(page.calls, { fresh: false });
  }, [told, store]);

  useEvents((event) => store.hear(event));
  // biome-ignore lint/correctness/useExhaustiveDependencies: the store changes with the filter
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.hidden) return;
      get<CallsAnswer>(address("/v1/calls", { brief: 1, ...filter, limit: RECENT })).then(
        (answer) => store.add(answer.calls, { fresh: true }),
        () => undefined,
      );
    }, LOOK_AGAIN_MS);
    return () => clearInterval(timer);
  }, [store]);

  const first = told?.[0];
  return {
    store,
    calls,
    waiting,
    pages,
    journal: first?.journal ?? true,
    /** From when on every call is here. */
    completeSince: first?.next_before === undefined ? 0 : (first.calls.at(-1)?.started_at ?? 0),
  };
}

/** Older calls of some statuses. The server filters by one, so several answers become one page without gaps. */
async function olderCalls(options: {
  readonly filter: CallFilter;
  readonly statuses: readonly string[];
  readonly before: number;
  readonly signal: AbortSignal;
}): Promise<CallsAnswer> {
  const { filter, before, signal } = options;
  const asked = options.statuses.length === 0 ? [undefined] : options.statuses;
  const answers = await Promise.all(
    asked.map((status) =>
      get<CallsAnswer>(address("/v1/calls", { brief: 1, ...filter, limit: PAGE, before, status }), {
        signal,
      }),
    ),
  );
  const ends = answers.flatMap(({ next_before }) => next_before ?? []);
  const until = ends.length === 0 ? undefined : Math.max(...ends);
  return {
    journal: true,
    calls: answers.flatMap(({ calls }) => calls).filter(({ seq }) => until === undefined || seq >= until),
    next_before: until,
  };
}
