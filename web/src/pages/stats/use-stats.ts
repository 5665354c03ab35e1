import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { address, get } from "../../api/client.js";
import { useEvents } from "../../events/use-events.js";
import type { Range } from "./range.js";
import type { Dimension, StatsAnswer, StatsFilter } from "./types.js";

/** Counting again after every single call would be more work than the calls. */
const REFRESH_MS = 4_000;

export function useStats(range: Range, { by, only }: { readonly by: Dimension; readonly only: StatsFilter }) {
  const client = useQueryClient();
  const query = useQuery({
    queryKey: ["stats", range.name, range.from, range.until, by, only],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const until = range.until ?? Date.now();
      const since = range.from ?? until - range.lengthMs;
      const stats = await get<StatsAnswer>(
        address("/v1/stats", { since: Math.floor(since), until: range.until, by, ...only }),
        { signal },
      );
      return { ...stats, since, until };
    },
  });
  const earlier = useQuery({
    queryKey: ["stats", "before", range.name, range.from, range.until, only],
    staleTime: 60_000,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const until = (range.from ?? Date.now() - range.lengthMs) - 1;
      return get<StatsAnswer>(
        address("/v1/stats", {
          since: Math.floor(until - range.lengthMs),
          until: Math.floor(until),
          ...only,
        }),
        { signal },
      );
    },
  });
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  useEvents(({ type }) => {
    if (type !== "call.finished" || range.until !== undefined || timer.current !== undefined) return;
    timer.current = setTimeout(() => {
      timer.current = undefined;
      void client.invalidateQueries({ queryKey: ["stats", range.name] });
    }, REFRESH_MS);
  });
  return { query, before: earlier.data?.total };
}
