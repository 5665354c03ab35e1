import type { Content } from "./content.js";
import type { Failure } from "./errors.js";

/** One call as every adapter hands it over, before anything is known about it. */
export interface IncomingCall {
  readonly id: string;
  readonly name: string;
  /** An object, or JSON text as OpenAI sends it. Decode judges it; nobody before decode may trust it. */
  readonly arguments: unknown;
  /** Set when the adapter could not make a call of this entry; the call then ends here with it. */
  readonly malformed?: Failure;
}

export interface Decision {
  readonly verdict: "allow" | "deny" | "ask";
  /** Id of the rule that decided, e.g. "profile:default/file:write". */
  readonly rule: string;
  readonly reason?: string;
  /** How an "ask" was answered, once it was. */
  readonly answer?: "once" | "session" | "always" | "deny" | "timeout" | "nobody" | "reviewer";
  /** Who answered, where that is known. */
  readonly by?: string | undefined;
}

/**
 * How far a call came. `partial`: it began and did not come to its end, so all, some or none of its effects may have
 * happened.
 */
export type CallState = "not_started" | "partial" | "done";

/** The result envelope of the CLI, the library and HTTP. Field names are part of the public interface. */
export interface CallResult {
  readonly id: string;
  readonly name: string;
  readonly called_as: string;
  readonly ok: boolean;
  readonly state: CallState;
  /** How the program ended that the call ran; 124 when its time was over. */
  readonly exit_code?: number;
  readonly content: readonly Content[];
  readonly structured?: unknown;
  /**
   * What a person sees: the `human` of the tool's `present`, else the text of `content`; after a failure its
   * message and hint. May hold marks of `marked-text.ts`. Wire formats leave it out.
   */
  readonly human: string;
  readonly error?: Failure;
  readonly duration_ms: number;
  readonly environment: string;
  /** The worker of a cluster that ran it. */
  readonly worker?: string;
  readonly decision?: Decision;
  readonly truncated: boolean;
  /** Who outside wrote text of this result (addresses, servers); the model gets it in a frame that says so. */
  readonly untrusted_from?: readonly string[];
  /** Where the whole text was saved when `content` holds only a preview. */
  readonly spilled_to?: string;
  /** Loop-guardrail notices and similar remarks that were appended for the model. */
  readonly notices?: readonly string[];
}
