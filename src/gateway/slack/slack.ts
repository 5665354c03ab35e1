import { readFile } from "node:fs/promises";
import type { SocketModeClient } from "@slack/socket-mode";
import type { WebClient } from "@slack/web-api";
import { unlessAborted } from "../../base/deadline.js";
import { deferred } from "../../base/deferred.js";
import { messageOf } from "../../base/errno.js";
import { isRecord } from "../../base/record.js";
import type {
  Button,
  ButtonPress,
  Gateway,
  GatewayTraits,
  IncomingMessage,
  OutgoingPart,
  Receiver,
  SendOutcome,
} from "../gateway.js";
import { GatewayRefused } from "../supervisor.js";
import { unreachable } from "../unreachable.js";
import { slackText } from "./mrkdwn.js";

/** How often it is looked whether the connection lives; the library ends one whose pings are not answered. */
const LOOK_EVERY_MS = 5_000;
const MOST_MISSED = 100;
const REFUSALS =
  /invalid_auth|not_authed|account_inactive|token_revoked|missing_scope|not_allowed_token_type/;

const TRAITS: GatewayTraits = {
  maxChars: 3_000,
  paceMs: 1_000,
  silenceMs: 60_000,
  mostPerHour: 300,
  maxFileBytes: 50 * 1_048_576,
  buttons: true,
  edits: true,
  knowsRepeats: false,
  attended: true,
  pairs: true,
};

export interface SlackSettings {
  readonly token: string;
  readonly appToken: string;
  /** Ends with a slash. */
  readonly apiRoot: string;
  loadWeb(): Promise<typeof import("@slack/web-api")>;
  loadSocket(): Promise<typeof import("@slack/socket-mode")>;
  readonly lookEveryMs?: number | undefined;
  readonly traits?: Partial<GatewayTraits> | undefined;
}

/**
 * A Slack app in socket mode. An event is confirmed when it is on disk, and known by channel and time of its message: a
 * delivery that Slack calls a retry may be the only one that arrived.
 */
export class SlackGateway implements Gateway {
  readonly name = "slack";
  readonly platform = "slack";
  readonly traits: GatewayTraits;
  readonly #settings: SlackSettings;
  #web: Promise<WebClient> | undefined;

  constructor(settings: SlackSettings) {
    this.#settings = settings;
    this.traits = { ...TRAITS, ...settings.traits };
  }

  async receive(receiver: Receiver, signal: AbortSignal): Promise<void> {
    const { SocketModeClient, LogLevel } = await this.#settings.loadSocket();
    const { appToken, apiRoot, lookEveryMs = LOOK_EVERY_MS } = this.#settings;
    const client = new SocketModeClient({
      appToken,
      logLevel: LogLevel.ERROR,
      // Starting again is the supervisor's work.
      autoReconnectEnabled: false,
      clientOptions: { slackApiUrl: apiRoot, retryConfig: { retries: 0 } },
    });
    const broken = deferred<never>();
    const fail = (error: unknown) => broken.reject(readable(error));
    client.on("error", fail);
    client.on("disconnected", () => fail(new Error("Slack closed the connection")));
    client.on("slack_event", (envelope: Envelope) => {
      handle(envelope, receiver).catch(fail);
    });
    const look = setInterval(() => {
      if (isConnected(client)) receiver.alive();
    }, lookEveryMs);
    try {
      const started = client.start().catch((error: unknown) => {
        throw readable(error);
      });
      await unlessAborted(Promise.race([started, broken.promise]), signal);
      receiver.alive();
      await this.#catchUp(receiver);
      await unlessAborted(broken.promise, signal);
    } finally {
      clearInterval(look);
      await client.disconnect().catch(() => undefined);
    }
  }

  /** What was said while nobody listened. */
  async #catchUp(receiver: Receiver): Promise<void> {
    const web = await this.#connect();
    for (const { chat, id } of receiver.heard()) {
      const oldest = id.split(":")[1];
      if (oldest === undefined) continue;
      const history = await web.conversations
        .history({ channel: chat, oldest, limit: MOST_MISSED })
        .catch(() => ({ messages: [] }));
      for (const message of [...(history.messages ?? [])].reverse()) {
        const incoming = incomingOf({
          ...message,
          channel: chat,
          channel_type: chat.startsWith("D") ? "im" : "",
        });
        if (incoming !== undefined) await receiver.message(incoming);
      }
    }
  }

  async send(part: OutgoingPart): Promise<SendOutcome> {
    const web = await this.#connect();
    const text = part.plain ? part.text : slackText(part.text);
    const about = { channel: part.chat, text, ...blocksOf(text, part.buttons ?? []) };
    try {
      if (part.replaces !== undefined) {
        await web.chat.update({ blocks: [], ...about, ts: part.replaces });
        return { sent: true, ref: part.replaces };
      }
      if (part.file !== undefined) {
        const { path, name } = part.file;
        const thread = part.replyTo === undefined ? {} : { thread_ts: part.replyTo };
        const channel_id = await this.#channelOf(web, part.chat);
        await web.filesUploadV2({ channel_id, ...thread, file: await readFile(path), filename: name });
        return { sent: true, ref: name };
      }
      const sent = await web.chat.postMessage({
        ...about,
        unfurl_links: false,
        ...(part.replyTo !== undefined && { thread_ts: part.replyTo }),
      });
      return { sent: true, ref: sent.ts ?? "" };
    } catch (error) {
      return outcomeOf(error);
    }
  }

  /** Files go to channels only; a message may also go to a person. */
  async #channelOf(web: WebClient, chat: string): Promise<string> {
    if (!/^[UW]/.test(chat)) return chat;
    const { channel } = await web.conversations.open({ users: chat });
    return channel?.id ?? chat;
  }

  rendered(text: string): string {
    return slackText(text);
  }

  async download(ref: string, signal: AbortSignal): Promise<Uint8Array> {
    const headers = { authorization: `Bearer ${this.#settings.token}` };
    const response = await fetch(ref, { signal, headers, redirect: "error" });
    if (!response.ok) throw new Error(`Slack answered ${response.status}`);
    return new Uint8Array(await response.arrayBuffer());
  }

  #connect(): Promise<WebClient> {
    this.#web ??= this.#settings
      .loadWeb()
      .then(({ WebClient, LogLevel }) => {
        const { token, apiRoot } = this.#settings;
        return new WebClient(token, {
          slackApiUrl: apiRoot,
          logLevel: LogLevel.ERROR,
          // Waits are ours: one queue per chat, which survives the process.
          retryConfig: { retries: 0 },
          rejectRateLimitedCalls: true,
        });
      })
      .catch((error: unknown) => {
        this.#web = undefined;
        throw error;
      });
    return this.#web;
  }
}

interface Envelope {
  readonly type: string;
  readonly body: unknown;
  ack(): Promise<void>;
}

async function handle({ type, body, ack }: Envelope, receiver: Receiver): Promise<void> {
  receiver.alive();
  if (!isRecord(body)) return;
  if (type === "interactive") {
    // Slack waits three seconds for this, and a person may be asked by what follows.
    await ack();
    const press = pressOf(body);
    if (press !== undefined) await receiver.press(press);
    return;
  }
  const incoming = isRecord(body.event) ? incomingOf(body.event) : undefined;
  if (incoming !== undefined) await receiver.message(incoming);
  await ack();
}

/** Undefined for what bots say, for changes of messages, and in channels for what is not said to this one. */
function incomingOf(event: Readonly<Record<string, unknown>>): IncomingMessage | undefined {
  const { type, user, channel, ts, subtype, bot_id, channel_type } = event;
  if (typeof user !== "string" || typeof channel !== "string" || typeof ts !== "string") return undefined;
  if (bot_id !== undefined || (subtype !== undefined && subtype !== "file_share")) return undefined;
  const isPrivate = channel_type === "im";
  if (!isPrivate && type !== "app_mention") return undefined;
  const text = (typeof event.text === "string" ? event.text : "").replace(/^\s*<@[A-Z0-9]+>\s*/, "");
  const thread = typeof event.thread_ts === "string" ? event.thread_ts : undefined;
  const files = (Array.isArray(event.files) ? event.files : []).filter(isRecord);
  if (text.trim() === "" && files.length === 0) return undefined;
  return {
    id: `${channel}:${ts}`,
    chat: channel,
    person: { id: user, name: user },
    text: text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&"),
    sentAt: Math.floor(Number(ts) * 1_000),
    isPrivate,
    ...(files.length > 0 && {
      attachments: files.map((file) => ({
        ref: String(file.url_private_download ?? file.url_private ?? ""),
        name: String(file.name ?? "file"),
        mimeType: String(file.mimetype ?? "application/octet-stream"),
        bytes: Number(file.size ?? 0),
      })),
    }),
    ...(isPrivate ? thread !== undefined && { replyTo: thread } : { replyTo: thread ?? ts }),
  };
}

function pressOf(body: Readonly<Record<string, unknown>>): ButtonPress | undefined {
  const { user, channel, message, actions } = body;
  const [action] = Array.isArray(actions) ? actions : [];
  if (!isRecord(user) || !isRecord(channel) || !isRecord(message) || !isRecord(action)) return undefined;
  return {
    chat: String(channel.id),
    person: { id: String(user.id), name: String(user.name ?? user.id) },
    data: String(action.value ?? ""),
    ref: String(message.ts ?? ""),
  };
}

function blocksOf(text: string, buttons: readonly Button[]) {
  if (buttons.length === 0) return {};
  const elements = buttons.map(({ label, data }) => ({
    type: "button" as const,
    text: { type: "plain_text" as const, text: label.slice(0, 75) },
    value: data,
    action_id: data,
  }));
  return {
    blocks: [
      { type: "section" as const, text: { type: "mrkdwn" as const, text } },
      { type: "actions" as const, elements },
    ],
  };
}

/** Undocumented in the types of some versions: looked up, not assumed. */
function isConnected(client: SocketModeClient): boolean {
  const socket: unknown = Reflect.get(client, "websocket");
  const isActive: unknown = isRecord(socket) ? socket.isActive : undefined;
  return typeof isActive === "function" && isActive.call(socket) === true;
}

function readable(error: unknown): Error {
  const message = messageOf(error);
  return REFUSALS.test(message)
    ? new GatewayRefused(`Slack refuses the tokens (${message}): check gateways.slack.token and .app_token`)
    : unreachable(`Slack: ${message}`, error);
}

function outcomeOf(error: unknown): SendOutcome {
  const message = messageOf(error);
  const { code, retryAfter, statusCode } = isRecord(error) ? error : {};
  if (code === "slack_webapi_rate_limited_error")
    return { sent: false, retry: "later", afterMs: Number(retryAfter ?? 1) * 1_000, message };
  if (code === "slack_webapi_platform_error")
    return /internal_error|fatal_error|service_unavailable|ratelimited/.test(message)
      ? { sent: false, retry: "later", message }
      : { sent: false, retry: /invalid_blocks|msg_too_long/.test(message) ? "plain" : "never", message };
  return { sent: false, retry: "later", unsure: typeof statusCode !== "number", message };
}
