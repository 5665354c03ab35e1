import type { Store } from "../store/store.js";
import type { ScheduledJobs } from "./types.js";

export function openJobs(_options: { readonly store: Store; readonly timezone: string }): ScheduledJobs {
  throw new Error("not written yet");
}
