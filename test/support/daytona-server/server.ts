import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { WebSocketServer } from "ws";
import { type Gate, startGate } from "../sandbox-host/gate.js";
import { type CreateRequest, type DaytonaSandbox, DaytonaSandboxes, Refusal } from "./sandboxes.js";
import { attachTerminal } from "./terminal-socket.js";
import { openTerminal, toolboxAnswer } from "./toolbox.js";

export interface DaytonaServer {
  /** For DAYTONA_API_URL. */
  readonly url: string;
  readonly apiKey: string;
  /** Everything a client reads from its environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Drops every connection and restarts the sandboxes: nobody learns how their programs would have ended. */
  cut(): Promise<void>;
  /** Cuts and slows down the network only. Our client tries again for 6 s. */
  readonly gate: Gate;
  readonly faults: { refuseAuth: boolean };
  sandboxes(): readonly {
    readonly name: string;
    readonly state: string;
    readonly request: CreateRequest;
    /** Its file system. */
    readonly folder: string;
  }[];
  /** As somebody in the dashboard would. */
  stopAll(): Promise<void>;
  deleteAll(): Promise<void>;
  stop(): Promise<void>;
}

/** A local server that speaks Daytona's protocol for sandboxes; their commands run for real. */
export async function startDaytonaServer(): Promise<DaytonaServer> {
  const folder = await mkdtemp(join(tmpdir(), "daytona-server-"));
  const sandboxes = new DaytonaSandboxes(folder);
  const faults = { refuseAuth: false };
  const apiKey = "dtn_test";
  const allowed = (request: IncomingMessage) =>
    request.headers.authorization === `Bearer ${apiKey}` && !faults.refuseAuth;
  const server = createServer((request, response) => {
    void answer(request, response);
  });
  const sockets = new WebSocketServer({ noServer: true, maxPayload: 65_536 });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const reply = (status: number, body: unknown) => {
      if (Buffer.isBuffer(body)) response.writeHead(status).end(body);
      else response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body ?? {}));
    };
    try {
      if (!allowed(request)) throw new Refusal(401, "Unauthorized");
      const url = new URL(request.url ?? "/", "http://localhost");
      const body = await buffer(request);
      const inToolbox = /^\/toolbox\/([^/]+)(\/.*)$/.exec(url.pathname);
      if (inToolbox === null) return reply(200, await apiAnswer({ request, url, body }));
      const sandbox = sandboxes.find(inToolbox[1] ?? "");
      const toolbox = {
        method: request.method ?? "GET",
        path: inToolbox[2] ?? "/",
        query: url.searchParams,
        body,
        contentType: request.headers["content-type"] ?? "",
      };
      reply(200, await toolboxAnswer(sandbox, toolbox));
    } catch (error) {
      const status = error instanceof Refusal ? error.status : 500;
      reply(status, { statusCode: status, message: error instanceof Error ? error.message : String(error) });
    }
  }

  async function apiAnswer(asked: { request: IncomingMessage; url: URL; body: Buffer }): Promise<unknown> {
    const { request, url, body } = asked;
    const path = url.pathname.replace(/^\/api/, "");
    const json = () => (body.length === 0 ? {} : JSON.parse(body.toString()));
    if (path === "/sandbox" && request.method === "POST") return described(await sandboxes.create(json()));
    if (path === "/sandbox") return { items: [...sandboxes.all.values()].map(described), nextCursor: null };
    const one = /^\/sandbox\/([^/]+)(?:\/([a-z-]+))?$/.exec(path);
    if (one === null) throw new Refusal(404, `no ${path}`);
    const sandbox = sandboxes.find(decodeURIComponent(one[1] ?? ""));
    if (request.method === "DELETE") await sandboxes.delete(sandbox);
    else if (one[2] === "start") await sandbox.start();
    else if (one[2] === "stop") await sandbox.stop();
    else if (one[2] === "snapshot") await sandboxes.snapshot(sandbox, json().name);
    else if (one[2] === "toolbox-proxy-url") return { url: toolboxUrl() };
    else if (one[2] !== undefined) throw new Refusal(404, `no ${path}`);
    return described(sandbox);
  }

  server.on("upgrade", async (request, socket, head) => {
    const url = new URL(request.url ?? "/", "http://localhost");
    const create = /^\/toolbox\/([^/]+)\/process\/pty\/create-connect$/.exec(url.pathname);
    const path = create ?? /^\/toolbox\/([^/]+)\/process\/pty\/([^/]+)\/connect$/.exec(url.pathname);
    if (!allowed(request) || path === null) {
      socket.end(`HTTP/1.1 ${path === null ? "404 Not Found" : "401 Unauthorized"}\r\n\r\n`);
      return;
    }
    try {
      const sandbox = sandboxes.find(path[1] ?? "");
      const query = (name: string) => url.searchParams.get(name) ?? "";
      const id = create === null ? (path[2] ?? "") : query("id");
      if (create !== null)
        await openTerminal(sandbox, { id, columns: Number(query("cols")), rows: Number(query("rows")) });
      sockets.handleUpgrade(request, socket, head, (client) =>
        attachTerminal(client, sandbox.terminals.get(id)),
      );
    } catch {
      socket.end("HTTP/1.1 404 Not Found\r\n\r\n");
    }
  });

  function described(sandbox: DaytonaSandbox) {
    const { id, name, state, request, createdAt, errorReason } = sandbox;
    return {
      ...{ id, name, state, createdAt, organizationId: "org", user: "root", env: {}, public: false },
      ...{ labels: request.labels ?? {}, target: request.target ?? "local", networkBlockAll: false },
      ...{ cpu: request.cpu ?? 1, gpu: 0, memory: request.memory ?? 1, disk: request.disk ?? 3, errorReason },
      autoStopInterval: request.autoStopInterval ?? 15,
      toolboxProxyUrl: toolboxUrl(),
    };
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const gate = await startGate((server.address() as AddressInfo).port);
  const toolboxUrl = () => `http://127.0.0.1:${gate.port}/toolbox`;
  const url = `http://127.0.0.1:${gate.port}/api`;
  return {
    url,
    apiKey,
    env: { DAYTONA_API_KEY: apiKey, DAYTONA_API_URL: url, DAYTONA_TARGET: "local" },
    gate,
    faults,
    async cut() {
      gate.cut();
      const started = [...sandboxes.all.values()].filter(({ state }) => state === "started");
      await Promise.all(started.map((sandbox) => sandbox.stop().then(() => sandbox.start())));
    },
    sandboxes: () =>
      [...sandboxes.all.values()].map(({ name, state, request, folder: files }) => ({
        name,
        state,
        request,
        folder: files,
      })),
    stopAll: async () => {
      await Promise.all([...sandboxes.all.values()].map((sandbox) => sandbox.stop()));
    },
    deleteAll: () => sandboxes.stop(),
    async stop() {
      await gate.stop();
      await sandboxes.stop();
      sockets.close();
      server.closeAllConnections();
      server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
