import { useEffect, useRef, useSyncExternalStore } from "react";
import { queryClient } from "../api/queries.js";
import { EventStream, type ServerEvent, type StreamState } from "./stream.js";

export const stream = new EventStream();

/** Calls `listener` with every event while the component is there. */
export function useEvents(listener: (event: ServerEvent) => void): void {
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => stream.on((event) => latest.current(event)), []);
}

export function useStreamState(): StreamState {
  return useSyncExternalStore(stream.subscribeState, stream.state);
}

/** Which questions are asked anew after which events; events come in bursts, so a moment later and once. */
const STALE: readonly (readonly [prefix: string, keys: readonly string[]])[] = [
  ["approval.", ["approvals"]],
  ["process.", ["processes"]],
  ["job.", ["cron"]],
  ["tools.", ["tools", "info"]],
  ["tool.", ["tools", "info"]],
  ["source.", ["sources"]],
  ["reload.", ["tools", "sources", "settings", "info", "changes"]],
];
const SETTLE_MS = 150;

export function refetchOnEvents(): void {
  const stale = new Set<string>();
  let planned = false;
  const plan = () => {
    if (planned) return;
    planned = true;
    setTimeout(() => {
      planned = false;
      const keys = [...stale];
      stale.clear();
      for (const key of keys) void queryClient.invalidateQueries({ queryKey: [key] });
    }, SETTLE_MS);
  };
  stream.on(({ type }) => {
    if (type === "stream.reset") {
      void queryClient.invalidateQueries();
      return;
    }
    for (const [prefix, keys] of STALE) if (type.startsWith(prefix)) for (const key of keys) stale.add(key);
    if (stale.size > 0) plan();
  });
}
