import type { Answer, RuleOrigin } from "./types.js";

/** One rule that was looked at on the way to a decision. */
export interface TraceStep {
  /** Id of the rule, as decisions name it. */
  readonly rule: string;
  /** The list it stands in: `deny`, `approval_required`, `denied_paths` … */
  readonly list?: string;
  /** What it said; "no match" when it is about something else, "pass" when its limits are kept. */
  readonly outcome: Answer | "no match" | "pass";
  readonly at?: RuleOrigin;
  /** The effect it was about; absent for rules about the whole call. */
  readonly effect?: string;
  readonly reason?: string;
}

/** Takes notes for `explain`; absent while a call is really decided. */
export type Note = ((step: TraceStep) => void) | undefined;
