import type { BriefCall } from "../../api/types.js";
import type { ServerEvent } from "../../events/stream.js";

export interface CallsSnapshot {
  /** Newest first. */
  readonly calls: readonly LiveCall[];
  /** New ones that are held back so that nothing jumps. */
  readonly waiting: number;
}

/** More than anybody scrolls through; older ones are asked for again when somebody does. */
const MOST_CALLS = 20_000;
const FLUSH_MS = 100;
/** The journal and an event may differ by this much about when a call began. */
const SAME_MS = 2_000;

/** A call with a name that stays its own on screen: clients may use one call id again and again. */
export interface LiveCall extends BriefCall {
  readonly key: string;
}

/** How a call is named in the address: by its number once it has one. */
export function idOf(call: BriefCall): string {
  return call.seq > 0 ? String(call.seq) : call.call_id;
}

/** The calls on screen: what the journal told, kept up to date by events. Bursts are taken up ten times a second. */
export class CallsStore {
  readonly #matches: (call: BriefCall) => boolean;
  readonly #calls = new Map<string, LiveCall>();
  readonly #waiting = new Map<string, LiveCall>();
  /** Keys by number in the journal, and by session and id: there the last one of that id. */
  readonly #bySeq = new Map<number, string>();
  readonly #byId = new Map<string, string>();
  readonly #listeners = new Set<() => void>();
  #snapshot: CallsSnapshot = { calls: [], waiting: 0 };
  #held = false;
  #events: ServerEvent[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(matches: (call: BriefCall) => boolean) {
    this.#matches = matches;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly snapshot = (): CallsSnapshot => this.#snapshot;

  /** What the journal told; `fresh` when it may hold calls that are newer than all shown. */
  add(calls: readonly BriefCall[], options: { readonly fresh: boolean }): void {
    for (const call of calls) this.#add(call, options.fresh);
    this.#publish();
  }

  hear(event: ServerEvent): void {
    if (event.type !== "call.started" && event.type !== "call.finished") return;
    this.#events.push(event);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      for (const each of this.#events.splice(0)) this.#take(each);
      this.#publish();
    }, FLUSH_MS);
  }

  /** While held, what is shown is brought up to date and nothing new comes in above it. */
  hold(held: boolean): void {
    this.#held = held;
    if (!held) this.release();
  }

  release(): void {
    if (this.#waiting.size === 0) return;
    for (const [key, call] of this.#waiting) this.#calls.set(key, call);
    this.#waiting.clear();
    this.#publish();
  }

  #take(event: ServerEvent): void {
    const last = this.#get(this.#byId.get(`${event.session}/${event.id}`));
    // What has ended does not start or end again: this is another call with its id.
    const known = last?.status === "running" ? last : this.#get(this.#bySeq.get(Number(event.seq)));
    const call = event.type === "call.started" ? started(event, known) : finished(event, known);
    if (known !== undefined || this.#matches(call)) this.#put(call, { fresh: true, known });
  }

  #add(call: BriefCall, fresh: boolean): void {
    const last = this.#get(this.#byId.get(`${call.session_id}/${call.call_id}`));
    const isSame =
      last !== undefined && last.seq === 0 && Math.abs(last.started_at - call.started_at) < SAME_MS;
    this.#put(call, { fresh, known: this.#get(this.#bySeq.get(call.seq)) ?? (isSame ? last : undefined) });
  }

  #get(key: string | undefined): LiveCall | undefined {
    return key === undefined ? undefined : (this.#calls.get(key) ?? this.#waiting.get(key));
  }

  #put(told: BriefCall, options: { readonly fresh: boolean; readonly known: LiveCall | undefined }): void {
    const { known, fresh } = options;
    const key =
      known?.key ?? `${told.session_id}/${told.call_id}/${told.seq > 0 ? told.seq : told.started_at}`;
    const call = { ...(known === undefined ? told : newer(known, told)), key };
    if (call.seq > 0) this.#bySeq.set(call.seq, key);
    const id = `${call.session_id}/${call.call_id}`;
    const last = this.#get(this.#byId.get(id));
    if (last === undefined || last.started_at <= call.started_at) this.#byId.set(id, key);
    const waits = known === undefined ? this.#held && fresh && this.#calls.size > 0 : this.#waiting.has(key);
    (waits ? this.#waiting : this.#calls).set(key, call);
  }

  #publish(): void {
    const calls = [...this.#calls.values()].sort(newestFirst);
    for (const gone of calls.splice(MOST_CALLS)) this.#forget(gone);
    this.#snapshot = { calls, waiting: this.#waiting.size };
    for (const listener of this.#listeners) listener();
  }

  #forget({ key, seq, session_id, call_id }: LiveCall): void {
    this.#calls.delete(key);
    this.#bySeq.delete(seq);
    if (this.#byId.get(`${session_id}/${call_id}`) === key) this.#byId.delete(`${session_id}/${call_id}`);
  }
}

function newestFirst(first: BriefCall, second: BriefCall): number {
  return second.started_at - first.started_at || second.seq - first.seq;
}

/** An answer of the journal may be older than an event that overtook it. */
function newer(known: BriefCall, told: BriefCall): BriefCall {
  if (told.status === "running" && known.status !== "running") return known;
  const preview = told.preview === "" ? known.preview : told.preview;
  // The row keeps its place: the order on screen is by when it was first seen to start.
  return {
    ...known,
    ...told,
    seq: told.seq > 0 ? told.seq : known.seq,
    preview,
    started_at: known.started_at,
  };
}

function started(event: ServerEvent, known: BriefCall | undefined): BriefCall {
  return (
    known ?? {
      seq: number(event.seq) ?? 0,
      call_id: String(event.id),
      session_id: String(event.session),
      conversation: text(event.conversation),
      tool: String(event.name),
      toolset: text(event.toolset),
      door: text(event.door) ?? "",
      environment: text(event.environment) ?? "",
      status: "running",
      started_at: number(event.at) ?? Date.now(),
      parent: text(event.parent),
      decision: "",
      rule: "",
      preview: text(event.preview) ?? "",
    }
  );
}

function finished(event: ServerEvent, known: BriefCall | undefined): BriefCall {
  const duration = number(event.duration_ms) ?? 0;
  const base = known ?? started({ ...event, at: (number(event.at) ?? Date.now()) - duration }, undefined);
  return {
    ...base,
    seq: number(event.seq) ?? base.seq,
    door: text(event.door) ?? base.door,
    environment: text(event.environment) ?? base.environment,
    status: statusOf(event),
    error_code: text(event.code),
    duration_ms: duration,
    decision: text(event.decision) ?? base.decision,
    rule: text(event.rule) ?? base.rule,
    parent: text(event.parent) ?? base.parent,
    model: text(event.model),
    preview: text(event.preview) ?? base.preview,
  };
}

const STATUSES = new Set(["ok", "error", "blocked", "denied", "timeout", "cancelled", "unknown"]);

function statusOf(event: ServerEvent): BriefCall["status"] {
  if (typeof event.status === "string" && STATUSES.has(event.status))
    return event.status as BriefCall["status"];
  if (event.ok === true) return "ok";
  const code = text(event.code) ?? "";
  return STATUSES.has(code) ? (code as BriefCall["status"]) : "error";
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function number(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
