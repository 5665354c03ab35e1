import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestEnd } from "./runtime.js";

export interface CaldavServer {
  readonly base: string;
  /** Address of the first calendar. */
  readonly url: string;
  readonly authorization: string;
}

export const PASSWORD = "correct-horse-battery";

/**
 * What of CalDAV a client needs that keeps events (RFC 4791 5.3.2, 7.8, 7.9; RFC 4918 9.1; RFC 5397; conditional requests
 * of RFC 9110), for the account ada. A time range is taken for a hint: the client must look itself.
 */
export async function startCaldav(names: readonly string[] = ["work"]): Promise<CaldavServer> {
  const objects = new Map<string, string>();
  const authorization = `Basic ${Buffer.from(`ada:${PASSWORD}`).toString("base64")}`;
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    if (request.headers.authorization !== authorization) return void response.writeHead(401).end();
    const path = (request.url ?? "/").replace(/\?.*$/, "");
    const collection = names.map((name) => `/ada/${name}/`).find((each) => path.startsWith(each));
    if (request.method === "PROPFIND") return properties({ path, names, request, response });
    if (request.method === "REPORT" && path === collection)
      return multistatus(response, report(body, objects, collection));
    if (collection === undefined || path === collection) {
      const all = [...objects].filter(([at]) => at.startsWith(collection ?? "?")).map(([, text]) => text);
      return void response.writeHead(request.method === "GET" ? 200 : 405).end(all.join(""));
    }
    return keep({ path, body, objects, request, response });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { base, url: `${base}/ada/${names[0]}/`, authorization };
}

const etagOf = (text: string) => `"${createHash("sha256").update(text).digest("hex").slice(0, 16)}"`;

function keep(asked: {
  readonly path: string;
  readonly body: string;
  readonly objects: Map<string, string>;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}): void {
  const { path, body, objects, request, response } = asked;
  const there = objects.get(path);
  const wanted = request.headers["if-match"];
  const isWrong =
    (wanted !== undefined && (there === undefined || wanted !== etagOf(there))) ||
    (request.headers["if-none-match"] === "*" && there !== undefined);
  if (isWrong) return void response.writeHead(412).end();
  if (request.method === "PUT") {
    objects.set(path, body);
    return void response.writeHead(there === undefined ? 201 : 204, { etag: etagOf(body) }).end();
  }
  if (there === undefined) return void response.writeHead(404).end();
  if (request.method === "DELETE") objects.delete(path);
  response.writeHead(request.method === "DELETE" ? 204 : 200).end(request.method === "DELETE" ? "" : there);
}

function report(body: string, objects: ReadonlyMap<string, string>, collection: string): readonly string[] {
  const isMultiget = body.includes("calendar-multiget");
  const hrefs = [...body.matchAll(/<(?:\w+:)?href>([^<]*)</g)].map(([, href]) => href ?? "");
  const uid = /name="UID"[\s\S]*?text-match[^>]*>([^<]*)</.exec(body)?.[1];
  return [...objects]
    .filter(([path]) => (isMultiget ? hrefs.includes(path) : path.startsWith(collection)))
    .filter(([, text]) => uid === undefined || new RegExp(`^UID:.*${uid}`, "m").test(text))
    .map(([path, text]) => {
      const data = body.includes("calendar-data")
        ? `<c:calendar-data>${escaped(text)}</c:calendar-data>`
        : "";
      return entry(path, `<d:getetag>${escaped(etagOf(text))}</d:getetag>${data}`);
    });
}

function properties(asked: {
  readonly path: string;
  readonly names: readonly string[];
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}): void {
  const { path, names, request, response } = asked;
  const principal =
    "<d:current-user-principal><d:href>/ada/</d:href></d:current-user-principal>" +
    "<c:calendar-home-set><d:href>/ada/</d:href></c:calendar-home-set>";
  const calendar = (name: string) =>
    entry(
      `/ada/${name}/`,
      `<d:resourcetype><d:collection/><c:calendar/></d:resourcetype><d:displayname>${name}</d:displayname>` +
        `<c:supported-calendar-component-set><c:comp name="VEVENT"/></c:supported-calendar-component-set>`,
    );
  const named = names.find((name) => path === `/ada/${name}/`);
  if (named !== undefined) return void multistatus(response, [calendar(named)]);
  if (path !== "/" && path !== "/ada/") return void response.writeHead(404).end();
  const own = entry(path, `<d:resourcetype><d:collection/></d:resourcetype>${principal}`);
  const below = path === "/ada/" && request.headers.depth === "1" ? names.map(calendar) : [];
  multistatus(response, [own, ...below]);
}

function entry(href: string, props: string): string {
  const found = `<d:propstat><d:prop>${props}</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat>`;
  return `<d:response><d:href>${href}</d:href>${found}</d:response>`;
}

function multistatus(response: ServerResponse, entries: readonly string[]): void {
  response.writeHead(207, { "content-type": "application/xml; charset=utf-8" });
  response.end(
    `<?xml version="1.0"?><d:multistatus xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav">${entries.join("")}</d:multistatus>`,
  );
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
