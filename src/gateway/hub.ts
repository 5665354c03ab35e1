import { join } from "node:path";
import type { Agent } from "../agent/agent.js";
import { Agents } from "../agent/agents.js";
import { configuredBudget } from "../agent/raise-budget.js";
import type { ConversationStore } from "../agent/sessions/types.js";
import type { AgentModel } from "../agent/turn.js";
import { pause } from "../base/deadline.js";
import { messageOf } from "../base/errno.js";
import type { NoModel } from "../model/route.js";
import type { Runtime } from "../runtime/runtime.js";
import { chatApprover, chatAsk } from "./approval-question.js";
import { chatCommand } from "./chat-commands.js";
import { ChatWorker, type ChatWorkerParts } from "./chat-worker.js";
import { Delivery } from "./delivery.js";
import type { ButtonPress, Gateway, IncomingMessage } from "./gateway.js";
import type { GatewayStore } from "./gateway-store.js";
import { GatewayMessages } from "./messages.js";
import type { Role } from "./people.js";
import { Questions } from "./questions.js";
import { Supervisor } from "./supervisor.js";

const HOUR_MS = 3_600_000;
/** How often it is looked whether the machine that runs a gateway is still there. */
const LOOK_EVERY_MS = 1_000;
const BACKOFF = { firstMs: 1_000, maxMs: 60_000 };

/** A gateway with what the settings say about who may talk there. */
export interface ConfiguredGateway {
  readonly gateway: Gateway;
  /** Of the settings; those who were paired come on top. Undefined: a stranger. */
  role(person: string): Role | undefined;
  /** Those whom the settings name: they can be written to before they wrote. */
  readonly people?: readonly string[] | undefined;
}

export interface HubParts {
  readonly runtime: Runtime;
  readonly store: GatewayStore;
  readonly conversations: ConversationStore;
  readonly gateways: readonly ConfiguredGateway[];
  /** Asked when the first message needs it: a gateway also runs while there is none. */
  model(): Promise<AgentModel | NoModel>;
  /** For tests that have no minutes. */
  readonly backoff?: { readonly firstMs: number; readonly maxMs: number } | undefined;
}

interface Running extends ConfiguredGateway {
  readonly delivery: Delivery;
  readonly supervisor: Supervisor;
  readonly workers: Map<string, ChatWorker>;
}

/** Everything behind the gateways: who may talk, what becomes of messages, and how answers leave. */
export class GatewayHub {
  readonly #parts: HubParts;
  readonly #running = new Map<string, Running>();
  readonly #questions: Questions;
  readonly #agents: Agents;
  readonly #toldTooMany = new Set<string>();
  readonly #stop = new AbortController();
  /** Gateways that another machine runs. */
  readonly #waiting = new Set<Promise<void>>();
  #model: Promise<AgentModel | NoModel> | undefined;

  constructor(parts: HubParts) {
    this.#parts = parts;
    this.#agents = new Agents(parts.runtime, { store: parts.conversations });
    this.#questions = new Questions({
      store: parts.store,
      wake: (gateway, chat) => this.#running.get(gateway)?.delivery.wake(chat),
    });
  }

  /** Starts them all; the names of those that another process runs already, or another machine of the cluster. */
  async start(): Promise<{ readonly busy: readonly string[]; readonly standby: readonly string[] }> {
    const { store, gateways } = this.#parts;
    await store.prune();
    store.onLost = (name, why) => void this.#lose(name, why);
    store.onForwarded(async (name, body) => {
      const running = this.#running.get(name);
      if (running === undefined) throw new Error(`${name} is being stopped`);
      return this.#receive(running, body as IncomingMessage);
    });
    const busy: string[] = [];
    const standby: string[] = [];
    for (const configured of gateways) {
      const { name } = configured.gateway;
      if (!(await store.write(() => store.health.claim(name)))) busy.push(name);
      else if (await this.#takeOver(configured)) this.#run(configured);
      else {
        standby.push(name);
        this.#standBy(configured);
      }
    }
    return { busy, standby };
  }

  /** Turns that run are interrupted and gone on with by the next process; nothing is lost. */
  async stop(): Promise<void> {
    const { store } = this.#parts;
    this.#stop.abort(new Error("the gateways stop"));
    await Promise.all(this.#waiting);
    await Promise.all([...this.#running.values()].map((running) => this.#end(running)));
    await store.write(() => {
      for (const { gateway } of this.#parts.gateways) store.health.release(gateway.name);
    });
    await Promise.all([...this.#running.keys()].map((name) => store.release(name)));
    this.#running.clear();
  }

  async #end({ supervisor, workers, delivery }: Running): Promise<void> {
    await supervisor.stop();
    await Promise.all([...workers.values()].map((worker) => worker.close()));
    await delivery.stop();
  }

  /** Whether this machine runs it from now on. */
  async #takeOver({ gateway }: ConfiguredGateway): Promise<boolean> {
    try {
      return (await this.#parts.store.hold(gateway.name)) === undefined;
    } catch (error) {
      this.#parts.runtime.log.warn(`${gateway.name}: ${messageOf(error)}`);
      return false;
    }
  }

  /** Another machine of the cluster runs it; when it dies, this one does. */
  #standBy(configured: ConfiguredGateway): void {
    const { store, runtime } = this.#parts;
    const { gateway } = configured;
    const { name, traits } = gateway;
    const over = new AbortController();
    const signal = AbortSignal.any([over.signal, this.#stop.signal]);
    const health = {
      gateway: name,
      since: Date.now(),
      lastReceivedAt: undefined,
      restarts: 0,
      error: undefined,
    };
    const forwarding = {
      alive: () => undefined,
      heard: () => [],
      message: async (message: IncomingMessage) =>
        (await store.forward(name, message)) === "known" ? ("known" as const) : ("new" as const),
      press: async () => "",
    };
    const wait = async () => {
      await store.write(() => store.health.note({ ...health, state: "standby" }));
      const receiving = traits.isCalled === true ? gateway.receive(forwarding, signal) : undefined;
      while (!signal.aborted) {
        await pause(LOOK_EVERY_MS, signal);
        if (!signal.aborted && (await this.#takeOver(configured))) break;
      }
      over.abort(new Error("it is run here"));
      await receiving?.catch(() => undefined);
      if (this.#stop.signal.aborted) return store.release(name);
      runtime.log.warn(`${name}: the machine that ran it is gone; it is run here from now on`);
      this.#run(configured);
    };
    const waiting = wait()
      .catch((error: unknown) => runtime.log.error(`${name}: ${messageOf(error)}`))
      .finally(() => this.#waiting.delete(waiting));
    this.#waiting.add(waiting);
  }

  async #lose(name: string, why: string): Promise<void> {
    const running = this.#running.get(name);
    if (running === undefined) return;
    this.#running.delete(name);
    this.#parts.runtime.log.error(`${name} is no longer run here: ${why}`);
    await this.#end(running).catch(() => undefined);
    if (!this.#stop.signal.aborted) this.#standBy(running);
  }

  #run(configured: ConfiguredGateway): void {
    const { store, runtime, backoff = BACKOFF } = this.#parts;
    const { gateway } = configured;
    const { log } = runtime;
    const delivery = new Delivery({
      gateway,
      store,
      log,
      backoff,
      onFailed: (part) => this.#questions.undeliverable(part),
    });
    const receiver = {
      heard: () => store.inbox.heard(gateway.name),
      message: (message: IncomingMessage) => this.#receive(running, message),
      press: (press: ButtonPress) => this.#press(running, press),
    };
    const supervisor = new Supervisor({ gateway, receiver, store, log, backoff });
    const running: Running = { ...configured, delivery, supervisor, workers: new Map() };
    this.#running.set(gateway.name, running);
    delivery.start();
    // What an earlier process has left comes before what is received now.
    for (const chat of store.inbox.openChats(gateway.name)) this.#worker(running, chat).wake();
    supervisor.start();
  }

  #roleOf({ gateway, role }: Running, person: string): Role | undefined {
    return role(person) ?? this.#parts.store.people.role(gateway.name, person);
  }

  async #receive(running: Running, message: IncomingMessage): Promise<"new" | "known"> {
    const { store } = this.#parts;
    const gateway = running.gateway.name;
    const role = this.#roleOf(running, message.person.id);
    if (role === undefined) return this.#refuse(running, message);
    const since = Date.now() - HOUR_MS;
    const taken = store.inbox.takenSince({ gateway, chat: message.chat, since });
    if (taken >= running.gateway.traits.mostPerHour) return this.#tooMany(running, message);
    const typed = this.#questions.typed(gateway, message);
    const command = chatCommand(message.text);
    const isHandledNow = typed !== undefined || command !== undefined;
    const state = isHandledNow ? "done" : "waiting";
    const isNew = await store.write(() => store.inbox.add({ gateway, message, state }));
    if (!isNew) return "known";
    const worker = this.#worker(running, message.chat);
    if (typed !== undefined && "apply" in typed) typed.apply();
    else if (typed !== undefined) await this.#say(running, { to: message, text: typed.say });
    else if (command !== undefined)
      await this.#say(running, { to: message, text: await command(worker, role) });
    else worker.wake();
    return "new";
  }

  /** Said once: saying it each time would keep a machine at the other end going. */
  async #tooMany(running: Running, message: IncomingMessage): Promise<"new" | "known"> {
    const { store, runtime } = this.#parts;
    const { name, traits } = running.gateway;
    const isNew = await store.write(() => store.inbox.add({ gateway: name, message, state: "refused" }));
    if (!isNew) return "known";
    const told = `${name} ${message.chat}`;
    if (this.#toldTooMany.has(told)) return "new";
    this.#toldTooMany.add(told);
    setTimeout(() => this.#toldTooMany.delete(told), HOUR_MS).unref();
    runtime.log.warn(`${name}: more than ${traits.mostPerHour} messages an hour in ${message.chat}`);
    const text = `That were more than ${traits.mostPerHour} messages in an hour; I answer no more of them for now.`;
    await this.#say(running, { to: message, text });
    return "new";
  }

  /** A stranger gets a code at most, and reaches no model. */
  async #refuse({ gateway, delivery }: Running, message: IncomingMessage): Promise<"new" | "known"> {
    const { store } = this.#parts;
    const { name, traits } = gateway;
    const isNew = await store.write(() => {
      if (!store.inbox.add({ gateway: name, message, state: "refused" })) return false;
      const code =
        message.isPrivate && traits.pairs ? store.people.issueCode(name, message.person) : undefined;
      if (code === undefined) return true;
      const text = `I do not know you. Your pairing code is ${code}; it is good for an hour. Whoever runs me lets you in with: hermes gateway pair ${code}`;
      store.outbox.add(name, { chat: message.chat, text, replyTo: message.replyTo });
      return true;
    });
    if (isNew) delivery.wake(message.chat);
    return isNew ? "new" : "known";
  }

  /** Buttons pass the same check as messages. */
  async #press(running: Running, press: ButtonPress): Promise<string> {
    if (this.#roleOf(running, press.person.id) === undefined) return "You cannot answer this.";
    return this.#questions.press(running.gateway, press);
  }

  async #say(
    { gateway, delivery }: Running,
    { to, text }: { readonly to: IncomingMessage; readonly text: string },
  ): Promise<void> {
    const { store } = this.#parts;
    await store.write(() => store.outbox.add(gateway.name, { chat: to.chat, text, replyTo: to.replyTo }));
    delivery.wake(to.chat);
  }

  #worker(running: Running, chat: string): ChatWorker {
    const known = running.workers.get(chat);
    if (known !== undefined) return known;
    const { runtime, store, conversations } = this.#parts;
    const { gateway } = running;
    const folder = join(runtime.config.paths.cache, "gateway-files");
    const worker = new ChatWorker({
      gateway,
      chat,
      store,
      conversations,
      log: runtime.log,
      redact: runtime.redact,
      budget: () => configuredBudget(runtime.config),
      role: (person) => this.#roleOf(running, person),
      openAgent: (options) => this.#open({ gateway, ...options }),
      told: async (row, signal) => {
        const { toldMessage } = await import("./told-message.js");
        return toldMessage({ row, gateway, folder, signal });
      },
      wake: () => running.delivery.wake(chat),
      onIdle: () => {
        running.workers.delete(chat);
        void worker.close();
      },
    });
    running.workers.set(chat, worker);
    return worker;
  }

  async #open(
    wish: Parameters<ChatWorkerParts["openAgent"]>[0] & { readonly gateway: Gateway },
  ): Promise<Agent | { readonly reason: string }> {
    const { gateway, conversation, role, owner, seat, turnSignal } = wish;
    const { runtime } = this.#parts;
    const toolsets = toolsetsFor(gateway, role, runtime.config.values);
    if (toolsets.length === 0) return { reason: "" };
    const model = await this.#whichModel();
    if ("fixes" in model) return { reason: [model.reason, ...model.fixes].join("\n") };
    const { platform, traits } = gateway;
    const questions = this.#questions;
    return this.#agents.open({
      model,
      isGuest: role === "guest",
      conversation,
      source: platform,
      owner,
      door: "gateway",
      toolsets,
      approver: traits.attended
        ? (runtime.approvals.configured() ?? chatApprover({ questions, redact: runtime.redact, seat }))
        : runtime.approvals.unattended(),
      messages: new GatewayMessages({
        runtime,
        gateways: () => this.#parts.gateways,
        here: seat,
        wake: (name, chat) => this.#running.get(name)?.delivery.wake(chat),
      }),
      ask: chatAsk({ questions, seat, signal: turnSignal }),
    });
  }

  /** Kept once there is one; asked for again as long as there is none. */
  async #whichModel(): Promise<AgentModel | NoModel> {
    this.#model ??= this.#parts.model();
    try {
      const model = await this.#model;
      if ("fixes" in model) this.#model = undefined;
      return model;
    } catch (error) {
      this.#model = undefined;
      throw error;
    }
  }
}

/**
 * An owner's chat has the preset of its platform, and `send_message` for what has to leave as a file. A program is a guest
 * whose preset is narrow already.
 */
function toolsetsFor(
  { platform, traits }: Gateway,
  role: Role,
  { gateways, platform_toolsets }: Runtime["config"]["values"],
): readonly string[] {
  if (role === "guest" && traits.attended) return gateways.guest_toolsets;
  const preset = `hermes-${platform}`;
  return platform_toolsets[platform] ?? (traits.attended ? [preset, "messaging"] : [preset]);
}
