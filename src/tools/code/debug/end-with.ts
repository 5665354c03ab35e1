import type { RunningProcess } from "../../../env/environment.js";

/** Whoever gives the signal need not know yet what has been started. */
export function endWith(stop: AbortSignal, process: RunningProcess): void {
  const end = () => void process.end();
  if (stop.aborted) end();
  else stop.addEventListener("abort", end, { once: true });
}
