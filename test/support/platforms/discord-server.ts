import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import { onTestEnd } from "../runtime.js";
import { multipartFields, type SentFile } from "./multipart.js";

export const DISCORD_TOKEN = "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs";
const SELF = "100000000000000001";

interface ShownMessage {
  readonly id: string;
  readonly chat: string;
  readonly nonce: string | undefined;
  text: string;
  buttons: { readonly label: string; readonly custom_id: string }[];
  edits: number;
}

interface Said {
  readonly id: string;
  readonly channel_id: string;
  readonly [field: string]: unknown;
}

type Fields = Readonly<Record<string, unknown>>;

/** Speaks as much of Discord's REST API and gateway (version 10) as a bot needs that talks. */
export class DiscordServer {
  readonly shown: ShownMessage[] = [];
  /** How interactions were answered, in order. */
  readonly interactions: string[] = [];
  readonly sentFiles: SentFile[] = [];
  /** What can be fetched from `/cdn/NAME`. */
  readonly files = new Map<string, Uint8Array>();
  readonly #said: Said[] = [];
  readonly #sockets = new Set<WebSocket>();
  readonly #connections = new Set<WebSocket>();
  readonly #faults: { readonly status: number; readonly afterwards: boolean }[] = [];
  #next = 200_000_000_000_000_000n;
  #sequence = 0;
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
    return `${this.url}/api`;
  }

  /** What is said before is not delivered, as on Discord itself. */
  get isConnected(): boolean {
    return this.#sockets.size > 0;
  }

  /** Somebody writes; bots that do not listen do not hear it. */
  say(said: {
    readonly text: string;
    readonly from?: string;
    readonly name?: string;
    readonly chat?: string;
    readonly id?: string;
    readonly attachments?: readonly Fields[];
  }): string {
    const { text, from = "42", name = "Ann", chat = `9000${from}` } = said;
    const id = said.id ?? String(this.#next++);
    const message = {
      id,
      channel_id: chat,
      channel_type: 1,
      type: 0,
      content: text,
      timestamp: new Date().toISOString(),
      edited_timestamp: null,
      tts: false,
      mention_everyone: false,
      mentions: [],
      mention_roles: [],
      attachments: said.attachments ?? [],
      embeds: [],
      pinned: false,
      author: { id: from, username: name, global_name: name, discriminator: "0", avatar: null, bot: false },
    };
    this.#said.push(message);
    this.#dispatch("MESSAGE_CREATE", message);
    return id;
  }

  press(message: ShownMessage, label: string, from = "42"): void {
    const custom_id = message.buttons.find((button) => button.label === label)?.custom_id;
    this.#dispatch("INTERACTION_CREATE", {
      id: String(this.#next++),
      application_id: SELF,
      type: 3,
      token: `token-${this.#next}`,
      version: 1,
      channel_id: message.chat,
      channel: { id: message.chat, type: 1 },
      user: { id: from, username: `P${from}`, global_name: null, discriminator: "0", avatar: null },
      locale: "en-GB",
      entitlements: [],
      authorizing_integration_owners: {},
      data: { custom_id, component_type: 2 },
      message: this.#asMessage(message),
    });
  }

  fail(status: number, { afterwards = false } = {}): void {
    this.#faults.push({ status, afterwards });
  }

  hangUp(): void {
    for (const socket of this.#sockets) socket.terminate();
  }

  #dispatch(type: string, data: unknown): void {
    this.#sequence += 1;
    for (const socket of this.#sockets)
      socket.send(JSON.stringify({ op: 0, t: type, s: this.#sequence, d: data }));
  }

  #serve(socket: WebSocket): void {
    this.#connections.add(socket);
    const send = (packet: unknown) => socket.send(JSON.stringify(packet));
    send({ op: 10, d: { heartbeat_interval: 300 } });
    socket.on("close", () => this.#sockets.delete(socket));
    socket.on("message", (data: Buffer) => {
      const { op, d } = JSON.parse(data.toString()) as { op: number; d: Fields | null };
      if (op === 1) return send({ op: 11 });
      if (op !== 2 && op !== 6) return;
      if (d?.token !== DISCORD_TOKEN) return socket.close(4004, "Authentication failed.");
      this.#sockets.add(socket);
      this.#sequence += 1;
      const user = { id: SELF, username: "hermes", discriminator: "0", avatar: null, bot: true };
      const ready = {
        v: 10,
        user,
        guilds: [],
        session_id: "s1",
        resume_gateway_url: this.url.replace("http", "ws"),
        application: { id: SELF, flags: 0 },
      };
      send({ op: 0, t: op === 2 ? "READY" : "RESUMED", s: this.#sequence, d: op === 2 ? ready : {} });
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://x");
    const path = pathname.replace(/^\/api\/v10/, "");
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const type = request.headers["content-type"] ?? "";
    const form = type.startsWith("multipart/") ? multipartFields(body, type) : undefined;
    const text = form === undefined ? body.toString("utf8") : String(form.payload_json);
    const fields = {
      ...((text === "" ? {} : JSON.parse(text)) as Fields),
      files: form?.files ?? [],
    } as Fields;
    const fetched = this.files.get(pathname.replace(/^\/cdn\//, ""));
    if (fetched !== undefined) return void response.writeHead(200).end(fetched);
    const json = (status: number, value: unknown) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(value));
    };
    if (path.startsWith("/interactions/")) {
      this.interactions.push(`callback ${String(fields.type)}`);
      return void response.writeHead(204).end();
    }
    if (path.startsWith("/webhooks/")) {
      this.interactions.push(String(fields.content));
      return json(
        200,
        this.#asMessage({ id: "1", chat: "1", text: "", buttons: [], edits: 0, nonce: undefined }),
      );
    }
    if (request.headers.authorization !== `Bot ${DISCORD_TOKEN}`)
      return json(401, { code: 0, message: "401: Unauthorized" });
    if (path === "/gateway/bot") {
      const session_start_limit = { total: 1000, remaining: 999, reset_after: 0, max_concurrency: 1 };
      return json(200, { url: this.url.replace("http", "ws"), shards: 1, session_start_limit });
    }
    if (path === "/users/@me/channels")
      return json(200, { id: `9000${String(fields.recipient_id)}`, type: 1 });
    const [, chat = "", message] = /^\/channels\/(\d+)(?:\/messages(?:\/(\d+))?)?$/.exec(path) ?? [];
    if (request.method === "GET" && !path.includes("/messages"))
      return json(200, {
        id: chat,
        type: 1,
        recipients: [{ id: chat.slice(4), username: "Ann", discriminator: "0" }],
      });
    if (request.method === "GET") {
      const after = BigInt(searchParams.get("after") ?? "0");
      const later = this.#said.filter(({ id, channel_id }) => channel_id === chat && BigInt(id) > after);
      return json(200, later.reverse());
    }
    const fault = this.#faults.shift();
    if (fault?.status === 429)
      return json(429, { message: "You are being rate limited.", retry_after: 0.05, global: false });
    if (fault !== undefined && !fault.afterwards) return json(fault.status, { message: "no", code: 0 });
    const shown = this.#change({ chat, message, fields });
    if (fault !== undefined) return void response.destroy();
    return shown === undefined
      ? json(400, { code: 50035, message: "Invalid Form Body" })
      : json(200, this.#asMessage(shown));
  }

  #change(wish: {
    readonly chat: string;
    readonly message: string | undefined;
    readonly fields: Fields;
  }): ShownMessage | undefined {
    const { chat, message, fields } = wish;
    const text = String(fields.content ?? "");
    const files = fields.files as SentFile[];
    this.sentFiles.push(...files);
    if ((text === "" && files.length === 0) || text.length > 2_000) return undefined;
    const rows = (fields.components ?? []) as { components: ShownMessage["buttons"] }[];
    const buttons = rows.flatMap(({ components }) => components);
    const known = this.shown.find(
      ({ id, nonce }) => id === message || (fields.enforce_nonce === true && nonce === fields.nonce),
    );
    if (known === undefined) {
      const nonce = typeof fields.nonce === "string" ? fields.nonce : undefined;
      const made = { id: String(this.#next++), chat, text, buttons, edits: 0, nonce };
      if (text !== "") this.shown.push(made);
      return made;
    }
    if (message !== undefined) Object.assign(known, { text, buttons, edits: known.edits + 1 });
    return known;
  }

  #asMessage({ id, chat, text }: ShownMessage): Fields {
    return {
      id,
      channel_id: chat,
      type: 0,
      content: text,
      timestamp: new Date().toISOString(),
      edited_timestamp: null,
      tts: false,
      mention_everyone: false,
      mentions: [],
      mention_roles: [],
      attachments: [],
      embeds: [],
      pinned: false,
      components: [],
      author: { id: SELF, username: "hermes", discriminator: "0", avatar: null, bot: true },
    };
  }
}
