import { randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { Server, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import type { McpSession } from "./mcp-session.js";

export interface McpSessionLimits {
  readonly sessions: number;
  readonly idleMs: number;
}

export const DEFAULT_MCP_SESSION_LIMITS: McpSessionLimits = { sessions: 64, idleMs: 30 * 60_000 };

/** One client: its own session, for nobody else's token. */
export interface ClientSession {
  readonly live: McpSession;
  readonly principal: string;
}

/** A client of the protocol before 2026, which has a connection too. */
export interface ConnectedClient extends ClientSession {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly server: Server;
}

type Kept<Client> = Client & {
  /** Answers and streams that are still open. */
  open: number;
  usedAt: number;
};

/** The sessions of clients that have been let in. There is room for so many, and none is kept for ever. */
export class ClientSessions<Client extends ClientSession & Partial<ConnectedClient>> {
  readonly #limits: McpSessionLimits;
  readonly #kept = new Map<string, Kept<Client>>();
  /** Clients that are being let in. */
  #entering = 0;
  readonly #sweep: NodeJS.Timeout;

  constructor(limits: McpSessionLimits) {
    this.#limits = limits;
    this.#sweep = setInterval(() => this.#expire(), Math.min(limits.idleMs, 60_000)).unref();
  }

  get size(): number {
    return this.#kept.size;
  }

  /** Not authentication: the token is asked for with every request. */
  newId(): string {
    return randomBytes(32).toString("base64url");
  }

  /** False when there is no room; a client that does nothing gives way to a new one. */
  hasRoom(): boolean {
    if (this.#kept.size + this.#entering < this.#limits.sessions) return true;
    const [idlest] = [...this.#kept]
      .filter(([, { open }]) => open === 0)
      .sort(([, a], [, b]) => a.usedAt - b.usedAt);
    if (idlest === undefined) return false;
    this.end(idlest[0]);
    return true;
  }

  /** Holds a place while a client is let in; what it gives back frees the place, or leaves it to `add`. */
  enter(): () => void {
    this.#entering += 1;
    let isIn = true;
    return () => {
      if (isIn) this.#entering -= 1;
      isIn = false;
    };
  }

  add(id: string, session: Client): void {
    this.#kept.set(id, { ...session, open: 0, usedAt: Date.now() });
  }

  /** Only for the token it was opened with. */
  find(id: string, principal: string): Client | undefined {
    const kept = this.#kept.get(id);
    return kept?.principal === principal ? kept : undefined;
  }

  /** It is in use until this answer has gone out. */
  use(id: string, outgoing: Pick<ServerResponse, "once" | "closed">): void {
    const kept = this.#kept.get(id);
    if (kept === undefined) return;
    kept.usedAt = Date.now();
    // A client that has gone already will not go again.
    if (outgoing.closed) return;
    kept.open += 1;
    outgoing.once("close", () => {
      kept.open -= 1;
      kept.usedAt = Date.now();
    });
  }

  end(id: string): void {
    const kept = this.#kept.get(id);
    if (kept === undefined) return;
    this.#kept.delete(id);
    void kept.transport?.close();
    kept.live.close();
  }

  close(): void {
    clearInterval(this.#sweep);
    for (const id of [...this.#kept.keys()]) this.end(id);
  }

  #expire(): void {
    const before = Date.now() - this.#limits.idleMs;
    for (const [id, { open, usedAt }] of this.#kept) if (open === 0 && usedAt <= before) this.end(id);
  }
}
