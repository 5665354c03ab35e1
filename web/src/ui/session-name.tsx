import { useQuery } from "@tanstack/react-query";
import { address, get } from "../api/client.js";
import type { SessionAnswer } from "../api/types.js";
import { visibleLine } from "../lib/visible.js";

/** What people call a session: the title of its conversation, where it has one. */
export function SessionName(props: { readonly session: string; readonly conversation?: string | undefined }) {
  const { conversation } = props;
  const asked = useQuery({
    queryKey: ["sessions", "title", conversation],
    queryFn: async ({ signal }) => {
      const path = `/v1/sessions/${encodeURIComponent(conversation ?? "")}`;
      return (await get<SessionAnswer>(address(path, { limit: 1 }), { signal })).title;
    },
    enabled: conversation !== undefined,
  });
  return <span title={visibleLine(props.session)}>{visibleLine(asked.data || props.session)}</span>;
}
