import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestEnd } from "../runtime.js";
import { multipartFields, type SentFile } from "./multipart.js";

export const TOKEN = "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw";

export interface ShownMessage {
  readonly id: number;
  readonly chat: string;
  text: string;
  buttons: { readonly text: string; readonly callback_data: string }[];
  edits: number;
}

interface Fault {
  readonly method: string;
  readonly status: number;
  readonly description: string;
  readonly retryAfter?: number | undefined;
  /** The message is taken, and then the connection is cut: the client cannot know. */
  readonly afterwards?: boolean | undefined;
  left: number;
}

type Fields = Readonly<Record<string, unknown>>;

/** Speaks the Bot API: holds polls open, forgets what was confirmed, refuses what Telegram refuses. */
export class TelegramServer {
  readonly token: string;
  readonly shown: ShownMessage[] = [];
  /** What people were told who pressed a button. */
  readonly toasts: string[] = [];
  readonly requests: { readonly method: string; readonly at: number; readonly fields: Fields }[] = [];
  /** What can be fetched, by path. */
  readonly files = new Map<string, Uint8Array>();
  /** Files that were sent to people. */
  readonly sentFiles: SentFile[] = [];
  readonly #faults: Fault[] = [];
  readonly #waiting = new Set<() => void>();
  #updates: { update_id: number; [kind: string]: unknown }[] = [];
  #nextUpdate = 700;
  #nextMessage = 1;
  url = "";

  constructor(token = TOKEN) {
    this.token = token;
  }

  get apiRoot(): string {
    return this.url;
  }

  /** How many updates nobody has confirmed. */
  get unconfirmed(): number {
    return this.#updates.length;
  }

  async listen(): Promise<this> {
    const server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => response.destroy(error as Error));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    onTestEnd(async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    });
    return this;
  }

  /** Somebody writes. With `update`, the same update is delivered once more. */
  say(said: {
    readonly text?: string;
    readonly from?: number;
    readonly name?: string;
    readonly chat?: number;
    readonly group?: boolean;
    readonly at?: number;
    readonly update?: number;
    readonly more?: Fields;
  }): number {
    const { from = 42, name = "Ann", chat = from, group = false, at = Date.now() } = said;
    const update_id = said.update ?? this.#nextUpdate++;
    this.#deliver({
      update_id,
      message: {
        message_id: this.#nextMessage++,
        date: Math.floor(at / 1000),
        chat: { id: chat, type: group ? "group" : "private", ...(group && { title: "A group" }) },
        from: { id: from, is_bot: false, first_name: name },
        ...(said.text !== undefined && { text: said.text }),
        ...said.more,
      },
    });
    return update_id;
  }

  press(message: ShownMessage, label: string, from = 42): void {
    const data = message.buttons.find(({ text }) => text === label)?.callback_data;
    if (data === undefined) throw new Error(`there is no button ${label}`);
    this.pressData(message, data, from);
  }

  /** Also with data that no button has any more. */
  pressData(message: Pick<ShownMessage, "id" | "chat">, data: string, from = 42): void {
    this.#deliver({
      update_id: this.#nextUpdate++,
      callback_query: {
        id: `q${this.#nextUpdate}`,
        from: { id: from, is_bot: false, first_name: `P${from}` },
        chat_instance: "1",
        data,
        message: { message_id: message.id, date: 0, chat: { id: Number(message.chat), type: "private" } },
      },
    });
  }

  fail(fault: Omit<Fault, "left"> & { readonly times?: number }): void {
    this.#faults.push({ ...fault, left: fault.times ?? 1 });
  }

  #deliver(update: { update_id: number; [kind: string]: unknown }): void {
    this.#updates.push(update);
    for (const wake of [...this.#waiting]) wake();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = decodeURIComponent(new URL(request.url ?? "", "http://x").pathname);
    const file = path.startsWith(`/file/bot${this.token}/`)
      ? this.files.get(path.slice(`/file/bot${this.token}/`.length))
      : undefined;
    if (file !== undefined) return void response.writeHead(200).end(file);
    const [, token, method = ""] = /^\/bot([^/]+)\/(\w+)$/.exec(path) ?? [];
    const fields = await fieldsOf(request);
    if (token !== this.token) return refuse(response, { status: 401, description: "Unauthorized" });
    this.requests.push({ method, at: Date.now(), fields });
    const fault = this.#faults.find((each) => each.method === method && each.left > 0);
    if (fault !== undefined) fault.left -= 1;
    if (fault !== undefined && fault.afterwards !== true) return refuse(response, fault);
    const result = await this.#perform(method, fields, response);
    if (fault !== undefined) return void response.destroy();
    if (typeof result === "string") return refuse(response, { status: 400, description: result });
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ ok: true, result }));
  }

  async #perform(method: string, fields: Fields, response: ServerResponse): Promise<unknown> {
    switch (method) {
      case "getMe":
        return { id: 1, is_bot: true, first_name: "Hermes", username: "hermes_bot" };
      case "getUpdates":
        return this.#poll(Number(fields.offset ?? 0), Number(fields.timeout ?? 0), response);
      case "sendMessage":
        return this.#send(fields);
      case "sendPhoto":
      case "sendDocument":
        this.sentFiles.push(...((fields.files ?? []) as SentFile[]));
        return {
          message_id: this.#nextMessage++,
          date: 0,
          chat: { id: Number(fields.chat_id), type: "private" },
        };
      case "editMessageText":
        return this.#edit(fields);
      case "answerCallbackQuery":
        this.toasts.push(String(fields.text ?? ""));
        return true;
      case "getFile":
        return { file_id: fields.file_id, file_path: String(fields.file_id) };
      default:
        return "Bad Request: method is unknown here";
    }
  }

  async #poll(offset: number, seconds: number, response: ServerResponse): Promise<unknown> {
    this.#updates = this.#updates.filter(({ update_id }) => update_id >= offset);
    if (this.#updates.length === 0 && seconds > 0) {
      await new Promise<void>((resolve) => {
        const done = () => {
          clearTimeout(timer);
          this.#waiting.delete(done);
          resolve();
        };
        const timer = setTimeout(done, seconds * 1000);
        this.#waiting.add(done);
        response.once("close", done);
      });
    }
    return this.#updates;
  }

  #send(fields: Fields): unknown {
    const problem = problemWith(fields);
    if (problem !== undefined) return problem;
    const message: ShownMessage = {
      id: this.#nextMessage++,
      chat: String(fields.chat_id),
      text: plainOf(fields),
      buttons: buttonsOf(fields),
      edits: 0,
    };
    this.shown.push(message);
    return { message_id: message.id, date: 0, chat: { id: Number(message.chat), type: "private" } };
  }

  #edit(fields: Fields): unknown {
    const message = this.shown.find(({ id }) => id === Number(fields.message_id));
    if (message === undefined) return "Bad Request: message to edit not found";
    const problem = problemWith(fields);
    if (problem !== undefined) return problem;
    message.text = plainOf(fields);
    message.buttons = buttonsOf(fields);
    message.edits += 1;
    return { message_id: message.id, date: 0, chat: { id: Number(message.chat), type: "private" } };
  }
}

function refuse(
  response: ServerResponse,
  told: { readonly status: number; readonly description: string; readonly retryAfter?: number | undefined },
): void {
  const { status, description, retryAfter } = told;
  response.writeHead(status, { "content-type": "application/json" });
  const parameters = retryAfter === undefined ? {} : { parameters: { retry_after: retryAfter } };
  response.end(JSON.stringify({ ok: false, error_code: status, description, ...parameters }));
}

/** What Telegram refuses: unknown or unclosed tags, too much text, buttons with too much data. */
function problemWith(fields: Fields): string | undefined {
  const text = String(fields.text ?? "");
  if (text.trim() === "") return "Bad Request: message text is empty";
  if (fields.parse_mode === "HTML") {
    const open: string[] = [];
    for (const [, slash, name = ""] of text.matchAll(/<(\/?)([a-z]+)[^>]*>/g)) {
      if (!["b", "i", "s", "u", "code", "pre", "a"].includes(name))
        return `Bad Request: can't parse entities: unsupported start tag "${name}"`;
      if (slash === "") open.push(name);
      else if (open.pop() !== name) return "Bad Request: can't parse entities: unmatched end tag";
    }
    if (open.length > 0) return "Bad Request: can't parse entities: can't find end tag";
    if (/<(?!\/?[a-z])/.test(text)) return "Bad Request: can't parse entities: unescaped <";
  }
  if (plainOf(fields).length > 4_096) return "Bad Request: message is too long";
  if (buttonsOf(fields).some(({ callback_data }) => Buffer.byteLength(callback_data) > 64))
    return "Bad Request: BUTTON_DATA_INVALID";
  return undefined;
}

function plainOf(fields: Fields): string {
  const text = String(fields.text ?? "");
  if (fields.parse_mode !== "HTML") return text;
  return text
    .replace(/<[^>]+>/g, "")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}

function buttonsOf(fields: Fields): ShownMessage["buttons"] {
  const given = fields.reply_markup;
  const markup = (typeof given === "string" ? JSON.parse(given) : given) as
    | { inline_keyboard?: ShownMessage["buttons"][] }
    | undefined;
  return (markup?.inline_keyboard ?? []).flat();
}

async function fieldsOf(request: IncomingMessage): Promise<Fields> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  const type = request.headers["content-type"] ?? "";
  if (type.startsWith("multipart/")) return multipartFields(body, type);
  return body.length === 0 ? {} : (JSON.parse(body.toString("utf8")) as Fields);
}
