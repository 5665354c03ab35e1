import { randomBytes } from "node:crypto";
import { LruMap } from "../base/lru.js";
import type { Approver } from "../call/scope.js";
import { failure, HermesError } from "../tool/errors.js";
import { RenewedSession } from "./renewed-session.js";
import type { Runtime } from "./runtime.js";
import type { Session, SessionOptions } from "./session.js";

export interface SessionPoolLimits {
  /** Sessions that outlive their request. */
  readonly sessions: number;
  /** One that nobody has used for so long ends, with what it has running. */
  readonly idleMs: number;
}

/** Choices of toolsets for which one client has a session of its own. */
const MAX_NARROW = 8;

/** Whose request it is and where it goes on. */
export interface PoolClient {
  /** Whose token it came with: the same name under another token is another session. */
  readonly principal: string;
  /** Of a session that lasts from request to request; left out, the request has one of its own. */
  readonly name?: string | undefined;
  readonly toolsets?: readonly string[] | undefined;
}

type PoolOptions = Pick<SessionOptions, "door" | "approver"> & {
  /** What a session has that lasts from message to message: behind it sits a model in a conversation. */
  readonly forConversation?: () => Pick<SessionOptions, "host" | "guardrails" | "turnsUnseen">;
};

interface Kept {
  readonly name: string;
  readonly principal: string;
  readonly own: RenewedSession;
  readonly narrow: LruMap<string, Promise<Session>>;
  /** The session that the narrow ones are children of. */
  parent: Session | undefined;
  /** Requests that run in it now. */
  open: number;
  usedAt: number;
}

/**
 * The sessions of the clients of a server. A client that names its session has it to itself and finds it again;
 * any other has one for the request, which stays only if it started a background program. There is room for so
 * many, and none is kept for ever.
 */
export class SessionPool {
  readonly #runtime: Runtime;
  readonly #options: PoolOptions;
  readonly #limits: SessionPoolLimits;
  readonly #kept = new Map<string, Kept>();
  readonly #sweep: NodeJS.Timeout;

  /** Without an approver, what needs approval is denied at once. */
  constructor(runtime: Runtime, options: PoolOptions & { readonly limits: SessionPoolLimits }) {
    const { limits, ...rest } = options;
    this.#runtime = runtime;
    this.#options = rest;
    this.#limits = limits;
    this.#sweep = setInterval(() => this.#expire(), Math.min(this.#limits.idleMs, 60_000)).unref();
  }

  get size(): number {
    return this.#kept.size;
  }

  /**
   * Runs something in the client's session and tells under which name it can be gone on with, if it can.
   * Throws a HermesError for a toolset nobody knows, and when there is no room.
   */
  async use<T>(
    client: PoolClient,
    work: (session: Session) => Promise<T>,
  ): Promise<{ readonly value: T; readonly name: string | undefined }> {
    const kept = client.name === undefined ? this.#make(client) : this.#named(client, client.name);
    kept.open += 1;
    try {
      const value = await work(await this.#sessionOf(kept, client.toolsets));
      return { value, name: client.name ?? (hasProcesses(kept) ? kept.name : undefined) };
    } finally {
      kept.open -= 1;
      kept.usedAt = Date.now();
      this.#settle(kept);
    }
  }

  /** The session a background program belongs to, for the token it was started with. */
  nameOf(session: string, principal: string): string | undefined {
    for (const kept of this.#kept.values()) {
      const id = kept.own.latest?.id;
      const isOf = id !== undefined && (session === id || session.startsWith(`${id}.`));
      if (isOf && kept.principal === principal) return kept.name;
    }
    return undefined;
  }

  /** The tools a request with these toolsets may use: never more than the configuration gives. */
  async toolNames(toolsets: readonly string[]): Promise<readonly string[]> {
    const [asked, configured] = await Promise.all([
      this.#runtime.listTools({ enabled: toolsets }),
      this.#runtime.listTools(),
    ]);
    const allowed = new Set(configured.filter((tool) => tool.enabled).map((tool) => tool.name));
    return asked.filter((tool) => tool.enabled && allowed.has(tool.name)).map((tool) => tool.name);
  }

  close(): void {
    clearInterval(this.#sweep);
    for (const kept of this.#kept.values()) kept.own.close();
    this.#kept.clear();
  }

  #named(client: PoolClient, name: string): Kept {
    const found = this.#kept.get(keyOf(client.principal, name));
    if (found !== undefined) return found;
    if (!this.#makeRoom()) throw this.#full();
    const made = this.#make(client);
    this.#kept.set(keyOf(client.principal, name), made);
    return made;
  }

  #make({ principal, name }: PoolClient): Kept {
    const { door, approver, forConversation } = this.#options;
    // A yes for the session means nothing where the session is over with the request.
    const asked = name === undefined && approver !== undefined ? onceOnly(approver) : approver;
    return {
      name: name ?? `r_${randomBytes(16).toString("base64url")}`,
      principal,
      own: new RenewedSession(this.#runtime, {
        door,
        approver: asked,
        ...(name !== undefined && forConversation?.()),
      }),
      narrow: new LruMap(MAX_NARROW),
      parent: undefined,
      open: 0,
      usedAt: Date.now(),
    };
  }

  /** One that was made for a request ends with it, unless it started something that somebody may ask for. */
  #settle(kept: Kept): void {
    const key = keyOf(kept.principal, kept.name);
    if (kept.open > 0 || this.#kept.has(key)) return;
    if (hasProcesses(kept) && this.#makeRoom()) this.#kept.set(key, kept);
    else kept.own.close();
  }

  async #sessionOf(kept: Kept, toolsets: readonly string[] | undefined): Promise<Session> {
    const parent = await kept.own.current();
    if (toolsets === undefined) return parent;
    if (parent !== kept.parent) kept.narrow.clear();
    kept.parent = parent;
    const key = toolsets.toSorted().join(",");
    const made = kept.narrow.get(key) ?? this.#openChild(parent, toolsets);
    kept.narrow.set(key, made);
    made.catch(() => kept.narrow.delete(key));
    return made;
  }

  /** A child of the client's session, so that naming toolsets can narrow the choice and never widen it. */
  async #openChild(parent: Session, toolsets: readonly string[]): Promise<Session> {
    return parent.openChild({ tools: await this.toolNames(toolsets), door: parent.scope.door });
  }

  /** The one that was idle longest gives way; those with something running last. */
  #makeRoom(): boolean {
    if (this.#kept.size < this.#limits.sessions) return true;
    const [idlest] = [...this.#kept.values()]
      .filter(({ open }) => open === 0)
      .sort((a, b) => Number(isRunning(a)) - Number(isRunning(b)) || a.usedAt - b.usedAt);
    if (idlest !== undefined) this.#end(idlest);
    return idlest !== undefined;
  }

  #full(): HermesError {
    return new HermesError(
      failure(
        "unavailable",
        `all ${this.#limits.sessions} sessions of this server are at work`,
        "Try again when one has finished, or send the request without a session of its own name.",
      ),
    );
  }

  #expire(): void {
    const before = Date.now() - this.#limits.idleMs;
    for (const kept of this.#kept.values()) if (kept.open === 0 && kept.usedAt <= before) this.#end(kept);
  }

  #end(kept: Kept): void {
    this.#kept.delete(keyOf(kept.principal, kept.name));
    kept.own.close();
  }
}

function keyOf(principal: string, name: string): string {
  return `${principal}/${name}`;
}

function hasProcesses({ own }: Kept): boolean {
  return (own.latest?.scope.processes.list().length ?? 0) > 0;
}

function isRunning({ own }: Kept): boolean {
  return own.latest?.scope.processes.list().some(({ status }) => status === "running") === true;
}

/** For a session that several clients share: a yes for the session would be a yes to all of them. */
export function onceOnly(approver: Approver): Approver {
  return {
    isThere: () => approver.isThere?.() ?? true,
    async ask(request, signal) {
      const given = await approver.ask({ ...request, sessionKeys: [] }, signal);
      const reply = typeof given === "string" ? { answer: given } : given;
      return reply.answer === "session" ? { ...reply, answer: "once" } : reply;
    },
  };
}
