import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import { onTestEnd } from "../runtime.js";
import { multipartFields, type SentFile } from "./multipart.js";

export const BOT_TOKEN = "xoxb-test-token";
export const APP_TOKEN = "xapp-1-test-token";

interface ShownMessage {
  readonly ts: string;
  readonly channel: string;
  text: string;
  buttons: { readonly text: { readonly text: string }; readonly value: string }[];
  edits: number;
}

type Fields = Readonly<Record<string, unknown>>;

/** Speaks as much of Slack's Web API and socket mode as an app needs that talks. It delivers again what is not confirmed. */
export class SlackServer {
  readonly shown: ShownMessage[] = [];
  readonly confirmed: string[] = [];
  readonly sentFiles: SentFile[] = [];
  /** What can be fetched from `/files/NAME`. */
  readonly files = new Map<string, Uint8Array>();
  readonly #uploads = new Map<string, { readonly name: string; content: string }>();
  readonly #events: { readonly id: string; readonly envelope: Fields; isConfirmed: boolean }[] = [];
  readonly #sockets = new Set<WebSocket>();
  readonly #connections = new Set<WebSocket>();
  readonly #faults: { readonly kind: "rate" | "down"; readonly afterwards: boolean }[] = [];
  #time = Math.floor(Date.now() / 1_000);
  #next = 1;
  url = "";

  async listen(): Promise<this> {
    const server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => response.destroy(error as Error));
    });
    const sockets = new WebSocketServer({ noServer: true });
    server.on("upgrade", (request, socket, head) =>
      sockets.handleUpgrade(request, socket, head, (client) => this.#serve(client)),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    onTestEnd(async () => {
      for (const socket of this.#connections) socket.terminate();
      sockets.close();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    });
    return this;
  }

  get apiRoot(): string {
    return `${this.url}/api/`;
  }

  say(said: {
    readonly text: string;
    readonly from?: string;
    readonly ts?: string;
    readonly retry?: number;
    readonly files?: readonly Fields[];
  }): void {
    const { text, from = "42" } = said;
    const ts = said.ts ?? `${this.#time++}.000100`;
    const event = {
      type: "message",
      channel_type: "im",
      channel: `D${from}`,
      user: from,
      text,
      ts,
      ...(said.files && { subtype: "file_share", files: said.files }),
    };
    this.#deliver({
      type: "events_api",
      payload: { type: "event_callback", event_id: `Ev${ts}`, event },
      ...(said.retry !== undefined && { retry_attempt: said.retry, retry_reason: "timeout" }),
    });
  }

  press(message: ShownMessage, label: string, from = "42"): void {
    const value = message.buttons.find(({ text }) => text.text === label)?.value;
    this.#deliver({
      type: "interactive",
      payload: {
        type: "block_actions",
        user: { id: from, name: `P${from}` },
        channel: { id: message.channel },
        message: { ts: message.ts },
        actions: [{ type: "button", value, action_id: value }],
      },
    });
  }

  fail(kind: "rate" | "down", { afterwards = false } = {}): void {
    this.#faults.push({ kind, afterwards });
  }

  #deliver(about: Fields): void {
    const id = `env-${this.#next++}`;
    const envelope = { envelope_id: id, accepts_response_payload: false, ...about };
    this.#events.push({ id, envelope, isConfirmed: false });
    for (const socket of this.#sockets) socket.send(JSON.stringify(envelope));
  }

  #serve(socket: WebSocket): void {
    this.#connections.add(socket);
    this.#sockets.add(socket);
    socket.on("close", () => this.#sockets.delete(socket));
    socket.on("message", (data: Buffer) => {
      const { envelope_id } = JSON.parse(data.toString()) as { envelope_id?: string };
      for (const event of this.#events) if (event.id === envelope_id) event.isConfirmed = true;
      if (envelope_id !== undefined) this.confirmed.push(envelope_id);
    });
    socket.send(JSON.stringify({ type: "hello", num_connections: 1, connection_info: { app_id: "A1" } }));
    for (const { envelope, isConfirmed } of this.#events)
      if (!isConfirmed)
        socket.send(JSON.stringify({ ...envelope, retry_attempt: 1, retry_reason: "timeout" }));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const method = decodeURIComponent(new URL(request.url ?? "", "http://x").pathname).replace(
      /^\/(?:api\/)?/,
      "",
    );
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const upload = this.#uploads.get(method.replace(/^upload\//, ""));
    if (upload !== undefined) {
      const form = multipartFields(body, request.headers["content-type"] ?? "");
      upload.content = (form.files as SentFile[])[0]?.content ?? "";
      return void response.writeHead(200).end("OK");
    }
    const fields = fieldsOf(body.toString("utf8"), request.headers["content-type"] ?? "");
    const json = (value: unknown, status = 200, headers = {}) => {
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(JSON.stringify(value));
    };
    const token = request.headers.authorization?.replace("Bearer ", "") ?? fields.token;
    if (token !== (method === "apps.connections.open" ? APP_TOKEN : BOT_TOKEN))
      return json({ ok: false, error: "invalid_auth" });
    if (method === "apps.connections.open")
      return json({ ok: true, url: `${this.url.replace("http", "ws")}/link` });
    const file = this.files.get(method.replace(/^files\//, ""));
    if (file !== undefined) return void response.writeHead(200).end(file);
    if (method === "conversations.open")
      return json({ ok: true, channel: { id: `D${String(fields.users)}` } });
    if (method.startsWith("files.")) return json(this.#takeFile(method, fields));
    if (method === "conversations.history") return json({ ok: true, messages: [] });
    const fault = this.#faults.shift();
    if (fault?.kind === "rate") return json({ ok: false, error: "ratelimited" }, 429, { "retry-after": "0" });
    if (fault !== undefined && !fault.afterwards) return json({ ok: false }, 503);
    const shown = this.#change(method, fields);
    if (fault !== undefined) return void response.destroy();
    return json(typeof shown === "string" ? { ok: false, error: shown } : { ok: true, ts: shown.ts });
  }

  /** A place for the bytes first, then the word that they are to be shown. */
  #takeFile(method: string, fields: Fields): Fields {
    if (method === "files.getUploadURLExternal") {
      const id = `F${this.#next++}`;
      this.#uploads.set(id, { name: String(fields.filename), content: "" });
      return { ok: true, file_id: id, upload_url: `${this.url}/upload/${id}` };
    }
    const given = (typeof fields.files === "string" ? JSON.parse(fields.files) : fields.files) as {
      id: string;
    }[];
    const files = given.map(({ id }) => this.#uploads.get(id) ?? { name: "?", content: "" });
    this.sentFiles.push(...files);
    return { ok: true, files: given };
  }

  #change(method: string, fields: Fields): ShownMessage | string {
    const text = unescaped(String(fields.text ?? ""));
    if (text.length > 4_000) return "msg_too_long";
    const blocks = (
      typeof fields.blocks === "string" ? JSON.parse(fields.blocks) : (fields.blocks ?? [])
    ) as {
      type: string;
      elements?: ShownMessage["buttons"];
    }[];
    const buttons = blocks.flatMap(({ type, elements = [] }) => (type === "actions" ? elements : []));
    if (method === "chat.postMessage") {
      const made = { ts: `${this.#time++}.000200`, channel: String(fields.channel), text, buttons, edits: 0 };
      this.shown.push(made);
      return made;
    }
    const known = this.shown.find(({ ts }) => ts === fields.ts);
    if (method !== "chat.update" || known === undefined) return "message_not_found";
    return Object.assign(known, { text, buttons, edits: known.edits + 1 });
  }
}

function fieldsOf(body: string, type: string): Fields {
  if (type.includes("json")) return JSON.parse(body) as Fields;
  return Object.fromEntries(new URLSearchParams(body));
}

function unescaped(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}
