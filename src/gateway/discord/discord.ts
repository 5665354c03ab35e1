import { readFile } from "node:fs/promises";
import type { APIMessage, ButtonInteraction, Client } from "discord.js";
import { unlessAborted } from "../../base/deadline.js";
import { deferred } from "../../base/deferred.js";
import { messageOf } from "../../base/errno.js";
import { isRecord } from "../../base/record.js";
import type {
  Button,
  Gateway,
  GatewayTraits,
  OutgoingPart,
  Person,
  Receiver,
  SendOutcome,
} from "../gateway.js";
import { GatewayRefused } from "../supervisor.js";
import { unreachable } from "../unreachable.js";
import { type GatewayMessage, incomingOf } from "./incoming.js";

type DiscordLibrary = typeof import("discord.js");

/** How often it is looked whether the server has answered a heartbeat. */
const LOOK_EVERY_MS = 5_000;
/** Messages of one chat that are fetched after a while of not listening. */
const MOST_MISSED = 100;

const TRAITS: GatewayTraits = {
  maxChars: 2_000,
  paceMs: 1_000,
  // Heartbeats come about every 41 s.
  silenceMs: 150_000,
  mostPerHour: 300,
  maxFileBytes: 10 * 1_048_576,
  buttons: true,
  edits: true,
  // Discord compares nonces for a few minutes only.
  knowsRepeats: false,
  attended: true,
  pairs: true,
};

export interface DiscordSettings {
  readonly token: string;
  readonly apiRoot: string;
  load(): Promise<DiscordLibrary>;
  readonly lookEveryMs?: number | undefined;
  readonly traits?: Partial<GatewayTraits> | undefined;
}

/** A Discord bot. In channels of servers it hears what is said to it, in private all. */
export class DiscordGateway implements Gateway {
  readonly name = "discord";
  readonly platform = "discord";
  readonly traits: GatewayTraits;
  readonly #settings: DiscordSettings;
  #rest:
    | Promise<{ readonly library: DiscordLibrary; readonly rest: InstanceType<DiscordLibrary["REST"]> }>
    | undefined;

  constructor(settings: DiscordSettings) {
    this.#settings = settings;
    this.traits = { ...TRAITS, ...settings.traits };
  }

  async receive(receiver: Receiver, signal: AbortSignal): Promise<void> {
    const library = await this.#settings.load();
    const { Client, Events, GatewayIntentBits } = library;
    const { Guilds, GuildMessages, DirectMessages, MessageContent } = GatewayIntentBits;
    const client = new Client({
      intents: [Guilds, GuildMessages, DirectMessages, MessageContent],
      rest: this.#restOptions(),
    });
    const broken = deferred<never>();
    const fail = (error: unknown) =>
      broken.reject(error instanceof Error ? error : new Error(messageOf(error)));
    // Without a listener these would end the process.
    client.on(Events.Error, fail);
    client.on(Events.ShardError, fail);
    client.on(Events.ShardDisconnect, ({ code }) => fail(disconnected(code)));
    client.on(Events.Invalidated, () => fail(new Error("Discord ended the session")));
    // As they come over the wire: the library's own event leaves out channels it has not been told of.
    client.on(Events.Raw, ({ t, d }: { readonly t: string; readonly d: GatewayMessage }) => {
      if (t !== "MESSAGE_CREATE") return;
      const incoming = incomingOf(d, { self: client.user?.id, isPrivate: d.guild_id === undefined });
      if (incoming !== undefined) receiver.message(incoming).catch(fail);
    });
    client.on(Events.InteractionCreate, (interaction) => {
      if (interaction.isButton()) pressed(interaction, receiver).catch(fail);
    });
    client.once(Events.ClientReady, () => {
      receiver.alive();
      catchUp(client, receiver, library).catch(fail);
    });
    const look = setInterval(() => {
      if (heartbeatAnswered(client)) receiver.alive();
    }, this.#settings.lookEveryMs ?? LOOK_EVERY_MS);
    try {
      const loggedIn = client.login(this.#settings.token).catch((error: unknown) => {
        throw readable(error);
      });
      await unlessAborted(Promise.race([loggedIn, broken.promise]), signal);
      await unlessAborted(broken.promise, signal);
    } finally {
      clearInterval(look);
      await client.destroy();
    }
  }

  async send(part: OutgoingPart, signal: AbortSignal): Promise<SendOutcome> {
    const { library, rest } = await this.#connect();
    const { Routes } = library;
    const body = {
      content: part.text,
      components: rowsOf(part.buttons ?? []),
      // A model that writes @everyone must not call everyone.
      allowed_mentions: { parse: [] },
    };
    try {
      if (part.replaces !== undefined) {
        await rest.patch(Routes.channelMessage(part.chat, part.replaces), { body, signal });
        return { sent: true, ref: part.replaces };
      }
      const { file } = part;
      const sent = await rest.post(Routes.channelMessages(part.chat), {
        body: { ...body, nonce: part.id, enforce_nonce: true },
        signal,
        ...(file !== undefined && {
          files: [{ name: file.name, contentType: file.mimeType, data: await readFile(file.path) }],
        }),
      });
      return { sent: true, ref: isRecord(sent) ? String(sent.id) : "" };
    } catch (error) {
      return outcomeOf(error, library);
    }
  }

  rendered(text: string): string {
    return text;
  }

  async download(ref: string, signal: AbortSignal): Promise<Uint8Array> {
    const response = await fetch(ref, { signal });
    if (!response.ok) throw new Error(`Discord answered ${response.status}`);
    return new Uint8Array(await response.arrayBuffer());
  }

  async privateChat(person: string, signal: AbortSignal): Promise<string> {
    const { library, rest } = await this.#connect();
    const { Routes } = library;
    const opened = await rest.post(Routes.userChannels(), { body: { recipient_id: person }, signal });
    if (!isRecord(opened)) throw new Error("Discord opened no private channel");
    return String(opened.id);
  }

  #restOptions() {
    // Waits are ours: one queue per chat, which survives the process.
    return { api: this.#settings.apiRoot, retries: 0, rejectOnRateLimit: () => true };
  }

  #connect() {
    this.#rest ??= this.#settings
      .load()
      .then((library) => ({
        library,
        rest: new library.REST(this.#restOptions()).setToken(this.#settings.token),
      }))
      .catch((error: unknown) => {
        this.#rest = undefined;
        throw error;
      });
    return this.#rest;
  }
}

/** What was said while nobody listened, oldest first; what is known already is noticed by its id. */
async function catchUp(
  client: Client,
  receiver: Receiver,
  { Routes, ChannelType }: DiscordLibrary,
): Promise<void> {
  const { rest } = client;
  for (const { chat, id } of receiver.heard()) {
    // A channel that this one was shut out of has nothing more to say to it.
    const channel = await rest.get(Routes.channel(chat)).catch(() => undefined);
    if (!isRecord(channel)) continue;
    const query = new URLSearchParams({ after: id, limit: String(MOST_MISSED) });
    const missed = (await rest.get(Routes.channelMessages(chat), { query })) as readonly APIMessage[];
    const about = { self: client.user?.id, isPrivate: channel.type === ChannelType.DM };
    for (const message of [...missed].reverse()) {
      const incoming = incomingOf(message, about);
      if (incoming !== undefined) await receiver.message(incoming);
    }
  }
}

function personOf(user: {
  readonly id: string;
  readonly username: string;
  readonly globalName: string | null;
}): Person {
  return { id: user.id, name: user.globalName ?? user.username };
}

/** Discord wants an answer within three seconds: it gets one before anything is decided. */
async function pressed(interaction: ButtonInteraction, receiver: Receiver): Promise<void> {
  // One that is too old cannot be answered any more; the press may count all the same.
  const isDeferred = await interaction.deferUpdate().then(
    () => true,
    () => false,
  );
  const answer = await receiver.press({
    chat: interaction.channelId,
    person: personOf(interaction.user),
    data: interaction.customId,
    ref: interaction.message.id,
  });
  if (isDeferred && answer !== "")
    await interaction.followUp({ content: answer, flags: EPHEMERAL }).catch(() => undefined);
}

/** Only the one who pressed sees it. */
const EPHEMERAL = 64;

/** Five buttons fit into a row. */
function rowsOf(buttons: readonly Button[]): readonly unknown[] {
  if (buttons.length === 0) return [];
  const components = buttons
    .slice(0, 5)
    .map(({ label, data }) => ({ type: 2, style: 2, label: label.slice(0, 80), custom_id: data }));
  return [{ type: 1, components }];
}

const LAST_PINGS = new WeakMap<Client, number>();

function heartbeatAnswered(client: Client): boolean {
  const last = Math.max(
    0,
    ...[...client.ws.shards.values()].map(({ lastPingTimestamp }) => lastPingTimestamp),
  );
  const isNew = last > (LAST_PINGS.get(client) ?? 0);
  if (isNew) LAST_PINGS.set(client, last);
  return isNew;
}

function disconnected(code: number): Error {
  if (code === 4004)
    return new GatewayRefused("Discord does not know this token: check gateways.discord.token");
  if (code === 4014)
    return new GatewayRefused(
      "Discord wants the Message Content Intent switched on for this bot, on its Bot page",
    );
  return new Error(`Discord closed the connection (${code})`);
}

function readable(error: unknown): Error {
  const code = isRecord(error) ? error.code : undefined;
  const status = isRecord(error) ? error.status : undefined;
  if (code === "TokenInvalid" || status === 401) return disconnected(4004);
  const message = messageOf(error);
  return /disallowed intents/i.test(message) ? disconnected(4014) : unreachable(`Discord: ${message}`, error);
}

function outcomeOf(error: unknown, { DiscordAPIError, RateLimitError }: DiscordLibrary): SendOutcome {
  const message = messageOf(error);
  if (error instanceof RateLimitError)
    return { sent: false, retry: "later", afterMs: error.retryAfter, message: "Discord asks to wait" };
  if (error instanceof DiscordAPIError)
    return error.status >= 500 || error.status === 429
      ? { sent: false, retry: "later", message }
      : { sent: false, retry: "never", message };
  const status = isRecord(error) ? Number(error.status ?? 0) : 0;
  return { sent: false, retry: "later", unsure: status === 0, message };
}
