import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestEnd } from "../../support/runtime.js";

export type Page = string | ((request: IncomingMessage, response: ServerResponse, body: string) => void);

export interface Site {
  readonly base: string;
  /** `METHOD /path?query` of each request. */
  readonly seen: string[];
  readonly bodies: string[];
  readonly headers: IncomingHttpHeaders[];
}

/** A web server of its own for one test: path → HTML, or what answers. */
export async function startSite(pages: Readonly<Record<string, Page>>): Promise<Site> {
  const seen: string[] = [];
  const bodies: string[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const server = createServer(async (request, response) => {
    seen.push(`${request.method} ${request.url}`);
    headers.push(request.headers);
    let body = "";
    for await (const chunk of request) body += chunk;
    bodies.push(body);
    const page = pages[(request.url ?? "").replace(/\?.*$/, "")];
    if (typeof page === "function") return page(request, response, body);
    if (page === undefined) return void response.writeHead(404).end("not here");
    response.setHeader("content-type", "text/html; charset=utf-8");
    response.end(page);
  });
  onTestEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen, bodies, headers };
}

export function json(value: unknown): Page {
  return (_request, response) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(value));
  };
}
