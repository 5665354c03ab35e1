import { sha256 } from "../../base/hash.js";
import type { CallRecord } from "../../call/call-record.js";
import type { CallTracer } from "../../call/scope.js";
import { textOf } from "../../tool/content.js";
import { serializeOutput } from "../../tool/serialize.js";
import { VERSION } from "../../version.js";
import type { EventBus, ModelFinished } from "../events.js";
import type { Logger } from "../log.js";
import { SpanExporter } from "./exporter.js";
import { chatSpan, toolSpan } from "./semantics.js";
import { newSpanId, parseTraceparent, type SpanContext, traceparentOf } from "./trace-context.js";

type Environment = Readonly<Record<string, string | undefined>>;

/** Of arguments and results, where they are told at all. */
const CONTENT_CHARS = 8_192;

export interface Tracer extends CallTracer {
  close(): Promise<void>;
}

/** Undefined where the settings cannot be used; the log then says why. */
export function openTracer(options: {
  readonly env: Environment;
  readonly events: EventBus;
  readonly log: Logger;
}): Tracer | undefined {
  const { env, events, log } = options;
  const protocol =
    env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? env.OTEL_EXPORTER_OTLP_PROTOCOL ?? "http/protobuf";
  const url = tracesUrl(env);
  if ((protocol !== "http/json" && protocol !== "http/protobuf") || url === undefined) {
    log.warn(
      url === undefined
        ? "no traces are sent: OTEL_EXPORTER_OTLP_ENDPOINT is no http address"
        : `no traces are sent: OTEL_EXPORTER_OTLP_PROTOCOL is ${protocol}; choose http/json or http/protobuf`,
    );
    return undefined;
  }
  const exporter = new SpanExporter({
    url,
    protocol,
    headers: headersFrom(env.OTEL_EXPORTER_OTLP_HEADERS),
    resource: { "service.name": env.OTEL_SERVICE_NAME || "hermes-tools", "service.version": VERSION },
    log,
  });
  return new OtlpTracer(exporter, { env, events });
}

class OtlpTracer implements Tracer {
  readonly #exporter: SpanExporter;
  readonly #outside: SpanContext | undefined;
  readonly #content: boolean;
  /** Calls that run, by the name their locks have: where calls from inside of them stand. */
  readonly #running = new Map<string, SpanContext>();
  readonly #stopListening: () => void;

  constructor(
    exporter: SpanExporter,
    { env, events }: { readonly env: Environment; readonly events: EventBus },
  ) {
    this.#exporter = exporter;
    this.#outside = parseTraceparent(env.TRACEPARENT);
    this.#content = env.HERMES_OTEL_CONTENT === "1";
    this.#stopListening = events.on((event) => {
      if (event.type === "model.finished") this.#model(event);
    });
  }

  begin(call: CallRecord): string {
    const parent = this.#parentOf(call);
    const context = { traceId: parent.traceId, spanId: newSpanId(), sampled: parent.sampled };
    this.#running.set(nameOf(call), context);
    return traceparentOf(context);
  }

  end(call: CallRecord): void {
    const context = this.#running.get(nameOf(call));
    this.#running.delete(nameOf(call));
    if (context?.sampled !== true) return;
    const endedAt = Date.now();
    this.#exporter.add({
      ...toolSpan(call, this.#content ? contentOf(call) : undefined),
      context,
      parentSpanId: this.#parentOf(call).spanId,
      startedAt: endedAt - (performance.now() - call.startedAt),
      endedAt,
    });
  }

  #model(event: ModelFinished): void {
    const parent = this.#parent(event);
    if (!parent.sampled) return;
    this.#exporter.add({
      ...chatSpan(event),
      context: { traceId: parent.traceId, spanId: newSpanId(), sampled: true },
      parentSpanId: parent.spanId,
      startedAt: event.started_at,
      endedAt: event.at,
    });
  }

  #parentOf({ scope, traceparent }: CallRecord): Parent {
    return this.#parent({ within: scope.ancestors.at(-1), traceparent, root: scope.rootId });
  }

  /** The call it was made from, who asked for it, who started this program; else all of a session is one trace. */
  #parent({ within, traceparent, root }: Pick<ModelFinished, "within" | "traceparent" | "root">): Parent {
    return (
      (within === undefined ? undefined : this.#running.get(within)) ??
      parseTraceparent(traceparent) ??
      this.#outside ??
      traceOfSession(root)
    );
  }

  async close(): Promise<void> {
    this.#stopListening();
    await this.#exporter.close();
  }
}

type Parent = Omit<SpanContext, "spanId"> & { readonly spanId: string | undefined };

function nameOf({ scope, id }: CallRecord): string {
  return `${scope.info.id}/${id}`;
}

/** Of a session that nobody outside has a span for: its spans have no parent. */
function traceOfSession(session: string): Parent {
  return { traceId: sha256(session).slice(0, 32), spanId: undefined, sampled: true };
}

function contentOf(call: CallRecord) {
  const { redact } = call.scope.services;
  return {
    arguments: redact(serializeOutput(call.args)).slice(0, CONTENT_CHARS),
    result: textOf(call.content).slice(0, CONTENT_CHARS),
  };
}

function tracesUrl(env: Environment): string | undefined {
  const own = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? "";
  const common = (env.OTEL_EXPORTER_OTLP_ENDPOINT ?? "").replace(/\/+$/, "");
  const url = own === "" ? `${common}/v1/traces` : own;
  return /^https?:\/\/[^/]/.test(url) && URL.canParse(url) ? url : undefined;
}

/** `name=value,name=value`, values escaped as in addresses. */
function headersFrom(text = ""): Readonly<Record<string, string>> {
  const pairs = text.split(",").flatMap((pair): [string, string][] => {
    const at = pair.indexOf("=");
    const name = pair.slice(0, at).trim().toLowerCase();
    return at > 0 && /^[\w!#$%&'*+.^`|~-]+$/.test(name) ? [[name, unescaped(pair.slice(at + 1).trim())]] : [];
  });
  return Object.fromEntries(pairs);
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
