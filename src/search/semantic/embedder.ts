import type { ChildProcess } from "node:child_process";
import { availableParallelism } from "node:os";
import { messageOf } from "../../base/errno.js";
import { startModelChild } from "../../weights/model-child.js";
import type { Embedder } from "../types.js";
import { MODEL_ID, type ModelFolder } from "./model-files.js";
import { DIMENSIONS, type ModelAnswer, type ModelPlaces, RECIPE } from "./model-protocol.js";

/** A question waits for at most one such batch of background work. */
const BATCH = 16;
const MOST_THREADS = 4;

interface Order {
  readonly texts: readonly string[];
  readonly urgent: boolean;
  readonly asRequest: boolean;
  done(vectors: readonly Float32Array[]): void;
  failed(reason: Error): void;
}

export interface ModelEmbedder extends Embedder {
  /** Like `embed`, but lets every other order go first. */
  embedInBackground(texts: readonly string[]): Promise<readonly Float32Array[]>;
}

/** The model runs in a process of its own, which starts with the first order. */
export function createEmbedder(folder: ModelFolder): ModelEmbedder {
  const threads = Math.max(1, Math.min(MOST_THREADS, availableParallelism()));
  const model = new ModelProcess({ ...folder, threads });
  return {
    id: `${MODEL_ID}/${RECIPE}`,
    dimensions: DIMENSIONS,
    embed: (texts) => model.embed(texts, true),
    embedRequest: (wishes) => model.embedRequest(wishes),
    embedInBackground: (texts) => model.embed(texts, false),
    close: () => model.close(),
  };
}

class ModelProcess {
  readonly #places: ModelPlaces;
  readonly #waiting: Order[] = [];
  #running: Order | undefined;
  #child: ChildProcess | undefined;
  #closed = false;
  #nextId = 1;

  constructor(places: ModelPlaces) {
    this.#places = places;
  }

  async embed(texts: readonly string[], urgent: boolean): Promise<readonly Float32Array[]> {
    const order = [...texts.keys()].sort((a, b) => (texts[a] ?? "").length - (texts[b] ?? "").length);
    const vectors: Float32Array[] = new Array(texts.length);
    const batches: Promise<void>[] = [];
    for (let from = 0; from < order.length; from += BATCH) {
      const places = order.slice(from, from + BATCH);
      const batch = places.map((place) => texts[place] ?? "");
      batches.push(
        this.#order({ texts: batch, urgent, asRequest: false }).then((made) => {
          for (const [at, vector] of made.entries()) vectors[places[at] ?? 0] = vector;
        }),
      );
    }
    await Promise.all(batches);
    return vectors;
  }

  embedRequest(wishes: readonly string[]): Promise<readonly Float32Array[]> {
    return this.#order({ texts: wishes, urgent: true, asRequest: true });
  }

  #order(what: Pick<Order, "texts" | "urgent" | "asRequest">): Promise<readonly Float32Array[]> {
    return new Promise((done, failed) => {
      if (this.#closed) return failed(new Error("the embedder is closed"));
      this.#waiting.push({ ...what, done, failed });
      this.#next();
      this.#keepAlive();
    });
  }

  /** A question keeps the program alive until it is answered; work in the background never does. */
  #keepAlive(): void {
    const asked = this.#running?.urgent === true || this.#waiting.some(({ urgent }) => urgent);
    if (asked) this.#child?.channel?.ref();
    else this.#child?.channel?.unref();
  }

  #next(): void {
    if (this.#running !== undefined || this.#waiting.length === 0) return;
    const urgent = this.#waiting.findIndex((order) => order.urgent);
    const [order] = this.#waiting.splice(Math.max(urgent, 0), 1);
    if (order === undefined) return;
    this.#running = order;
    try {
      this.#child ??= this.#start();
    } catch (error) {
      this.#ended(messageOf(error));
      return;
    }
    this.#keepAlive();
    this.#nextId += 1;
    const { texts, asRequest } = order;
    this.#child.send({ id: this.#nextId, texts, asRequest }, (error) => {
      if (error !== null && this.#running === order) this.#ended(error.message);
    });
  }

  #start(): ChildProcess {
    const { process: child, complaint } = startModelChild("search/model-process.js", this.#places);
    child.on("message", (answer: ModelAnswer) => this.#answered(answer));
    child.on("error", (error) => this.#ended(error.message, child));
    child.on("exit", (code, signal) =>
      this.#ended(`the model's process ended (${signal ?? code}) ${complaint()}`.trim(), child),
    );
    return child;
  }

  #answered(answer: ModelAnswer): void {
    const order = this.#running;
    if ("ready" in answer || order === undefined || answer.id !== this.#nextId) return;
    this.#running = undefined;
    if ("error" in answer) order.failed(new Error(answer.error));
    else order.done(split(answer.vectors));
    this.#next();
    this.#keepAlive();
  }

  /** What was asked fails; the next order starts a new process. */
  #ended(reason: string, child = this.#child): void {
    if (child !== this.#child) return;
    this.#child = undefined;
    const failed = [...(this.#running === undefined ? [] : [this.#running]), ...this.#waiting.splice(0)];
    this.#running = undefined;
    for (const order of failed) order.failed(new Error(reason));
  }

  async close(): Promise<void> {
    this.#closed = true;
    const child = this.#child;
    this.#ended("the embedder is closed");
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.ref();
    child.kill("SIGKILL");
    await gone;
  }
}

function split(vectors: Float32Array): readonly Float32Array[] {
  const single: Float32Array[] = [];
  for (let from = 0; from < vectors.length; from += DIMENSIONS)
    single.push(vectors.slice(from, from + DIMENSIONS));
  return single;
}
