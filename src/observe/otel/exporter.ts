import { describeThrown } from "../../tool/thrown.js";
import type { Logger } from "../log.js";
import { traceJson } from "./otlp-json.js";
import { traceProtobuf } from "./otlp-protobuf.js";
import type { Attributes, SpanData } from "./spans.js";

export interface ExporterOptions {
  readonly url: string;
  readonly protocol: "http/json" | "http/protobuf";
  readonly headers: Readonly<Record<string, string>>;
  readonly resource: Attributes;
  readonly log: Logger;
}

const SEND_AFTER_MS = 1_000;
/** Spans of one request; collectors refuse what is too large. */
const BATCH = 500;
const MOST_WAITING = 50_000;
const PATIENCE_MS = 10_000;
/** A command waits this long for a collector before it ends. */
const CLOSING_MS = 2_000;

/** Sends spans in batches, one request at a time. What cannot be sent is dropped and told of once. */
export class SpanExporter {
  readonly #options: ExporterOptions;
  #waiting: SpanData[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  readonly #ending = new AbortController();
  #complained = false;

  constructor(options: ExporterOptions) {
    this.#options = options;
  }

  add(span: SpanData): void {
    if (this.#waiting.length >= MOST_WAITING) {
      this.#complain(`more than ${MOST_WAITING} spans wait`);
      return;
    }
    this.#waiting.push(span);
    this.#timer ??= setTimeout(() => void this.flush(), SEND_AFTER_MS).unref();
  }

  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
    await this.#sending;
  }

  /** Sends what waits, and gives up after a moment. */
  async close(): Promise<void> {
    const giveUp = setTimeout(() => this.#ending.abort(), CLOSING_MS);
    while (this.#waiting.length > 0 || this.#sending !== undefined) await this.flush();
    clearTimeout(giveUp);
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const spans = this.#waiting.slice(0, BATCH);
      this.#waiting = this.#waiting.slice(BATCH);
      try {
        await this.#send(spans);
      } catch (error) {
        // "fetch failed" alone helps nobody: the proxy or the certificate stands in the cause.
        this.#complain(describeThrown(error).message);
      }
    }
  }

  async #send(spans: readonly SpanData[]): Promise<void> {
    const { url, protocol, headers, resource } = this.#options;
    const isJson = protocol === "http/json";
    const response = await fetch(url, {
      method: "POST",
      headers: { ...headers, "content-type": isJson ? "application/json" : "application/x-protobuf" },
      body: isJson ? traceJson({ resource, spans }) : new Uint8Array(traceProtobuf({ resource, spans })),
      signal: AbortSignal.any([this.#ending.signal, AbortSignal.timeout(PATIENCE_MS)]),
      redirect: "error",
    });
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`it answered ${response.status}`);
  }

  #complain(why: string): void {
    if (this.#complained) return;
    this.#complained = true;
    this.#options.log.warn(`traces cannot be sent to ${new URL(this.#options.url).host}: ${why}`);
  }
}
