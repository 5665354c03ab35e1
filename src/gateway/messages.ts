import { randomUUID } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pause } from "../base/deadline.js";
import type { Runtime } from "../runtime/runtime.js";
import { ToolError } from "../tool/errors.js";
import type { MessagesHost, MessageTarget, SentMessage } from "../tool/host-capabilities.js";
import { typeOf } from "../tools/platform/storage/content-type.js";
import { configuredGateways } from "./configured.js";
import { Delivery } from "./delivery.js";
import { type GatewayStore, openGatewayStore } from "./gateway-store.js";
import type { ConfiguredGateway } from "./hub.js";
import type { NewPart } from "./outbox.js";
import type { Seat } from "./questions.js";
import { splitText } from "./split-text.js";

/** What a platform has not taken by then stays in the outbox, and whoever sent it is told. */
const PATIENCE_MS = 45_000;
const LOOK_EVERY_MS = 25;
const BACKOFF = { firstMs: 500, maxMs: 5_000 };

type SendRequest = Parameters<MessagesHost["send"]>[0];

/** Where a message goes. */
interface Address {
  readonly configured: ConfiguredGateway;
  readonly chat: string;
  readonly replyTo: string | undefined;
}

export interface GatewayMessagesParts {
  readonly runtime: Runtime;
  /** Those of the settings when left out. */
  gateways?(): readonly ConfiguredGateway[];
  /** The chat the conversation is in. */
  here?(): Seat | undefined;
  /** The gateways run in this process. */
  wake?(gateway: string, chat: string): void;
}

/**
 * Messages that nobody has asked for with one of their own. They go through the same outbox as answers; while no process runs
 * the gateway, this one sends them.
 */
export class GatewayMessages implements MessagesHost {
  readonly #parts: GatewayMessagesParts;

  constructor(parts: GatewayMessagesParts) {
    this.#parts = parts;
  }

  async targets(): Promise<readonly MessageTarget[]> {
    return this.#withStore(async (store) => this.#known(store));
  }

  async send(request: SendRequest): Promise<SentMessage | undefined> {
    return this.#withStore(async (store) => {
      const address = await this.#addressOf(request, store);
      if (address === undefined) return undefined;
      const parts = await this.#partsOf(request, address);
      const { name } = address.configured.gateway;
      const seqs = await store.write(() => parts.map((part) => store.outbox.add(name, part)));
      await this.#carry(store, { address, seqs, signal: request.signal });
      return this.#report(store, { address, seqs });
    });
  }

  async #withStore<Result>(work: (store: GatewayStore) => Promise<Result>): Promise<Result> {
    const { config, log } = this.#parts.runtime;
    const store = await openGatewayStore(config.paths.gatewaysDb);
    for (const notice of store.notices) log.warn(notice);
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  }

  #gateways(): readonly ConfiguredGateway[] {
    const all = this.#parts.gateways?.() ?? configuredGateways(this.#parts.runtime);
    // Webhooks and mail are targets of their own, with addresses that people know.
    return all.filter(({ gateway }) => gateway.traits.pairs);
  }

  #known(store: GatewayStore): readonly MessageTarget[] {
    return this.#gateways().flatMap(({ gateway: { name }, people = [] }) => {
      const paired = store.people.list().filter(({ gateway }) => gateway === name);
      const named = new Map<string, string>([
        ...store.chats.known(name).map((chat) => [chat, "a chat"] as const),
        ...people.map((id) => [id, "somebody of the settings"] as const),
        ...paired.map(({ person }) => [person.id, person.name] as const),
      ]);
      return [...named].map(([id, about]) => ({ target: `${name}:${id}`, about }));
    });
  }

  async #addressOf({ target, signal }: SendRequest, store: GatewayStore): Promise<Address | undefined> {
    if (target === "here") return this.#hereAddress();
    const [name = "", written = "", thread] = target.split(":");
    const configured = this.#gateways().find(({ gateway }) => gateway.name === name);
    if (configured === undefined) return undefined;
    const known = this.#known(store).filter((each) => each.target.startsWith(`${name}:`));
    // The platform alone is clear enough while there is one chat.
    const wanted = written === "" && known.length === 1 ? known[0]?.target : `${name}:${written}`;
    if (!known.some((each) => each.target === wanted)) return undefined;
    const id = wanted?.slice(name.length + 1) ?? "";
    const isChat = store.chats.known(name).includes(id);
    const { gateway } = configured;
    const chat = isChat ? id : ((await gateway.privateChat?.(id, signal)) ?? id);
    return { configured, chat, replyTo: thread };
  }

  #hereAddress(): Address | undefined {
    const seat = this.#parts.here?.();
    if (seat === undefined) return undefined;
    const { gateway, chat, replyTo } = seat;
    return { configured: { gateway, role: () => undefined }, chat, replyTo };
  }

  async #partsOf(
    { text, files }: SendRequest,
    { configured, chat, replyTo }: Address,
  ): Promise<readonly NewPart[]> {
    const { gateway } = configured;
    const { name, traits } = gateway;
    const tooLarge = files.find(({ content }) => content.length > traits.maxFileBytes);
    if (tooLarge !== undefined)
      throw new ToolError(
        traits.maxFileBytes === 0
          ? `Nothing was sent: ${name} carries no files.`
          : `Nothing was sent: ${tooLarge.filename} is larger than the ${traits.maxFileBytes >> 20} MiB that ${name} takes.`,
        { code: "invalid_arguments", hint: "Send a smaller file, or say where it can be fetched." },
      );
    const { runtime } = this.#parts;
    const pieces = splitText(runtime.redact(text), {
      maxChars: traits.maxChars,
      rendered: (piece) => gateway.rendered(piece),
    });
    const folder = join(runtime.config.paths.cache, "gateway-outgoing");
    if (files.length > 0) await mkdir(folder, { recursive: true, mode: 0o700 });
    const copies = await Promise.all(
      files.map(async ({ filename, content }) => {
        const path = join(folder, randomUUID());
        await writeFile(path, content, { mode: 0o600 });
        return { path, name: filename, mimeType: typeOf(filename) ?? "application/octet-stream" };
      }),
    );
    return [
      ...pieces.map((piece) => ({ chat, text: piece, replyTo })),
      ...copies.map((file) => ({ chat, text: "", file, replyTo })),
    ];
  }

  /** Until all parts are settled, or patience ends. */
  async #carry(
    store: GatewayStore,
    work: { readonly address: Address; readonly seqs: readonly number[]; readonly signal: AbortSignal },
  ): Promise<void> {
    const { address, seqs, signal } = work;
    const { gateway } = address.configured;
    const { log } = this.#parts.runtime;
    this.#parts.wake?.(gateway.name, address.chat);
    const own = store.health.isRun(gateway.name)
      ? undefined
      : new Delivery({ gateway, store, log, backoff: BACKOFF, onFailed: () => undefined });
    own?.wake(address.chat);
    const until = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
    while (!until.aborted && seqs.some((seq) => isOpen(store, seq))) await pause(LOOK_EVERY_MS, until);
    await own?.stop();
  }

  #report(
    store: GatewayStore,
    { address, seqs }: { readonly address: Address; readonly seqs: readonly number[] },
  ): SentMessage {
    const { name } = address.configured.gateway;
    const settled = seqs.map((seq) => store.outbox.settled(seq));
    const failed = settled.find((each) => each?.state === "failed");
    if (failed !== undefined)
      throw new ToolError(`${name} did not take the message: ${failed.error}`, {
        hint: "send_message with action list tells who can be reached.",
      });
    const waiting = seqs.filter((seq) => isOpen(store, seq)).length;
    return {
      reached: [`${name}:${address.chat}`],
      message_id:
        settled.find((each) => each !== undefined && each.ref !== "")?.ref ?? `outbox ${seqs[0] ?? 0}`,
      receipt: waiting === 0 ? "delivered" : "waiting in the outbox",
      ...(waiting > 0 && {
        note: `${name} has not taken ${waiting} of ${seqs.length} parts yet; they go out as soon as it does. Do not send them again.`,
      }),
    };
  }
}

function isOpen(store: GatewayStore, seq: number): boolean {
  const state = store.outbox.settled(seq)?.state;
  return state === "waiting" || state === "sending";
}
