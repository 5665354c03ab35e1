import type { ChildProcess } from "node:child_process";
import { availableParallelism } from "node:os";
import { startModelChild } from "../../../weights/model-child.js";
import type { SpeechOrder, SpeechPlaces, SpeechReply } from "./protocol.js";

const PROGRAM = "speech/model-process.js";
const MOST_THREADS = 4;
/** A model takes some 200 MB; loading it again takes a second. */
const IDLE_MS = 120_000;

type Unnumbered<T> = T extends { readonly id: number } ? Omit<T, "id"> : never;
type Unthreaded<T> = T extends { readonly threads: number } ? Omit<T, "threads"> : never;

/** The models for speech that a session has running, one process each, closed with it. */
export class LocalModels {
  readonly #running = new Map<string, ModelProcess>();

  ask(request: {
    readonly places: Unthreaded<SpeechPlaces>;
    readonly order: Unnumbered<SpeechOrder>;
    readonly signal: AbortSignal;
  }): Promise<SpeechReply> {
    const { places, order, signal } = request;
    const threads = Math.max(1, Math.min(MOST_THREADS, availableParallelism()));
    let model = this.#running.get(places.kind);
    if (model === undefined) {
      model = new ModelProcess({ ...places, threads });
      this.#running.set(places.kind, model);
    }
    return model.ask(order, signal);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#running.values()].map((model) => model.close()));
    this.#running.clear();
  }
}

interface Pending {
  readonly id: number;
  done(reply: SpeechReply): void;
  failed(reason: Error): void;
}

class ModelProcess {
  readonly #places: SpeechPlaces;
  #child: ChildProcess | undefined;
  /** Orders are answered one after the other. */
  #last: Promise<unknown> = Promise.resolve();
  #pending: Pending | undefined;
  #idle: NodeJS.Timeout | undefined;
  #nextId = 1;

  constructor(places: SpeechPlaces) {
    this.#places = places;
  }

  ask(order: Unnumbered<SpeechOrder>, signal: AbortSignal): Promise<SpeechReply> {
    const turn = this.#last.then(() => this.#answer(order, signal));
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async #answer(order: Unnumbered<SpeechOrder>, signal: AbortSignal): Promise<SpeechReply> {
    signal.throwIfAborted();
    clearTimeout(this.#idle);
    this.#child ??= this.#start();
    const child = this.#child;
    this.#nextId += 1;
    const id = this.#nextId;
    // Native work cannot be interrupted; its process can.
    const stop = () => this.#end(new Error("cancelled"));
    signal.addEventListener("abort", stop, { once: true });
    child.channel?.ref();
    try {
      return await new Promise<SpeechReply>((done, failed) => {
        this.#pending = { id, done, failed };
        child.send({ ...order, id }, (error) => {
          if (error !== null) failed(error);
        });
      });
    } finally {
      signal.removeEventListener("abort", stop);
      this.#pending = undefined;
      child.channel?.unref();
      this.#idle = setTimeout(() => this.#end(new Error("nobody asks")), IDLE_MS).unref();
    }
  }

  #start(): ChildProcess {
    const { process: child, complaint } = startModelChild(PROGRAM, this.#places);
    child.on("message", (reply: SpeechReply) => {
      if (reply.id !== this.#pending?.id) return;
      if ("error" in reply) this.#pending.failed(new Error(reply.error));
      else this.#pending.done(reply);
    });
    const ended = (reason: Error) => {
      if (this.#child === child) this.#end(reason);
    };
    child.on("error", ended);
    child.on("exit", (code, signal) =>
      ended(new Error(`the model's process ended (${signal ?? code}) ${complaint()}`.trim())),
    );
    return child;
  }

  /** What was asked fails; the next order starts a new process. */
  #end(reason: Error): void {
    const child = this.#child;
    this.#child = undefined;
    this.#pending?.failed(reason);
    child?.kill("SIGKILL");
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.ref();
    this.#end(new Error("the session is over"));
    await gone;
  }
}
