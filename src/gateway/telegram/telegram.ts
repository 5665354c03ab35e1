import type { Api } from "grammy";
import { messageOf } from "../../base/errno.js";
import type {
  Button,
  ButtonPress,
  Gateway,
  GatewayTraits,
  OutgoingFile,
  OutgoingPart,
  Receiver,
  SendOutcome,
} from "../gateway.js";
import { GatewayRefused } from "../supervisor.js";
import { unreachable } from "../unreachable.js";
import { telegramHtml } from "./html.js";
import { incomingOf, personOf, type TelegramUpdate } from "./updates.js";

type Grammy = typeof import("grammy");

/** The server answers after this long at the latest when there is nothing new. */
const POLL_SECONDS = 25;
const REQUEST_SECONDS = 60;

const TRAITS: GatewayTraits = {
  maxChars: 4_096,
  // Telegram asks for no more than one message a second and chat.
  paceMs: 1_000,
  silenceMs: 3 * (POLL_SECONDS + 5) * 1_000,
  mostPerHour: 300,
  maxFileBytes: 50 * 1_048_576,
  buttons: true,
  edits: true,
  knowsRepeats: false,
  attended: true,
  pairs: true,
};

export interface TelegramSettings {
  readonly token: string;
  readonly apiRoot: string;
  load(): Promise<Grammy>;
  /** For tests, which have no seconds to wait. */
  readonly pollSeconds?: number | undefined;
  readonly traits?: Partial<GatewayTraits> | undefined;
}

/**
 * A Telegram bot. It polls by itself instead of with grammY's own loop, which ends for good at the first 409: here an update
 * is confirmed only once it is on disk, and whatever the server says is followed by another attempt.
 */
export class TelegramGateway implements Gateway {
  readonly name = "telegram";
  readonly platform = "telegram";
  readonly traits: GatewayTraits;
  readonly #settings: TelegramSettings;
  #connected: Promise<{ readonly grammy: Grammy; readonly api: Api }> | undefined;

  constructor(settings: TelegramSettings) {
    this.#settings = settings;
    this.traits = { ...TRAITS, ...settings.traits };
  }

  async receive(receiver: Receiver, signal: AbortSignal): Promise<void> {
    const { grammy, api } = await this.#connect();
    const { pollSeconds = POLL_SECONDS } = this.#settings;
    let offset = 0;
    while (!signal.aborted) {
      let updates: readonly TelegramUpdate[];
      try {
        updates = await api.getUpdates(
          { offset, timeout: pollSeconds, allowed_updates: ["message", "callback_query"] },
          // The types of grammY are those of a package of its own.
          signal as Parameters<Api["getUpdates"]>[1],
        );
      } catch (error) {
        if (signal.aborted) return;
        throw this.#readable(error, grammy);
      }
      receiver.alive();
      for (const update of updates) {
        await handle(update, { receiver, api });
        // Asking for what comes behind it tells the server that this one arrived.
        offset = update.update_id + 1;
      }
    }
  }

  async send(part: OutgoingPart, signal: AbortSignal): Promise<SendOutcome> {
    const { grammy, api } = await this.#connect();
    const { chat, plain, buttons = [], replaces, file } = part;
    const text = plain ? part.text : telegramHtml(part.text);
    const other = {
      ...(!plain && { parse_mode: "HTML" as const }),
      link_preview_options: { is_disabled: true },
      reply_markup: { inline_keyboard: keyboard(buttons) },
    };
    const given = signal as Parameters<Api["sendMessage"]>[3];
    try {
      if (replaces !== undefined) {
        await api.editMessageText(chat, Number(replaces), text, other, given);
        return { sent: true, ref: replaces };
      }
      const thread = part.replyTo === undefined ? {} : { message_thread_id: Number(part.replyTo) };
      if (file !== undefined) {
        const input = new grammy.InputFile(file.path, file.name);
        const sent = await (isPhoto(file) && !plain
          ? api.sendPhoto(chat, input, thread, given)
          : api.sendDocument(chat, input, thread, given));
        return { sent: true, ref: String(sent.message_id) };
      }
      const { reply_markup, ...rest } = other;
      const sent = await api.sendMessage(
        chat,
        text,
        { ...rest, ...thread, ...(buttons.length > 0 && { reply_markup }) },
        given,
      );
      return { sent: true, ref: String(sent.message_id) };
    } catch (error) {
      return outcomeOf(error, { grammy, replaces });
    }
  }

  rendered(text: string): string {
    return telegramHtml(text);
  }

  async download(ref: string, signal: AbortSignal): Promise<Uint8Array> {
    const { api } = await this.#connect();
    const { file_path: path } = await api.getFile(ref, signal as Parameters<Api["getFile"]>[1]);
    if (path === undefined) throw new Error("Telegram no longer has the file");
    const { apiRoot, token } = this.#settings;
    const response = await fetch(`${apiRoot}/file/bot${token}/${path}`, { signal, redirect: "error" });
    if (!response.ok) throw new Error(`Telegram answered ${response.status}`);
    return new Uint8Array(await response.arrayBuffer());
  }

  #connect(): Promise<{ readonly grammy: Grammy; readonly api: Api }> {
    this.#connected ??= this.#settings
      .load()
      .then((grammy) => {
        const { token, apiRoot } = this.#settings;
        const options = { apiRoot, timeoutSeconds: REQUEST_SECONDS, fetch: nodesFetch };
        return { grammy, api: new grammy.Api(token, options) };
      })
      .catch((error: unknown) => {
        this.#connected = undefined;
        throw error;
      });
    return this.#connected;
  }

  /** Without the token, which stands in the address of every request. */
  #readable(error: unknown, { GrammyError }: Grammy): Error {
    if (error instanceof GrammyError) {
      const { error_code: code, description } = error;
      if (code === 401 || code === 404)
        return new GatewayRefused("Telegram does not know this token: check gateways.telegram.token");
      if (code === 409)
        return new Error(
          "another program polls for the same bot: stop it, or give this one a token of its own",
        );
      return new Error(`Telegram answered ${code}: ${description}`);
    }
    return unreachable(messageOf(error).replaceAll(this.#settings.token, "TOKEN"), error);
  }
}

type GrammyFetch = NonNullable<NonNullable<ConstructorParameters<Grammy["Api"]>[1]>["fetch"]>;

/** The library would bring a fetch of its own, which knows no proxy, with signals that are not Node's. */
const nodesFetch = ((
  url: string,
  { signal, ...init }: { readonly signal?: EventTarget } & RequestInit = {},
) => {
  const end = new AbortController();
  signal?.addEventListener("abort", () => end.abort(), { once: true });
  return fetch(url, { ...init, signal: end.signal });
}) as unknown as GrammyFetch;

async function handle(
  update: TelegramUpdate,
  { receiver, api }: { readonly receiver: Receiver; readonly api: Api },
): Promise<void> {
  const pressed = update.callback_query;
  if (pressed === undefined) {
    const message = incomingOf(update);
    if (message !== undefined) await receiver.message(message);
    return;
  }
  const answer = pressed.message === undefined ? "" : await receiver.press(pressOf(pressed));
  // The person sees it within seconds or not at all: a failure here changes nothing.
  await api.answerCallbackQuery(pressed.id, answer === "" ? {} : { text: answer }).catch(() => undefined);
}

function pressOf(query: NonNullable<TelegramUpdate["callback_query"]>): ButtonPress {
  return {
    chat: String(query.message?.chat.id ?? ""),
    person: personOf(query.from),
    data: query.data ?? "",
    ref: String(query.message?.message_id ?? ""),
  };
}

/** Telegram makes a smaller copy of a photo; everything else arrives as it is. */
function isPhoto({ mimeType }: OutgoingFile): boolean {
  return mimeType === "image/png" || mimeType === "image/jpeg";
}

/** Short ones beside each other. */
function keyboard(buttons: readonly Button[]): { text: string; callback_data: string }[][] {
  const keys = buttons.map(({ label, data }) => ({ text: label, callback_data: data }));
  const isShort = keys.reduce((sum, { text }) => sum + text.length, 0) <= 30;
  return keys.length === 0 ? [] : isShort ? [keys] : keys.map((key) => [key]);
}

function outcomeOf(
  error: unknown,
  { grammy, replaces }: { readonly grammy: Grammy; readonly replaces: string | undefined },
): SendOutcome {
  if (!(error instanceof grammy.GrammyError))
    return { sent: false, retry: "later", unsure: true, message: "Telegram could not be reached" };
  const { error_code: code, description: message } = error;
  const seconds = error.parameters.retry_after;
  if (replaces !== undefined && /message is not modified/.test(message)) return { sent: true, ref: replaces };
  if (code === 429) return { sent: false, retry: "later", afterMs: (seconds ?? 1) * 1_000, message };
  if (code >= 500 || code === 409) return { sent: false, retry: "later", message };
  if (code === 400 && /can't parse entities|message is too long|PHOTO_/i.test(message))
    return { sent: false, retry: "plain", message };
  return { sent: false, retry: "never", message };
}
