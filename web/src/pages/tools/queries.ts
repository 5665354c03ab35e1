import { queryOptions } from "@tanstack/react-query";
import { address, get } from "../../api/client.js";
import type { CallsAnswer, ToolAnswer, ToolListing } from "../../api/types.js";

export const toolsQuery = queryOptions({
  queryKey: ["tools", "all"],
  queryFn: async ({ signal }) => {
    const given = await get<readonly ToolListing[] | { readonly tools: readonly ToolListing[] }>(
      "/v1/tools?detail=1",
      { signal },
    );
    return "tools" in given ? given.tools : given;
  },
});

export const toolQuery = (name: string) =>
  queryOptions({
    queryKey: ["tools", "one", name],
    queryFn: ({ signal }) => get<ToolAnswer>(`/v1/tools/${encodeURIComponent(name)}`, { signal }),
  });

export const callsQuery = (tool: string) =>
  queryOptions({
    queryKey: ["calls", "of", tool],
    queryFn: ({ signal }) =>
      get<CallsAnswer>(address("/v1/calls", { brief: 1, tool, limit: 20 }), { signal }),
  });

/** MCP tools are known by their bare name; the server stands in grey beside it. */
export function shownName(tool: ToolListing): { readonly name: string; readonly from?: string } {
  const { kind, source } = tool.provenance as { readonly kind: string; readonly source?: string };
  if (kind !== "mcp" || source === undefined) return { name: tool.name };
  const bare = tool.name.replace(new RegExp(`^mcp_+${source.replace(/\W/g, "_")}_+`), "");
  return { name: bare, from: source };
}
