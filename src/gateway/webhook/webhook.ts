import { createHash } from "node:crypto";
import { aborted } from "../../base/deadline.js";
import { messageOf } from "../../base/errno.js";
import { isRecord } from "../../base/record.js";
import { checkSignature, SIGNATURE_HEADER, signBody } from "../../base/signed-body.js";
import { guardedFetch } from "../../net/fetch.js";
import type { NetworkRules } from "../../net/urls.js";
import { HermesError } from "../../tool/errors.js";
import type { Gateway, GatewayTraits, OutgoingPart, Receiver, SendOutcome } from "../gateway.js";

const TIMEOUT_MS = 30_000;
const MAX_ANSWER_BYTES = 64 * 1024;
const MAX_TEXT_CHARS = 200_000;

export interface WebhookSettings {
  /** Of the configuration: `POST /hooks/NAME`. */
  readonly name: string;
  readonly secret: string;
  /** Where answers are posted; none: they are only kept with the conversation. */
  readonly url?: string | undefined;
  rules(): NetworkRules;
}

/** What became of a delivery. `away`: the gateway does not run at this moment. */
export type HookAnswer =
  | { readonly taken: true; readonly id: string; readonly isRepeat: boolean }
  | { readonly taken: false; readonly why: "unsigned" | "unreadable" | "away"; readonly message: string };

/**
 * Messages of programs, signed with a secret they share: `POST {"text"}`, answers posted the same way. A program is not a
 * person: it is a guest, and nobody sits there who could approve.
 */
export class WebhookGateway implements Gateway {
  readonly name: string;
  readonly platform = "webhook";
  readonly traits: GatewayTraits = {
    maxChars: MAX_TEXT_CHARS,
    paceMs: 0,
    // Nobody knows when a program will have something to say.
    silenceMs: Number.POSITIVE_INFINITY,
    mostPerHour: 600,
    maxFileBytes: 0,
    buttons: false,
    edits: false,
    // The id of a part is in its body.
    knowsRepeats: true,
    attended: false,
    isCalled: true,
    pairs: false,
  };
  readonly #settings: WebhookSettings;
  #receiver: Receiver | undefined;

  constructor(settings: WebhookSettings) {
    this.#settings = settings;
    this.name = `webhook:${settings.name}`;
  }

  async receive(receiver: Receiver, signal: AbortSignal): Promise<void> {
    this.#receiver = receiver;
    receiver.alive();
    await aborted(signal);
    this.#receiver = undefined;
  }

  /** Called by the server for `POST /hooks/NAME`. */
  async accept(delivery: {
    readonly signature: string | undefined;
    readonly body: Buffer;
    readonly now?: number | undefined;
  }): Promise<HookAnswer> {
    const { signature, body, now = Date.now() } = delivery;
    const verdict = checkSignature({ header: signature, body, secret: this.#settings.secret, now });
    if (verdict !== "good") return { taken: false, why: "unsigned", message: UNSIGNED[verdict] };
    const said = parsed(body);
    if (said === undefined)
      return { taken: false, why: "unreadable", message: 'The body must be JSON: {"text": "…"}.' };
    const receiver = this.#receiver;
    if (receiver === undefined)
      return { taken: false, why: "away", message: "This webhook is being started." };
    receiver.alive();
    // Without an id of the sender, the signed bytes are what tells a repetition.
    const id = said.id ?? createHash("sha256").update(`${signature}.`).update(body).digest("hex");
    try {
      const outcome = await receiver.message({
        id,
        chat: said.chat,
        person: { id: this.#settings.name, name: this.#settings.name },
        text: said.text,
        sentAt: now,
        isPrivate: true,
        replyTo: id,
      });
      return { taken: true, id, isRepeat: outcome === "known" };
    } catch (error) {
      if (!(error instanceof HermesError) || error.code !== "unavailable") throw error;
      return { taken: false, why: "away", message: error.message };
    }
  }

  async send({ id, text, replyTo }: OutgoingPart, signal: AbortSignal): Promise<SendOutcome> {
    const { url, secret, rules } = this.#settings;
    if (url === undefined) return { sent: true, ref: "kept" };
    const body = JSON.stringify({ id, text, in_reply_to: replyTo });
    try {
      const response = await guardedFetch({
        url,
        method: "POST",
        headers: { "content-type": "application/json", [SIGNATURE_HEADER]: signBody(body, secret) },
        body,
        rules: rules(),
        configured: true,
        // Signed for this receiver, not for whoever it would send us to.
        followRedirects: false,
        timeoutMs: TIMEOUT_MS,
        maxBytes: MAX_ANSWER_BYTES,
        overflow: "cut",
        signal,
      });
      await response.close();
      return outcomeOf(response.status, response.headers.get("retry-after"));
    } catch (error) {
      return { sent: false, retry: "later", unsure: true, message: messageOf(error) };
    }
  }

  rendered(text: string): string {
    return text;
  }
}

const UNSIGNED = {
  missing: "The header X-Hermes-Signature is missing or has another form than t=UNIX,v1=HEX.",
  wrong: "The signature does not fit.",
  too_old: "The signature is older than five minutes, or the clocks disagree.",
} as const;

function parsed(
  body: Buffer,
): { readonly text: string; readonly chat: string; readonly id: string | undefined } | undefined {
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    if (!isRecord(value) || typeof value.text !== "string") return undefined;
    const { text, chat, id } = value;
    if (text.trim() === "" || text.length > MAX_TEXT_CHARS) return undefined;
    return {
      text,
      chat: typeof chat === "string" && chat !== "" ? chat.slice(0, 200) : "main",
      id: typeof id === "string" && id !== "" ? id.slice(0, 200) : undefined,
    };
  } catch {
    return undefined;
  }
}

function outcomeOf(status: number, retryAfter: string | null): SendOutcome {
  if (status >= 200 && status < 300) return { sent: true, ref: `HTTP ${status}` };
  const seconds = Number(retryAfter ?? Number.NaN);
  if (status === 408 || status === 429 || status >= 500)
    return {
      sent: false,
      retry: "later",
      afterMs: Number.isFinite(seconds) ? Math.min(seconds * 1000, 3_600_000) : undefined,
      message: `the receiver answered ${status}`,
    };
  return { sent: false, retry: "never", message: `the receiver refused it with ${status}` };
}
