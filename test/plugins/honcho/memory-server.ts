import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestEnd } from "../../support/runtime.js";

export const KEY = "hch-v3-secret-key-0001";

export interface MemoryServer {
  readonly url: string;
  /** `METHOD /path body` of each request that was let in. */
  readonly seen: string[];
  readonly conclusions: { readonly id: string; readonly content: string; readonly observer_id: string }[];
  readonly messages: { readonly content: string; readonly peer_id: string }[];
  failure: { readonly status: number; readonly body: string } | undefined;
}

/**
 * Answers as Honcho does: docs.honcho.dev/v3/api-reference (workspaces, peers, conclusions). A workspace or peer that was
 * never made is not found. `key: ""` is a server of one's own that asks for none.
 */
export async function startMemoryServer(key = KEY): Promise<MemoryServer> {
  const workspaces = new Map<string, Set<string>>();
  const server: MemoryServer = { url: "", seen: [], conclusions: [], messages: [], failure: undefined };
  const answer = (method: string, url: URL, body: Record<string, unknown>): readonly [number, unknown] => {
    const [, version, root, workspace = "", kind, peer = "", what] = url.pathname
      .split("/")
      .map(decodeURIComponent);
    if (version !== "v3" || root !== "workspaces") return [404, { detail: "Not Found" }];
    if (workspace === "" && method === "POST") {
      const id = String(body.id);
      if (!workspaces.has(id)) workspaces.set(id, new Set());
      return [200, { id, metadata: {}, configuration: {}, created_at: "2026-05-01T00:00:00Z" }];
    }
    const peers = workspaces.get(workspace);
    if (peers === undefined) return [404, { detail: `Workspace ${workspace} not found` }];
    if (kind === "conclusions" && peer === "" && method === "POST") {
      const rows = body.conclusions;
      if (!Array.isArray(rows))
        return [422, { detail: [{ msg: "Field required", loc: ["body", "conclusions"] }] }];
      const made = rows.map((row: Record<string, string>) => ({
        id: `c${server.conclusions.length + 1}`,
        content: row.content ?? "",
        observer_id: row.observer_id ?? "",
        observed_id: row.observed_id ?? "",
        session_id: null,
        level: "explicit",
        created_at: "2026-05-01T00:00:00Z",
      }));
      if (made.some((one) => !peers.has(one.observer_id))) return [404, { detail: "Peer not found" }];
      server.conclusions.push(...made);
      return [201, made];
    }
    if (kind === "peers" && peer === "" && method === "POST") {
      peers.add(String(body.id));
      return [200, { id: body.id, workspace_id: workspace, metadata: {}, configuration: {} }];
    }
    if (kind !== "peers" || !peers.has(peer)) return [404, { detail: `Peer ${peer} not found` }];
    const about = server.conclusions.filter((one) => one.observer_id === peer).map(({ content }) => content);
    if (what === "card" && method === "GET") return [200, { peer_card: about.length === 0 ? null : about }];
    if (what === "context" && method === "GET") {
      const words = url.searchParams.get("search_query");
      const chosen = about.filter((one) => words === null || one.includes(words));
      return [200, { peer_id: peer, target_id: peer, representation: chosen.join("\n"), peer_card: about }];
    }
    if (what === "search" && method === "POST") {
      const rows = server.messages.filter((one) => one.content.includes(String(body.query)));
      const found = rows.slice(0, Number(body.limit)).map((one, at) => ({
        ...one,
        id: `m${at}`,
        session_id: "s1",
        workspace_id: workspace,
        metadata: {},
        created_at: "2026-05-01T10:00:00Z",
        token_count: 4,
      }));
      return [200, found];
    }
    if (what === "chat" && method === "POST") {
      const known = about.find((one) => String(body.query).includes(one.split(" ")[0] ?? "?"));
      return [200, { content: known === undefined ? null : `${known} (${String(body.reasoning_level)})` }];
    }
    return [405, { detail: "Method Not Allowed" }];
  };
  const web = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const send = (status: number, body: string) =>
      response.writeHead(status, { "content-type": "application/json" }).end(body);
    if (key !== "" && request.headers.authorization !== `Bearer ${key}`)
      return void send(401, '{"detail":"Invalid API key"}');
    server.seen.push(`${request.method} ${request.url} ${text}`.trim());
    if (server.failure !== undefined) return void send(server.failure.status, server.failure.body);
    const url = new URL(request.url ?? "", "http://server");
    const [status, value] = answer(request.method ?? "", url, text === "" ? {} : JSON.parse(text));
    send(status, JSON.stringify(value));
  });
  onTestEnd(() => {
    web.closeAllConnections();
    web.close();
  });
  web.listen(0, "127.0.0.1");
  await once(web, "listening");
  return Object.assign(server, { url: `http://127.0.0.1:${(web.address() as AddressInfo).port}` });
}
