import { keepPreviousData, useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { address, get } from "../../api/client.js";
import type { SessionAnswer, SessionChangesAnswer, SessionLine, SessionsAnswer } from "../../api/types.js";
import { useEvents } from "../../events/use-events.js";

const PAGE = 50;
const REFRESH_MS = 1_500;

/** A conversation, and with a search the best passage of it. */
export interface Row extends SessionLine {
  readonly passage?:
    | { readonly message: string; readonly snippet: string; readonly role: string }
    | undefined;
}

export function useSessions(words: string) {
  const client = useQueryClient();
  const pages = useInfiniteQuery({
    queryKey: ["sessions", "list", words],
    placeholderData: keepPreviousData,
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) =>
      get<SessionsAnswer>(address("/v1/sessions", { limit: PAGE, before: pageParam, q: words }), { signal }),
    getNextPageParam: (last) => last.next_before,
  });
  // Conversations grow call by call; asking once for a burst of them is enough.
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  useEvents(({ type }) => {
    if (!/^(?:call\.finished|chat\.|session\.|turn\.)/.test(type) || timer.current !== undefined) return;
    timer.current = setTimeout(() => {
      timer.current = undefined;
      void client.invalidateQueries({ queryKey: ["sessions"] });
    }, REFRESH_MS);
  });
  const rows = pages.data?.pages.flatMap((page) =>
    page.sessions.map((session): Row => {
      const passage = page.found?.find((found) => found.session === session.id);
      return passage === undefined ? session : { ...session, passage };
    }),
  );
  return { pages, rows };
}

export function messagesQuery(id: string, around: string | undefined) {
  // A little of what stands before the passage that was looked for.
  const after = around === undefined ? undefined : String(Math.max(0, Number(around) - 4));
  return {
    queryKey: ["sessions", "one", id, after],
    initialPageParam: after,
    queryFn: ({ pageParam, signal }: { pageParam: string | undefined; signal: AbortSignal }) =>
      get<SessionAnswer>(
        address(`/v1/sessions/${encodeURIComponent(id)}`, { after: pageParam, limit: 100 }),
        { signal },
      ),
    getNextPageParam: (last: SessionAnswer) => last.next_after,
  };
}

export function changesQuery(id: string) {
  return {
    queryKey: ["sessions", "changes", id],
    queryFn: ({ signal }: { signal: AbortSignal }) =>
      get<SessionChangesAnswer>(`/v1/sessions/${encodeURIComponent(id)}/changes`, { signal }),
  };
}
