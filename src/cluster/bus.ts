import { type JetStreamClient, type JetStreamManager, jetstream, jetstreamManager } from "@nats-io/jetstream";
import { type KV, Kvm } from "@nats-io/kv";
import { type Msg, type NatsConnection, nanos } from "@nats-io/transport-node";
import type { LoadedConfig } from "../config/types.js";
import type { Logger } from "../observe/log.js";
import { failure, HermesError } from "../tool/errors.js";
import { describeThrown } from "../tool/thrown.js";
import { Complaints } from "./complaints.js";
import { connectTo } from "./connect.js";
import { ensureStream, OrderQueue } from "./order-queue.js";
import { CLOCKS_MS, type Opened, SealError } from "./seal.js";
import { answerTo, SealedMessages } from "./sealed-messages.js";

/** How long servers may take to choose a leader. */
const PATIENCE_MS = 15_000;
/** How often a server is asked whether its JetStream is alive, and how long it may not answer. */
const PROBE_MS = 2_000;
const DEAF_MS = 8_000;

export type ClusterSettings = LoadedConfig["values"]["cluster"];

/** The NATS servers of a cluster, with everything that is signed on its way and large things beside it. */
export class Bus {
  readonly js: JetStreamClient;
  readonly streams: JetStreamManager;
  readonly queue: OrderQueue;
  readonly #connection: NatsConnection;
  readonly #settings: ClusterSettings;
  readonly #messages: SealedMessages;
  readonly #log: Logger;
  readonly #complaints: Complaints;
  readonly #watch: NodeJS.Timeout;
  #up = true;
  /** Never lost, it has always been there. */
  #upSince = Number.NEGATIVE_INFINITY;
  #downSince: number | undefined;
  #answeredAt = performance.now();
  /** The server that is being left. */
  #deaf: string | undefined;

  private constructor(parts: {
    readonly connection: NatsConnection;
    readonly streams: JetStreamManager;
    readonly settings: ClusterSettings;
    readonly log: Logger;
  }) {
    this.#connection = parts.connection;
    this.#settings = parts.settings;
    this.#messages = new SealedMessages(parts.connection, parts.settings);
    this.#log = parts.log;
    this.#complaints = new Complaints(parts.log);
    this.streams = parts.streams;
    this.js = jetstream(parts.connection);
    this.queue = new OrderQueue(this, parts.settings);
    void this.#followConnection();
    this.#watch = setInterval(() => void this.#leaveDeafServer(), PROBE_MS).unref();
  }

  /** Refuses to begin without a secret: whoever reaches the servers could otherwise run anything on the workers. */
  static async open(settings: ClusterSettings, log: Logger): Promise<Bus> {
    if (settings.key === "") {
      throw new HermesError(
        failure(
          "bad_request",
          "a cluster needs a secret that its machines share",
          "Set HERMES_CLUSTER_KEY to the same value on all of them, e.g. of: openssl rand -base64 32",
        ),
      );
    }
    const deaf = new Set<string>();
    for (let left = settings.url.split(",").length; ; left -= 1) {
      const connection = await connectTo(settings, deaf);
      const patienceMs = left > 1 ? DEAF_MS : PATIENCE_MS;
      try {
        // Servers that have just been started are still choosing who leads.
        const streams = await patiently(() => jetstreamManager(connection), patienceMs);
        const bus = new Bus({ connection, streams, settings, log });
        await patiently(() => bus.queue.make(), patienceMs).catch(async (error: unknown) => {
          await bus.close();
          throw error;
        });
        return bus;
      } catch (error) {
        await connection.close();
        const server = connection.getServer();
        const what = `the JetStream of the NATS server ${server} does not answer: ${describeThrown(error).message}`;
        if (left > 1) {
          log.warn(`${what}; trying others`);
          deaf.add(server);
          continue;
        }
        throw new HermesError(
          failure(
            "unavailable",
            what,
            "Is it started with -js (nats-server -js -sd FOLDER), for this account, and with most of its peers there?",
          ),
        );
      }
    }
  }

  /** False while no server can be reached. */
  get isConnected(): boolean {
    return this.#up;
  }

  /** How long the servers have been reached without a break. */
  get upForMs(): number {
    return this.#up ? performance.now() - this.#upSince : 0;
  }

  /** Told when the servers can be reached again. */
  onReconnect: (() => void) | undefined;

  subject(...words: readonly string[]): string {
    return [this.#settings.name, ...words].join(".");
  }

  /** A large one takes a while: it is then sent when the promise resolves, which never rejects. */
  publish(subject: string, body: unknown): Promise<void> | undefined {
    const sealed = this.#messages.seal(subject, body);
    if (this.#messages.fits(sealed)) {
      this.#connection.publish(subject, sealed);
      return undefined;
    }
    return this.#messages.putAside(subject, sealed).then(
      (small) => this.#connection.publish(subject, small),
      (error: unknown) =>
        this.#log.error(`a message of ${sealed.length} bytes was not sent: ${describeThrown(error).message}`),
    );
  }

  /** False when it cannot be told at once: nobody can be reached, or it is too large for that. */
  tellAtOnce(subject: string, body: unknown): boolean {
    if (!this.#up) return false;
    const sealed = this.#messages.seal(subject, body);
    if (!this.#messages.fits(sealed)) return false;
    this.#connection.publish(subject, sealed);
    return true;
  }

  /** Rejects when nobody is there or nobody answers. */
  async request(subject: string, body: unknown, timeoutMs: number): Promise<unknown> {
    const asked = await this.#messages.pack(subject, body);
    const answer = await this.#connection.request(subject, asked, { timeout: timeoutMs });
    return this.open(answerTo(subject, asked), answer.data);
  }

  /** What is not signed for this subject is dropped and logged. With an answer, it is sent back. */
  subscribe(subject: string, take: (body: unknown) => unknown): { unsubscribe(): void } {
    return this.#connection.subscribe(subject, {
      callback: (error, message) => {
        if (error === null) void this.#take(subject, message, take);
      },
    });
  }

  /** What was signed for this subject, whatever the clock of whoever wrote it says; nothing is logged or answered. */
  listen(subject: string, take: (opened: Opened) => void): { unsubscribe(): void } {
    return this.#connection.subscribe(subject, {
      callback: (error, { data }) => {
        if (error === null) this.openAnyAge(subject, data).then(take, () => undefined);
      },
    });
  }

  /** Signed, and what is large put aside. */
  pack(subject: string, body: unknown): Promise<Uint8Array> {
    return this.#messages.pack(subject, body);
  }

  async open(subject: string, data: Uint8Array): Promise<unknown> {
    return (await this.#messages.open(subject, data)).body;
  }

  /** Also what is too old to be acted upon. */
  async openAnyAge(subject: string, data: Uint8Array): Promise<Opened> {
    return this.#messages.openAnyAge(subject, data);
  }

  /** A table of values that all machines see; `ttlMs`: what nobody has written for so long is gone. */
  table(name: "sessions" | "workers", ttlMs: number): Promise<KV> {
    const bucket = `${this.#settings.name}_${name}`;
    const { replicas } = this.#settings;
    return patiently(() => new Kvm(this.#connection).create(bucket, { replicas, ttl: ttlMs }));
  }

  /** A stream of its own, for all subjects below a word; what is older than `keptMs` is gone, 0 keeps it for ever. */
  async lasting(word: string, keptMs: number): Promise<string> {
    const name = `${this.#settings.name}_${word}`.toUpperCase();
    const kept = { subjects: [this.subject(word, ">")], max_age: nanos(keptMs) };
    const { replicas } = this.#settings;
    try {
      const { config } = await ensureStream(this.streams, { name, ...kept, num_replicas: replicas });
      if (config.max_age !== kept.max_age) await this.streams.streams.update(name, kept);
    } catch (error) {
      throw new HermesError(
        failure(
          "unavailable",
          `the NATS servers did not give the stream ${name}: ${describeThrown(error).message}`,
          "May this machine make and change streams there, and do most servers answer?",
        ),
      );
    }
    return name;
  }

  /** For what lies in a table until somebody reads it. */
  sealLasting(subject: string, body: unknown): Uint8Array {
    return this.#messages.sealLasting(subject, body);
  }

  flush(): Promise<void> {
    return this.#connection.flush();
  }

  /** Sends what is still to be sent, then leaves. */
  async close(): Promise<void> {
    clearInterval(this.#watch);
    if (!this.#connection.isClosed()) await this.#connection.drain().catch(() => this.#connection.close());
  }

  async #followConnection(): Promise<void> {
    for await (const { type } of this.#connection.status()) {
      if (type === "disconnect") {
        this.#up = false;
        this.#downSince ??= performance.now();
        this.#log.warn("the connection to the NATS servers of the cluster is lost; trying again");
      } else if (type === "reconnect") {
        // The client may have come back to the very server that it was to leave.
        const same = this.#connection.getServer() === this.#deaf;
        this.#deaf = undefined;
        if (same) {
          void this.#connection.reconnect().catch(() => undefined);
          continue;
        }
        this.#up = true;
        this.#upSince = this.#answeredAt = performance.now();
        const forSeconds = ((this.#upSince - (this.#downSince ?? this.#upSince)) / 1_000).toFixed(1);
        this.#downSince = undefined;
        this.#log.warn(`the NATS servers of the cluster are reached again, after ${forSeconds} s`);
        this.onReconnect?.();
      }
    }
    this.#up = false;
  }

  /**
   * A server that has lost its peers still answers pings, but nothing that is sent through it arrives. Where there are
   * others, one of them is tried.
   */
  async #leaveDeafServer(): Promise<void> {
    if (!this.#up || !this.#settings.url.includes(",")) return;
    try {
      await this.streams.getAccountInfo();
      this.#answeredAt = performance.now();
    } catch (error) {
      if (!this.#up || performance.now() - this.#answeredAt < DEAF_MS) return;
      this.#answeredAt = performance.now();
      const server = this.#connection.getServer();
      this.#log.warn(
        `the NATS server ${server} does nothing: ${describeThrown(error).message}; trying others`,
      );
      this.#deaf = server;
      await this.#connection.reconnect().catch(() => undefined);
    }
  }

  async #take(subject: string, message: Msg, take: (body: unknown) => unknown): Promise<void> {
    try {
      const opening = this.#messages.open(subject, message.data);
      const { body, earlyMs } = opening instanceof Promise ? await opening : opening;
      if (earlyMs > CLOCKS_MS) {
        const ahead = `a message on ${subject} was written ${Math.round(earlyMs / 1_000)} s in the future`;
        this.#complaints.about(`${subject} early`, `${ahead}; do the clocks of the machines agree?`);
      }
      const answer = await take(body);
      if (message.reply === undefined || message.reply === "") return;
      message.respond(await this.#messages.pack(answerTo(subject, message.data), answer));
    } catch (error) {
      const line = `a message on ${subject} was not taken: ${describeThrown(error).message}`;
      if (error instanceof SealError) this.#complaints.about(subject, line);
      else this.#log.warn(line);
    }
  }
}

/** While servers choose who leads they answer late, or that they cannot now. */
export async function patiently<Value>(work: () => Promise<Value>, forMs = PATIENCE_MS): Promise<Value> {
  const until = performance.now() + forMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }
}
