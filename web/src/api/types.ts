/** The server's answers as the dashboard reads them; docs/http-api.md describes the routes. */

export type CallStatus =
  | "ok"
  | "error"
  | "blocked"
  | "denied"
  | "timeout"
  | "cancelled"
  | "running"
  | "unknown";

export interface BriefCall {
  readonly seq: number;
  readonly call_id: string;
  readonly session_id: string;
  readonly tool: string;
  readonly toolset?: string;
  readonly door: string;
  readonly environment: string;
  readonly status: CallStatus;
  readonly state?: string;
  readonly error_code?: string;
  readonly error_message?: string;
  readonly duration_ms?: number;
  readonly approval_wait_ms?: number;
  readonly queued_ms?: number;
  readonly started_at: number;
  readonly parent?: string;
  readonly decision: string;
  readonly rule: string;
  readonly model?: string;
  readonly preview: string;
  readonly result_chars?: number;
}

export interface CallList {
  readonly journal: boolean;
  readonly calls: readonly BriefCall[];
  readonly next_before?: number;
}

export interface Effect {
  readonly action: string;
  readonly resource: string;
}

export interface TraceStep {
  readonly rule: string;
  readonly list: string;
  readonly file?: string;
  readonly line?: number;
  readonly outcome: string;
  readonly reason?: string;
}

export interface WholeCall extends BriefCall {
  readonly called_as?: string;
  readonly args: unknown;
  readonly args_bytes?: number;
  readonly effects: readonly Effect[];
  readonly result_hash?: string;
  readonly result_tokens?: number;
  readonly truncated?: boolean;
  readonly repairs?: string;
  readonly retries?: number;
  readonly exit_code?: number;
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  readonly cost_usd?: number;
  readonly damaged?: boolean;
}

export interface CallDetail {
  readonly call: WholeCall;
  readonly result?: { readonly text: string; readonly complete: boolean };
  readonly children: readonly BriefCall[];
  readonly trace: readonly TraceStep[];
  readonly trace_of: "now";
  readonly approval?: Approval;
  readonly command: string;
}

export type ApprovalAnswer = "once" | "session" | "always" | "deny";

export interface Segment {
  readonly text: string;
  readonly canonical: string;
  readonly verdict: string;
  readonly reason: string;
  readonly rule?: string;
}

export interface Approval {
  readonly id: string;
  readonly hash: string;
  readonly signature: string;
  readonly status: "pending" | "approved" | "denied" | "expired" | "consumed";
  readonly tool: string;
  readonly what: string;
  readonly args: unknown;
  readonly reason: string;
  readonly rule: string;
  readonly effects: readonly Effect[];
  readonly segments: readonly Segment[];
  readonly environment: string;
  readonly cwd: string;
  readonly profile: string;
  readonly session: string;
  readonly door: string;
  readonly session_covers: readonly string[];
  readonly always_remembers: readonly string[];
  readonly review?: string;
  readonly covers?: { readonly once: string; readonly session: string; readonly always: string };
  readonly created_at: number;
  readonly expires_at: number;
  readonly owner_alive: boolean;
  readonly answer?: ApprovalAnswer;
  readonly answered_by?: string;
  readonly answered_at?: number;
  readonly answer_reason?: string;
}

export interface Info {
  readonly version: string;
  readonly home: string;
  readonly tools: { readonly ready: number; readonly need_setup: number; readonly off: number };
  readonly journal: boolean;
  readonly mode: string;
  readonly model?: string;
  readonly boundary: string;
  readonly started_at: number;
  readonly keys: { readonly answers: boolean };
}

export interface ToolListing {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly toolset: string;
  readonly description: string;
  readonly permissions: readonly string[];
  readonly provenance: { readonly kind: string; readonly source?: string };
  readonly enabled: boolean;
  readonly because: string;
  readonly available: boolean;
  readonly reason?: string;
  readonly fix?: string;
  readonly requires_env: readonly string[];
  readonly deferrable: boolean;
}
