import type { Tool } from "@modelcontextprotocol/server";
import { RenewedSession } from "../../runtime/renewed-session.js";
import type { Runtime } from "../../runtime/runtime.js";
import type { Session } from "../../runtime/session.js";
import { describeThrown } from "../../tool/thrown.js";
import { conversationElsewhere } from "../conversation-elsewhere.js";
import { toolsOf } from "./tool-list.js";

/** Reloads come in bursts. */
const SETTLE_MS = 30;

/** A session of the MCP door, the list of its tools, and word of when that list is no longer right. */
export class McpSession {
  readonly #runtime: Runtime;
  readonly #session: RenewedSession;
  readonly #onToolsChanged = new Set<() => void>();
  readonly #stopListening: () => void;
  #tools: { readonly of: Session; readonly list: Promise<readonly Tool[]> } | undefined;
  /** The list clients have, or were told to ask for again. */
  #known: string | undefined;
  #outdated = false;
  #look: NodeJS.Timeout | undefined;
  #calls = 0;
  #closed = false;

  /** `own`: one client has it to itself, so that it can be a conversation. */
  constructor(runtime: Runtime, { own }: { readonly own: boolean }) {
    this.#runtime = runtime;
    this.#session = new RenewedSession(runtime, { door: "mcp", ...(own && conversationElsewhere()) });
    this.#stopListening = runtime.events.onType("tools.changed", () => {
      if (this.#known === undefined) return;
      this.#look ??= setTimeout(() => void this.#compare(), SETTLE_MS).unref();
    });
  }

  current(): Promise<Session> {
    return this.#session.current();
  }

  async tools(): Promise<readonly Tool[]> {
    const list = await this.#list();
    this.#known ??= JSON.stringify(list);
    this.#outdated = false;
    return list;
  }

  /** True from a change that was told until somebody asks for the tools again. */
  get isOutdated(): boolean {
    return this.#outdated;
  }

  /** Told when a list that was given is no longer right. */
  onToolsChanged(listener: () => void): () => void {
    this.#onToolsChanged.add(listener);
    return () => this.#onToolsChanged.delete(listener);
  }

  nextCallId(): string {
    this.#calls += 1;
    return `call_${this.#calls}`;
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#look);
    this.#stopListening();
    this.#session.close();
  }

  async #list(): Promise<readonly Tool[]> {
    const session = await this.current();
    if (this.#tools?.of !== session) this.#tools = { of: session, list: toolsOf(session) };
    return this.#tools.list;
  }

  /** Compared with what was told last: that one client has asked meanwhile tells the others nothing. */
  async #compare(): Promise<void> {
    this.#look = undefined;
    let present: string;
    try {
      present = JSON.stringify(await this.#list());
    } catch (thrown) {
      this.#runtime.log.warn(`the changed tools could not be listed: ${describeThrown(thrown).message}`);
      return;
    }
    if (this.#closed || present === this.#known) return;
    this.#known = present;
    this.#outdated = true;
    for (const listener of this.#onToolsChanged) listener();
  }
}
