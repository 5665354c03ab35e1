import { QueryClient, queryOptions } from "@tanstack/react-query";
import { ApiError, address, get, UNREACHABLE } from "./client.js";
import type { ApprovalsAnswer, InfoAnswer, ProcessesAnswer, SessionsAnswer, SourcesAnswer } from "./types.js";

/** Data stays on screen while it is asked for again; the event stream says when that is. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      gcTime: 300_000,
      refetchOnWindowFocus: false,
      networkMode: "always",
      retry: (failures, error) => failures < 2 && error instanceof ApiError && error.code === UNREACHABLE,
    },
    mutations: { networkMode: "always" },
  },
});

export const infoQuery = queryOptions({
  queryKey: ["info"],
  queryFn: ({ signal }) => get<InfoAnswer>("/v1/info", { signal }),
});

export const approvalsQuery = queryOptions({
  queryKey: ["approvals", "open"],
  queryFn: async ({ signal }) => (await get<ApprovalsAnswer>("/v1/approvals", { signal })).approvals,
});

export const processesQuery = queryOptions({
  queryKey: ["processes"],
  queryFn: async ({ signal }) => (await get<ProcessesAnswer>("/v1/processes", { signal })).processes,
});

export const sourcesQuery = queryOptions({
  queryKey: ["sources"],
  queryFn: ({ signal }) => get<SourcesAnswer>("/v1/sources", { signal }),
});

/** The conversations that were used last. */
export const recentQuery = queryOptions({
  queryKey: ["sessions", "recent"],
  queryFn: ({ signal }) => get<SessionsAnswer>(address("/v1/sessions", { limit: 20 }), { signal }),
});
