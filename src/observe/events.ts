import type { ModelUsage } from "../model/model-client.js";
import type { CallState } from "../tool/call.js";
import { ignoreRejection } from "../tool/thrown.js";
import type { Progress } from "../tool/tool.js";

/** What the runtime tells the outside while it works; the HTTP event stream sends the same objects. */
export type RuntimeEvent =
  | {
      readonly type: "call.started";
      readonly session: string;
      /** The conversation it belongs to, where there is one. */
      readonly conversation?: string | undefined;
      readonly id: string;
      readonly name: string;
      readonly emoji?: string | undefined;
      readonly toolset?: string | undefined;
      /** A glimpse of the arguments, masked. */
      readonly preview: string;
      readonly at: number;
      readonly door: string;
      readonly environment: string;
      /** The call this one was made from. */
      readonly parent?: string | undefined;
    }
  | {
      readonly type: "call.progress";
      readonly session: string;
      readonly id: string;
      readonly name: string;
      readonly progress: Progress;
    }
  | {
      readonly type: "call.finished";
      readonly session: string;
      readonly conversation?: string | undefined;
      readonly id: string;
      readonly name: string;
      /** Its number in the journal, where it is known by now. */
      readonly seq?: number | undefined;
      readonly toolset?: string | undefined;
      readonly preview: string;
      readonly ok: boolean;
      /** As in the journal: `ok`, `error`, `denied`, `blocked`, `timeout`, `cancelled`. */
      readonly status: string;
      readonly code?: string | undefined;
      /** How the program ended that the call ran. */
      readonly exit_code?: number | undefined;
      /** How far it came: `not_started`, `partial` (or unknown), `done`. */
      readonly state: CallState;
      readonly duration_ms: number;
      readonly at: number;
      /** Where the call came in: "cli", "http", "mcp", "script" … */
      readonly door: string;
      readonly environment: string;
      /** `allow`, `deny`, or how a question was answered: `ask:once`. Absent when it did not come to a decision. */
      readonly decision?: string | undefined;
      /** The rule that decided. */
      readonly rule?: string | undefined;
      /** The call this one was made from, and the session of that call. */
      readonly parent?: string | undefined;
      readonly parent_session?: string | undefined;
      /** The model that made the call, or else the last one that was asked on its behalf. */
      readonly model?: string | undefined;
      /** What models have read and written on behalf of the call (a reviewer, MCP sampling). */
      readonly tokens?: { readonly input: number; readonly output: number } | undefined;
    }
  | {
      readonly type: "approval.pending";
      readonly id: string;
      /** What an answer must name, so that it counts for exactly this call. */
      readonly hash: string;
      readonly tool: string;
      /** The gist, secrets masked; `GET /v1/approvals` has the whole question. */
      readonly what: string;
      readonly reason: string;
      readonly session: string;
      readonly door: string;
      readonly environment: string;
      readonly audience?: readonly string[];
      readonly expires_at: number;
      readonly signature: string;
      readonly at: number;
    }
  | {
      readonly type: "approval.settled";
      readonly id: string;
      readonly tool: string;
      readonly session: string;
      readonly status: string;
      readonly answer?: string;
      readonly by?: string;
      readonly at: number;
    }
  | {
      /** A call was denied because it had to be asked about and nobody was there. */
      readonly type: "approval.unasked";
      /** Of the call. */
      readonly id: string;
      readonly tool: string;
      /** A glimpse of the arguments, masked. */
      readonly preview: string;
      readonly reason: string;
      readonly session: string;
      readonly conversation?: string | undefined;
      readonly door: string;
      readonly environment: string;
      readonly at: number;
    }
  | ModelFinished
  | ProcessEvent
  | JobEvent
  | { readonly type: "tools.changed"; readonly generation: number }
  | {
      readonly type: "reload.applied";
      readonly what: "tools" | "config";
      /** As people name them: below the Hermes home or the project. */
      readonly files: readonly string[];
      /** One line each: `tools/x.yaml: 2 added, 1 changed`. */
      readonly changes: readonly string[];
      readonly at: number;
    }
  | {
      readonly type: "reload.failed";
      readonly what: "tools" | "config";
      readonly files: readonly string[];
      /** What stays as it was, and why; texts are masked. */
      readonly problems: readonly string[];
      readonly at: number;
    }
  | {
      /** Changed while a server runs, and not in force before a person says so. */
      readonly type: "reload.held";
      readonly files: readonly string[];
      readonly at: number;
    }
  | {
      readonly type: "source.changed";
      /** `mcp:github`, `yaml:/path/file.yaml`, `plugin:weather`. */
      readonly source: string;
      readonly state: string;
      readonly reason?: string | undefined;
      readonly at: number;
    }
  | {
      readonly type: "tool.availability";
      readonly tools: readonly string[];
      readonly available: boolean;
      readonly reason?: string | undefined;
    };

/** A model was asked and has answered, or has not. */
export interface ModelFinished {
  readonly type: "model.finished";
  readonly session: string;
  readonly conversation: string;
  /** The session that this one was opened from, at last, and the call that did it: the same words as locks have. */
  readonly root: string;
  readonly within?: string | undefined;
  /** The model that was asked, and the one that says it has answered. */
  readonly model: string;
  readonly answered_by?: string | undefined;
  readonly purpose: string;
  readonly reason?: string | undefined;
  readonly usage?: ModelUsage | undefined;
  /** Why there is no answer: a closed code. */
  readonly error?: string | undefined;
  /** The span of whoever asked for the turn, as they wrote it. */
  readonly traceparent?: string | undefined;
  readonly started_at: number;
  readonly at: number;
}

/** What happens to background processes; texts are masked. */
export type ProcessEvent =
  | {
      readonly type: "process.started";
      readonly id: string;
      readonly session: string;
      readonly command: string;
      readonly environment: string;
      readonly at: number;
    }
  | {
      readonly type: "process.ended";
      readonly id: string;
      readonly session: string;
      readonly status: string;
      readonly exit_code?: number | undefined;
      readonly at: number;
    }
  | {
      readonly type: "process.notice";
      readonly id: string;
      readonly session: string;
      readonly kind: string;
      readonly message: string;
      readonly output: string;
      readonly at: number;
    };

/** What happens to scheduled jobs; texts are masked. */
export type JobEvent =
  | {
      readonly type: "job.started" | "job.finished";
      /** The job. */
      readonly id: string;
      readonly name: string;
      readonly run: string;
      readonly due_at: number;
      readonly status?: string;
      readonly summary?: string;
      readonly at: number;
    }
  | {
      /** Its time has come, and others take all places. */
      readonly type: "job.late";
      readonly id: string;
      readonly name: string;
      readonly due_at: number;
      readonly summary: string;
      readonly at: number;
    }
  | {
      readonly type: "job.changed";
      readonly id: string;
      readonly name: string;
      readonly action: string;
      readonly at: number;
    };

export type EventListener = (event: RuntimeEvent) => unknown;

/** Listeners are isolated: one that throws never reaches the call that fired the event. */
export class EventBus {
  readonly #toEverything = new Set<EventListener>();
  readonly #toOneType = new Map<RuntimeEvent["type"], Set<EventListener>>();

  /** Whether anybody (else) listens to these; those who tell of each call need not build events otherwise. */
  wants(type: RuntimeEvent["type"], besides?: EventListener): boolean {
    const others = besides !== undefined && this.#toEverything.has(besides) ? 1 : 0;
    return this.#toEverything.size > others || this.#toOneType.has(type);
  }

  on(listener: EventListener): () => void {
    this.#toEverything.add(listener);
    return () => this.#toEverything.delete(listener);
  }

  onType<Type extends RuntimeEvent["type"]>(
    type: Type,
    listener: (event: EventOf<Type>) => unknown,
  ): () => void {
    const own: EventListener = (event) => (isOf(type, event) ? listener(event) : undefined);
    const listeners = this.#toOneType.get(type) ?? new Set();
    this.#toOneType.set(type, listeners.add(own));
    return () => {
      listeners.delete(own);
      if (listeners.size === 0 && this.#toOneType.get(type) === listeners) this.#toOneType.delete(type);
    };
  }

  emit(event: RuntimeEvent, besides?: EventListener): void {
    for (const listeners of [this.#toOneType.get(event.type) ?? [], this.#toEverything])
      for (const listener of listeners) {
        if (listener === besides) continue;
        try {
          ignoreRejection(listener(event));
        } catch {
          // A broken observer must not break what it observes.
        }
      }
  }
}

type EventOf<Type extends RuntimeEvent["type"]> = Extract<RuntimeEvent, { readonly type: Type }>;

function isOf<Type extends RuntimeEvent["type"]>(type: Type, event: RuntimeEvent): event is EventOf<Type> {
  return event.type === type;
}
