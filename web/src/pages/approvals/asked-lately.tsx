import { useQuery } from "@tanstack/react-query";
import { address, get } from "../../api/client.js";
import type { CallsAnswer } from "../../api/types.js";
import { plural } from "../../lib/format.js";

const LATELY_MS = 30 * 86_400_000;
const MOST_COUNTED = 1_000;

/** What widening would have saved somebody from answering. */
export function AskedLately({ rule }: { readonly rule: string }) {
  const calls = useQuery({
    queryKey: ["calls", "rule", rule],
    queryFn: async ({ signal }) =>
      (await get<CallsAnswer>(address("/v1/calls", { brief: 1, rule, limit: MOST_COUNTED }), { signal }))
        .calls,
  }).data;
  if (calls === undefined) return null;
  const since = Date.now() - LATELY_MS;
  const asked = calls.filter(
    ({ decision, started_at }) => decision.startsWith("ask") && started_at >= since,
  ).length;
  return `${plural(asked, "call")} of the last 30 days ${asked === 1 ? "was" : "were"} asked about for it.`;
}
