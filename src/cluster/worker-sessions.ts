import { existsSync } from "node:fs";
import type { CallEvents } from "../call/scope.js";
import type { EventListener, RuntimeEvent } from "../observe/events.js";
import type { Runtime } from "../runtime/runtime.js";
import type { Session, SessionOptions } from "../runtime/session.js";
import type { Bus } from "./bus.js";
import { isSameSpec } from "./leases.js";
import type { Order, SessionSpec, TaskGiven } from "./messages.js";

/** A session that nobody has used for so long ends. */
const IDLE_MS = 1_800_000;
/** The same for one with programs in the background, which end with it. */
const IDLE_WITH_PROGRAMS_MS = 86_400_000;

/** The session of another machine, as this one has it. */
export interface Hosted {
  session: Session;
  spec: SessionSpec;
  /** Of the tools of this machine, when it was opened. */
  generation: number;
  /** Where it lives now: what happens in it is told there. */
  node: string;
  /** Of where its commands stand, as that node gave it the last time. */
  givenVersion: number;
  /** What that node knows of where its commands stand. */
  toldVersion: number;
  usedAt: number;
}

interface WorkerSessionsParts {
  readonly bus: Bus;
  /** Whether an order of this session runs. */
  isBusy(key: string): boolean;
}

/** Sessions of other machines on this worker. */
export class WorkerSessions {
  readonly #runtime: Runtime;
  readonly #parts: WorkerSessionsParts;
  /** Undefined where it could not be opened. */
  readonly #hosted = new Map<string, Promise<Hosted | undefined>>();
  readonly #byId = new Map<string, { readonly key: string; readonly hosted: Hosted }>();
  readonly #sweep: NodeJS.Timeout;
  readonly #stopListening: () => void;
  /** For the call of an order itself, which is told of where the session lives: everybody else here hears of it. */
  readonly eventsOfOrders: CallEvents;

  constructor(runtime: Runtime, parts: WorkerSessionsParts) {
    this.#runtime = runtime;
    this.#parts = parts;
    this.#sweep = setInterval(() => void this.endIdle(), 60_000).unref();
    const { events } = runtime;
    const forward: EventListener = (event) => this.#forward(event);
    this.#stopListening = events.on(forward);
    this.eventsOfOrders = {
      wants: (type) => events.wants(type, forward),
      emit: (event) => events.emit(event, event.type.startsWith("call.") ? forward : undefined),
    };
  }

  /** Undefined when it is not here and the order does not say what it is. One order after the other makes it ready. */
  of(order: Order): Promise<Hosted | undefined> {
    const { session: key, spec } = order;
    const before = this.#hosted.get(key);
    const prepared = this.#prepare(order, before);
    if (before !== undefined || spec !== undefined)
      this.#hosted.set(
        key,
        prepared.catch(() => before),
      );
    return prepared;
  }

  async #prepare(order: Order, before: Promise<Hosted | undefined> | undefined): Promise<Hosted | undefined> {
    const { spec, task, node } = order;
    const there = await before;
    const isElsewhere =
      there !== undefined && spec !== undefined && spec.environment !== there.spec.environment;
    let hosted = isElsewhere ? undefined : there;
    if (hosted === undefined && spec !== undefined) hosted = await this.#open({ ...order, spec });
    if (hosted === undefined) return undefined;
    // What it had in another environment is of no use in this one.
    if (isElsewhere) this.#close(there);
    await this.#renew(hosted, spec);
    if (hosted.node !== node) {
      // What its person has said yes to is known there; another machine may have another person.
      hosted.session.scope.grants.clear();
      hosted.givenVersion = -1;
      hosted.node = node;
    }
    if (task !== undefined && task.version > hosted.givenVersion) await moveTo(hosted, task);
    hosted.usedAt = Date.now();
    return hosted;
  }

  /** Its tools and rules are fixed when it opens: where others are wanted by now, another one goes on for it. */
  async #renew(hosted: Hosted, spec = hosted.spec): Promise<void> {
    const { generation } = this.#runtime.registry;
    if (hosted.generation === generation && isSameSpec(hosted.spec, spec)) return;
    const { session } = hosted;
    const { workspace } = session.scope.info;
    hosted.session = await this.#openSession(spec, { continues: session, cwd: workspace, workspace });
    hosted.spec = spec;
    hosted.generation = generation;
  }

  end(key: string): void {
    const hosted = this.#hosted.get(key);
    this.#hosted.delete(key);
    void hosted?.then((each) => each && this.#close(each));
  }

  #close({ session }: Hosted): void {
    this.#byId.delete(session.id);
    session.close();
  }

  close(): void {
    clearInterval(this.#sweep);
    this.#stopListening();
    for (const key of [...this.#hosted.keys()]) this.end(key);
  }

  async endIdle(now = Date.now()): Promise<void> {
    for (const [key, opening] of this.#hosted) {
      const hosted = await opening;
      if (hosted !== undefined && this.#parts.isBusy(key)) hosted.usedAt = now;
      if (hosted === undefined || now - hosted.usedAt > patienceFor(hosted)) this.end(key);
    }
  }

  async #open({ session: key, spec, task, node }: Order & { readonly spec: SessionSpec }): Promise<Hosted> {
    const { generation } = this.#runtime.registry;
    const isHere = spec.environment === "local" && task !== undefined && existsSync(task.cwd);
    const session = await this.#openSession(spec, { cwd: isHere ? task.cwd : undefined });
    const hosted = { session, spec, generation, node, givenVersion: -1, toldVersion: -1, usedAt: Date.now() };
    this.#byId.set(session.id, { key, hosted });
    return hosted;
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
    const { bus } = this.#parts;
    const { node, session } = found.hosted;
    bus.publish(bus.subject("node", node), { kind: "event", event });
    if (event.type.startsWith("process.")) {
      const notices = session.takeNotices();
      if (notices.length > 0)
        bus.publish(bus.subject("node", node), { kind: "notices", session: found.key, notices });
    }
  }
}

function patienceFor({ session }: Hosted): number {
  const programs = session.scope.processes.list().filter(({ status }) => status === "running");
  return programs.length > 0 ? IDLE_WITH_PROGRAMS_MS : IDLE_MS;
}

/** Where it stood on another machine; a folder that is not here is not gone to. */
async function moveTo(hosted: Hosted, { cwd, exported, version }: TaskGiven): Promise<void> {
  const { session } = hosted;
  hosted.givenVersion = version;
  hosted.toldVersion = -1;
  const known = cwd === session.cwd || (await isFolder(session, cwd));
  session.scope.task.resume({ cwd: known ? cwd : session.cwd, exported });
}

async function isFolder({ scope }: Session, path: string): Promise<boolean> {
  return (await scope.environment.files.stat(path).catch(() => undefined))?.type === "directory";
}
