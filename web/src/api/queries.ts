import { QueryClient, queryOptions } from "@tanstack/react-query";
import { ApiError, get, UNREACHABLE } from "./client.js";
import type { ApprovalsAnswer, InfoAnswer } from "./types.js";

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
