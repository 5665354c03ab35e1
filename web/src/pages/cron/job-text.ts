import type { JobAnswer } from "../../api/types.js";
import { gist } from "../../lib/gist.js";
import type { Tone } from "../../ui/status.js";

/** What it does, in a line. */
export function whatText(job: JobAnswer): string {
  if (job.tool_call !== undefined) return `${job.tool_call.name} ${gist(job.tool_call.arguments)}`;
  return job.script ?? job.prompt ?? "";
}

export function stateLook(state: string): { readonly tone: Tone; readonly word: string } {
  if (state === "paused") return { tone: "cancelled", word: "paused" };
  if (state === "running") return { tone: "running", word: "running" };
  if (/done|finished|completed|ended/.test(state)) return { tone: "cancelled", word: state };
  return { tone: "ok", word: state };
}

export function statusTone(status: string): Tone {
  if (/^(?:ok|success|done|completed|silent)/.test(status)) return "ok";
  if (/running|started/.test(status)) return "running";
  if (/timeout/.test(status)) return "timeout";
  if (/denied|blocked/.test(status)) return "denied";
  if (/cancel|skipped|missed/.test(status)) return "cancelled";
  return /fail|error/.test(status) ? "error" : "unknown";
}

/** `in 4 m 12 s`, `in 3 h`, `in 2 d`; `now` when its time has come. */
export function untilText(at: number, now: number): string {
  const seconds = Math.round((at - now) / 1_000);
  if (seconds <= 0) return "now";
  if (seconds < 60) return `in ${seconds} s`;
  if (seconds < 3_600) return `in ${Math.floor(seconds / 60)} m ${seconds % 60} s`;
  if (seconds < 172_800) return `in ${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} m`;
  return `in ${Math.floor(seconds / 86_400)} d`;
}
