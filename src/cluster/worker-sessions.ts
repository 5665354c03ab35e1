import { existsSync } from "node:fs";
import type { RuntimeEvent } from "../observe/events.js";
import type { Runtime } from "../runtime/runtime.js";
import type { Session, SessionOptions } from "../runtime/session.js";
import type { Bus } from "./bus.js";
import type { Order, SessionSpec } from "./messages.js";

/** A session that nobody has used for so long ends, with what it has running. */
const IDLE_MS = 1_800_000;

/** The session of another machine, as this one has it. */
export interface Hosted {
  session: Session;
  spec: SessionSpec;
  /** Of the tools of this machine, when it was opened. */
  generation: number;
  /** Where it lives now: what happens in it is told there. */
  node: string;
  /** What that node knows of where its commands stand. */
  toldVersion: number;
  usedAt: number;
}

/** Sessions of other machines on this worker. */
export class WorkerSessions {
  readonly #runtime: Runtime;
  readonly #bus: Bus;
  readonly #isOrder: (callId: string) => boolean;
  readonly #hosted = new Map<string, Promise<Hosted>>();
  readonly #byId = new Map<string, { readonly key: string; readonly hosted: Hosted }>();
  readonly #sweep: NodeJS.Timeout;
  readonly #stopListening: () => void;

  constructor(runtime: Runtime, parts: { readonly bus: Bus; readonly isOrder: (callId: string) => boolean }) {
    this.#runtime = runtime;
    this.#bus = parts.bus;
    this.#isOrder = parts.isOrder;
    this.#sweep = setInterval(() => void this.#endIdle(), 60_000).unref();
    this.#stopListening = runtime.events.on((event) => this.#forward(event));
  }

  /** Undefined when it is not here and the order does not say what it is. */
  async of(order: Order): Promise<Hosted | undefined> {
    const opening = this.#hosted.get(order.session) ?? this.#open(order);
    if (opening === undefined) return undefined;
    const hosted = await opening;
    await this.#renew(hosted, order);
    hosted.usedAt = Date.now();
    hosted.node = order.node;
    return hosted;
  }

  /** Its tools are fixed when it opens: where others are wanted by now, or there, another one goes on for it. */
  async #renew(hosted: Hosted, { spec = hosted.spec }: Order): Promise<void> {
    const { generation } = this.#runtime.registry;
    if (hosted.generation === generation && hosted.spec.tools.join() === spec.tools.join()) return;
    const { session } = hosted;
    const { workspace } = session.scope.info;
    hosted.session = await this.#openSession(spec, { continues: session, cwd: workspace, workspace });
    hosted.spec = spec;
    hosted.generation = generation;
  }

  end(key: string): void {
    const opening = this.#hosted.get(key);
    this.#hosted.delete(key);
    void opening?.then(
      ({ session }) => {
        this.#byId.delete(session.id);
        session.close();
      },
      () => undefined,
    );
  }

  close(): void {
    clearInterval(this.#sweep);
    this.#stopListening();
    for (const key of [...this.#hosted.keys()]) this.end(key);
  }

  #open({ session: key, spec, task, node }: Order): Promise<Hosted> | undefined {
    if (spec === undefined) return undefined;
    const { generation } = this.#runtime.registry;
    const cwd = task !== undefined && existsSync(task.cwd) ? task.cwd : undefined;
    const opening = this.#openSession(spec, { cwd }).then((session) => {
      if (task !== undefined) session.scope.task.resume({ cwd: cwd ?? session.cwd, exported: task.exported });
      const hosted: Hosted = { session, spec, generation, node, toldVersion: -1, usedAt: Date.now() };
      this.#byId.set(session.id, { key, hosted });
      return hosted;
    });
    this.#hosted.set(key, opening);
    opening.catch(() => this.#hosted.delete(key));
    return opening;
  }

  #openSession(spec: SessionSpec, where: Pick<SessionOptions, "continues" | "cwd" | "workspace">) {
    const { registry } = this.#runtime;
    return this.#runtime.openSession({
      toolsets: spec.tools.filter((tool) => registry.get(tool) !== undefined),
      profile: spec.profile,
      environment: spec.environment,
      conversation: spec.conversation,
      heard: spec.heard,
      door: "cluster",
      ...where,
    });
  }

  /** What happens inside an order, and to background programs, is told where the session lives. */
  #forward(event: RuntimeEvent): void {
    if (!("session" in event) || typeof event.session !== "string") return;
    const root = event.session.split(".", 1)[0] ?? event.session;
    const found = this.#byId.get(event.session) ?? this.#byId.get(root);
    if (found === undefined) return;
    const isCall = event.type.startsWith("call.") && "id" in event;
    if (isCall && event.session === found.hosted.session.id && this.#isOrder(String(event.id))) return;
    const { node, session } = found.hosted;
    this.#bus.publish(this.#bus.subject("node", node), { kind: "event", event });
    if (event.type.startsWith("process.")) {
      const notices = session.takeNotices();
      if (notices.length > 0)
        this.#bus.publish(this.#bus.subject("node", node), { kind: "notices", session: found.key, notices });
    }
  }

  async #endIdle(): Promise<void> {
    for (const [key, opening] of this.#hosted) {
      const hosted = await opening.catch(() => undefined);
      if (hosted !== undefined && Date.now() - hosted.usedAt > IDLE_MS) this.end(key);
    }
  }
}
