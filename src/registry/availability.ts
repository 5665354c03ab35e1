import { LATE, within } from "../base/deadline.js";
import { LruMap } from "../base/lru.js";
import { describeThrown } from "../tool/thrown.js";
import type { Availability, CheckFn, Needs } from "../tool/tool.js";
import type { Entry } from "./entry.js";

/** Whether a tool can run now, and if not, why and what would help. */
export interface Status {
  readonly ok: boolean;
  readonly reason?: string;
  readonly fix?: string;
  /** True while a recent success is served in place of a fresh failure. */
  readonly grace?: boolean;
  /** It is not there now, but a call waits for it, and says itself when that was too long. */
  readonly awaited?: boolean;
}

const READY: Status = { ok: true };
const TTL_MS = 30_000;
/** What a look at the disk answers is looked at again: what is installed, removed or set meanwhile is found soon. */
const LOOK_TTL_MS = 1_000;
const GRACE_MS = 60_000;
const MAX_REMEMBERED = 512;

interface Remembered {
  status: Status;
  checkedAt: number;
  succeededAt: number;
  pending?: Promise<Status>;
}

export interface AvailabilityOptions {
  readonly deadlineMs?: number;
  readonly now?: () => number;
  /** Answers for tools that run on other machines; undefined for those that run here. */
  readonly elsewhere?: (entry: Entry) => Status | undefined;
  /** Answers `needs`; given by the composition root because it looks at the machine. */
  readonly checkNeeds?: (needs: Needs) => Status | Promise<Status>;
  /** Takes secrets out of reasons, which are shown to people and models. */
  readonly mask?: (text: string) => string;
  /** Told when a remembered answer turns. */
  readonly onChange?: (key: CheckFn | Needs, status: Status) => void;
}

/**
 * Remembers what checks said: 30 s, with 60 s of grace after a success so that one flaky probe does not make
 * a tool vanish; what a look at the disk says 1 s, and it is taken at its word. Tools that share a check function share its answer. A check that throws or overruns its
 * deadline means unavailable.
 */
export class AvailabilityCache {
  readonly #remembered = new LruMap<CheckFn | Needs, Remembered>(MAX_REMEMBERED);
  readonly #options: AvailabilityOptions;
  readonly #now: () => number;

  constructor(options: AvailabilityOptions = {}) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /** Synchronous when nothing has to be asked, which is the common case on the call path. */
  statusOf(entry: Entry): Status | Promise<Status> {
    const elsewhere = this.#options.elsewhere?.(entry);
    if (elsewhere !== undefined) return elsewhere;
    const key = entry.checkFn ?? entry.needs;
    if (key === undefined) return READY;
    const known = this.#remembered.peek(key);
    if (known !== undefined) {
      if (known.pending !== undefined) return known.pending;
      if (this.#now() - known.checkedAt < ttlOf(entry)) return known.status;
    }
    const graceMs = isLook(entry) ? 0 : GRACE_MS;
    if (entry.checkFn === undefined)
      return this.#ask(key, { graceMs, probe: () => this.#askNeeds(entry.needs) });
    const { checkFn, needs } = entry;
    const probe = async () => {
      const base = needs === undefined ? READY : await this.#askNeeds(needs);
      return base.ok ? toStatus(await checkFn(), entry) : base;
    };
    return this.#ask(key, { graceMs, probe });
  }

  /** What was last known, without asking anybody. */
  peek(entry: Entry): Status | undefined {
    const elsewhere = this.#options.elsewhere?.(entry);
    if (elsewhere !== undefined) return elsewhere;
    const key = entry.checkFn ?? entry.needs;
    return key === undefined ? READY : this.#remembered.peek(key)?.status;
  }

  /** Until when answers given now stay in force; Infinity when nothing was asked. */
  freshUntil(entries: Iterable<Entry>): number {
    let until = Number.POSITIVE_INFINITY;
    for (const entry of entries) {
      const key = entry.checkFn ?? entry.needs;
      if (key === undefined) continue;
      const known = this.#remembered.peek(key);
      until = Math.min(until, known === undefined ? 0 : known.checkedAt + ttlOf(entry));
    }
    return until;
  }

  /**
   * Asks again when next asked, without grace: something has changed on purpose. What was known is kept to tell whether
   * the answer turns.
   */
  invalidate(entries?: readonly Entry[]): void {
    const keys =
      entries === undefined ? undefined : new Set(entries.map((entry) => entry.checkFn ?? entry.needs));
    for (const [key, { status }] of [...this.#remembered.entries()]) {
      if (keys?.has(key) === false) continue;
      const longAgo = Number.NEGATIVE_INFINITY;
      this.#remembered.set(key, { status, checkedAt: longAgo, succeededAt: longAgo });
    }
  }

  #askNeeds(needs: Needs | undefined): Status | Promise<Status> {
    if (needs === undefined || this.#options.checkNeeds === undefined) return READY;
    return this.#options.checkNeeds(needs);
  }

  #ask(
    key: CheckFn | Needs,
    { graceMs, probe }: { readonly graceMs: number; readonly probe: () => Status | Promise<Status> },
  ): Promise<Status> {
    const previous = this.#remembered.peek(key);
    const pending: Promise<Status> = withDeadline(probe, this.#options.deadlineMs ?? 5_000).then((answer) => {
      const fresh = this.#masked(answer);
      const at = this.#now();
      const inGrace = !fresh.ok && previous !== undefined && at - previous.succeededAt < graceMs;
      // Grace is served but not remembered, so that the next look asks again.
      const status = inGrace ? { ok: true, grace: true, ...reasonOf(fresh) } : fresh;
      // Asked before something changed on purpose: the answer is nobody's to keep.
      if (this.#remembered.peek(key)?.pending !== pending) return status;
      this.#remembered.set(key, {
        status,
        checkedAt: inGrace ? at - TTL_MS : at,
        succeededAt: fresh.ok ? at : (previous?.succeededAt ?? Number.NEGATIVE_INFINITY),
      });
      if (previous !== undefined && previous.status.ok !== status.ok) this.#options.onChange?.(key, status);
      return status;
    });
    this.#remembered.set(key, {
      status: previous?.status ?? { ok: false, reason: "not checked yet" },
      checkedAt: previous?.checkedAt ?? Number.NEGATIVE_INFINITY,
      succeededAt: previous?.succeededAt ?? Number.NEGATIVE_INFINITY,
      pending,
    });
    return pending;
  }

  #masked(status: Status): Status {
    const { mask } = this.#options;
    if (mask === undefined || status.ok) return status;
    return {
      ...status,
      ...(status.reason !== undefined && { reason: mask(status.reason) }),
      ...(status.fix !== undefined && { fix: mask(status.fix) }),
    };
  }
}

/** Answered by a look at the disk and the settings: nothing that may be slow, and nothing that may be flaky. */
function isLook({ checkFn, needs }: Entry): boolean {
  return checkFn === undefined && needs?.environment !== true;
}

function ttlOf(entry: Entry): number {
  return isLook(entry) ? LOOK_TTL_MS : TTL_MS;
}

function toStatus(answer: Availability, entry: Entry): Status {
  if (answer === true) return READY;
  const missing = (entry.requiresEnv ?? []).filter((name) => !process.env[name]);
  const fallback =
    missing.length > 0
      ? { reason: `its check failed; not set: ${missing.join(", ")}`, fix: `set ${missing.join(", ")}` }
      : { reason: "its check said no" };
  if (answer === false) return { ok: false, ...fallback };
  if (typeof answer !== "object" || answer === null)
    return { ok: false, reason: "its check gave no usable answer" };
  return answer.ok === true ? READY : { ok: false, ...fallback, ...reasonOf(answer) };
}

function reasonOf(from: { readonly reason?: string; readonly fix?: string }): {
  reason?: string;
  fix?: string;
} {
  return {
    ...(typeof from.reason === "string" && { reason: from.reason }),
    ...(typeof from.fix === "string" && { fix: from.fix }),
  };
}

async function withDeadline(probe: () => Status | Promise<Status>, deadlineMs: number): Promise<Status> {
  try {
    const answer = await within(Promise.resolve().then(probe), deadlineMs);
    if (answer !== LATE) return answer;
    return { ok: false, reason: `its check did not answer within ${deadlineMs / 1000} s` };
  } catch (error) {
    return {
      ok: false,
      reason: `its check failed: ${describeThrown(error).message}`,
    };
  }
}
