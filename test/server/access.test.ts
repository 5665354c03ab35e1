import { describe, expect, it } from "vitest";
import { Authenticator } from "../../src/server/auth.js";
import { requestText, sendRaw, startServer, TOKEN } from "./support.js";
import { countingTool } from "./tools.js";

const BODY = JSON.stringify({ tool_calls: [{ id: "1", function: { name: "count", arguments: {} } }] });
const LENGTH = `Content-Length: ${BODY.length}`;
const BEARER = `Authorization: Bearer ${TOKEN}`;
const GET = "GET /v1/tools";
const POST = "POST /v1/tool_calls";

interface Attempt {
  readonly what: string;
  readonly line?: string;
  readonly headers: (own: {
    host: string;
    origin: string;
    port: number;
    cookie: string;
  }) => readonly string[];
  readonly status: number;
}

const wrongHost: readonly Attempt[] = [
  { what: "a name of the attacker", headers: () => ["Host: attacker.example", BEARER], status: 403 },
  {
    what: "a name of the attacker with our port",
    headers: ({ port }) => [`Host: attacker.example:${port}`, BEARER],
    status: 403,
  },
  {
    what: "a name that ends like ours",
    headers: ({ port }) => [`Host: evil-localhost:${port}`, BEARER],
    status: 403,
  },
  {
    what: "a name that begins like ours",
    headers: ({ port }) => [`Host: 127.0.0.1.attacker.example:${port}`, BEARER],
    status: 403,
  },
  {
    what: "our name with a trailing dot",
    headers: ({ port }) => [`Host: localhost.:${port}`, BEARER],
    status: 403,
  },
  {
    what: "our name with another port",
    headers: ({ port }) => [`Host: 127.0.0.1:${port + 1}`, BEARER],
    status: 403,
  },
  { what: "our name without the port", headers: () => ["Host: 127.0.0.1", BEARER], status: 403 },
  {
    what: "another loopback address",
    headers: ({ port }) => [`Host: 127.0.0.2:${port}`, BEARER],
    status: 403,
  },
  { what: "all addresses", headers: ({ port }) => [`Host: 0.0.0.0:${port}`, BEARER], status: 403 },
  {
    what: "our address as a number",
    headers: ({ port }) => [`Host: 2130706433:${port}`, BEARER],
    status: 403,
  },
  {
    what: "user information before our name",
    headers: ({ host }) => [`Host: attacker@${host}`, BEARER],
    status: 403,
  },
  {
    what: "our name as user information",
    headers: ({ host }) => [`Host: ${host}@attacker.example`, BEARER],
    status: 403,
  },
  { what: "an impossible port", headers: () => ["Host: attacker.example:99999", BEARER], status: 403 },
  { what: "an empty Host", headers: () => ["Host: ", BEARER], status: 403 },
  { what: "no Host", headers: () => [BEARER], status: 403 },
  {
    what: "two Hosts, ours first",
    headers: ({ host }) => [`Host: ${host}`, "Host: attacker.example", BEARER],
    status: 400,
  },
  {
    what: "two Hosts, ours last",
    headers: ({ host }) => ["Host: attacker.example", `Host: ${host}`, BEARER],
    status: 400,
  },
  {
    what: "another server in the request line",
    line: "GET http://attacker.example/v1/tools",
    headers: ({ host }) => [`Host: ${host}`, BEARER],
    status: 400,
  },
  {
    what: "the health check under a foreign name",
    line: "GET /healthz",
    headers: () => ["Host: attacker.example"],
    status: 403,
  },
  {
    what: "the page under a foreign name",
    line: `GET /?token=${TOKEN}`,
    headers: () => ["Host: attacker.example"],
    status: 403,
  },
];

const wrongOrigin: readonly Attempt[] = [
  "http://attacker.example",
  "https://attacker.example",
  "null",
  "file://",
  "chrome-extension://abcdefghijklmnop",
  "http://localhost",
  "http://127.0.0.1",
  "",
].map((origin) => ({
  what: `origin ${JSON.stringify(origin)}`,
  headers: ({ host }) => [`Host: ${host}`, BEARER, `Origin: ${origin}`],
  status: 403,
}));

const moreOrigins: readonly Attempt[] = [
  {
    what: "our own origin over https",
    headers: ({ host }) => [`Host: ${host}`, BEARER, `Origin: https://${host}`],
    status: 403,
  },
  {
    what: "another port of this machine",
    headers: ({ host, port }) => [`Host: ${host}`, BEARER, `Origin: http://127.0.0.1:${port - 1}`],
    status: 403,
  },
  {
    what: "localhost asking 127.0.0.1",
    headers: ({ host, port }) => [`Host: ${host}`, BEARER, `Origin: http://localhost:${port}`],
    status: 403,
  },
  {
    what: "our origin with a path",
    headers: ({ host, origin }) => [`Host: ${host}`, BEARER, `Origin: ${origin}/`],
    status: 403,
  },
  {
    what: "two origins",
    headers: ({ host, origin }) => [
      `Host: ${host}`,
      BEARER,
      `Origin: ${origin}`,
      "Origin: http://attacker.example",
    ],
    status: 400,
  },
  {
    what: "a foreign preflight",
    line: "OPTIONS /v1/tool_calls",
    headers: ({ host }) => [
      `Host: ${host}`,
      "Origin: http://attacker.example",
      "Access-Control-Request-Method: POST",
    ],
    status: 403,
  },
  {
    what: "a foreign origin at the health check",
    line: "GET /healthz",
    headers: ({ host }) => [`Host: ${host}`, "Origin: http://attacker.example"],
    status: 403,
  },
  {
    what: "a foreign origin at the event stream",
    line: "GET /v1/events",
    headers: ({ host }) => [`Host: ${host}`, BEARER, "Origin: http://attacker.example"],
    status: 403,
  },
  {
    what: "a foreign WebSocket",
    line: "GET /v1/events",
    headers: ({ host }) => [
      `Host: ${host}`,
      BEARER,
      "Origin: http://attacker.example",
      "Connection: Upgrade",
      "Upgrade: websocket",
      "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
    ],
    status: 403,
  },
];

const noToken: readonly Attempt[] = [
  ...[
    "GET /",
    "GET /v1/tools",
    "GET /v1/calls",
    "GET /v1/stats",
    "GET /metrics",
    "GET /v1/events",
    "GET /openapi.json",
    "GET /live",
    "GET /assets/main.js",
    "GET /nothing",
    "GET /v1/",
    "GET //v1/tools",
    "GET /v1/tools/",
    "GET /healthz/../v1/tools",
    "GET /healthz/",
    "GET /%2e%2e/v1/tools",
    "HEAD /v1/tools",
    "PUT /v1/tools",
    "OPTIONS /v1/tools",
    "DELETE /healthz",
  ].map((line) => ({
    what: `${line} without a token`,
    line,
    headers: ({ host }: { host: string }) => [`Host: ${host}`],
    status: 401,
  })),
  ...[
    "",
    "Bearer",
    "Bearer ",
    "Bearer wrong",
    `Bearer ${TOKEN.slice(0, -1)}`,
    `Bearer ${TOKEN}x`,
    `Bearer ${TOKEN.slice(1)}`,
    `Bearer ${TOKEN.toUpperCase()}`,
    `Bearer ${TOKEN} ${TOKEN}`,
    `Bearer "${TOKEN}"`,
    TOKEN,
    `Token ${TOKEN}`,
    `Basic ${Buffer.from(`hermes:${TOKEN}`).toString("base64")}`,
    `Bearer ${"a".repeat(8_000)}`,
    "Bearer undefined",
    "Bearer null",
  ].map((value) => ({
    what: `Authorization: ${value.slice(0, 40)}`,
    headers: ({ host }: { host: string }) => [`Host: ${host}`, `Authorization: ${value}`],
    status: 401,
  })),
  {
    what: "two Authorization headers",
    headers: ({ host }) => [`Host: ${host}`, "Authorization: Bearer wrong", BEARER],
    status: 400,
  },
  {
    what: "the token in the query of the API",
    line: `GET /v1/tools?token=${TOKEN}`,
    headers: ({ host }) => [`Host: ${host}`],
    status: 401,
  },
  {
    what: "the token as access_token",
    line: `GET /v1/tools?access_token=${TOKEN}`,
    headers: ({ host }) => [`Host: ${host}`],
    status: 401,
  },
  {
    what: "the token in the query of a call",
    line: `POST /v1/tool_calls?token=${TOKEN}`,
    headers: ({ host }) => [`Host: ${host}`, LENGTH],
    status: 401,
  },
  {
    what: "the token in a custom header",
    headers: ({ host }) => [`Host: ${host}`, `X-Hermes-Token: ${TOKEN}`],
    status: 401,
  },
  {
    what: "a wrong token for the page",
    line: "GET /?token=wrong",
    headers: ({ host }) => [`Host: ${host}`],
    status: 401,
  },
  {
    what: "an empty token for the page",
    line: "GET /?token=",
    headers: ({ host }) => [`Host: ${host}`],
    status: 401,
  },
];

const cookies: readonly Attempt[] = [
  {
    what: "the token itself as the cookie",
    headers: ({ host, port }) => [`Host: ${host}`, `Cookie: hermes_${port}=${TOKEN}`],
    status: 401,
  },
  {
    what: "a made-up cookie",
    headers: ({ host, port }) => [`Host: ${host}`, `Cookie: hermes_${port}=AAAA`],
    status: 401,
  },
  {
    what: "an empty cookie",
    headers: ({ host, port }) => [`Host: ${host}`, `Cookie: hermes_${port}=`],
    status: 401,
  },
  {
    what: "the cookie under another name",
    headers: ({ host, cookie }) => [`Host: ${host}`, `Cookie: hermes_1=${cookie.split("=")[1]}`],
    status: 401,
  },
  {
    what: "the cookie's value as the token",
    headers: ({ host, cookie }) => [`Host: ${host}`, `Authorization: Bearer ${cookie.split("=")[1]}`],
    status: 401,
  },
  {
    what: "the cookie beside a wrong token",
    headers: ({ host, cookie }) => [`Host: ${host}`, `Cookie: ${cookie}`, "Authorization: Bearer wrong"],
    status: 401,
  },
  {
    what: "a call with the cookie but no Origin",
    line: POST,
    headers: ({ host, cookie }) => [`Host: ${host}`, `Cookie: ${cookie}`, LENGTH],
    status: 403,
  },
  {
    what: "a call with the cookie from another page",
    line: POST,
    headers: ({ host, cookie }) => [
      `Host: ${host}`,
      `Cookie: ${cookie}`,
      "Origin: http://attacker.example",
      LENGTH,
    ],
    status: 403,
  },
  {
    what: "a call with the cookie from a hidden origin",
    line: POST,
    headers: ({ host, cookie }) => [`Host: ${host}`, `Cookie: ${cookie}`, "Origin: null", LENGTH],
    status: 403,
  },
  {
    what: "the cookie on a request of another local server's page",
    headers: ({ host, cookie }) => [`Host: ${host}`, `Cookie: ${cookie}`, "Sec-Fetch-Site: same-site"],
    status: 401,
  },
  {
    what: "the cookie on a request of another site",
    headers: ({ host, cookie }) => [`Host: ${host}`, `Cookie: ${cookie}`, "Sec-Fetch-Site: cross-site"],
    status: 401,
  },
];

const letIn: readonly Attempt[] = [
  { what: "the token", headers: ({ host }) => [`Host: ${host}`, BEARER], status: 200 },
  {
    what: "the token with the scheme in small letters",
    headers: ({ host }) => [`Host: ${host}`, `authorization: bearer ${TOKEN}`],
    status: 200,
  },
  { what: "localhost", headers: ({ port }) => [`Host: localhost:${port}`, BEARER], status: 200 },
  { what: "LOCALHOST", headers: ({ port }) => [`Host: LOCALHOST:${port}`, BEARER], status: 200 },
  { what: "[::1]", headers: ({ port }) => [`Host: [::1]:${port}`, BEARER], status: 200 },
  {
    what: "our own origin",
    headers: ({ host, origin }) => [`Host: ${host}`, BEARER, `Origin: ${origin}`],
    status: 200,
  },
  {
    what: "the cookie for reading",
    headers: ({ host, cookie }) => [`Host: ${host}`, `Cookie: theme=dark; ${cookie}`],
    status: 200,
  },
  {
    what: "the cookie for a call of our page",
    line: POST,
    headers: ({ host, origin, cookie }) => [
      `Host: ${host}`,
      `Cookie: ${cookie}`,
      `Origin: ${origin}`,
      "Sec-Fetch-Site: same-origin",
      LENGTH,
    ],
    status: 200,
  },
  {
    what: "the health check without a token",
    line: "GET /healthz",
    headers: ({ host }) => [`Host: ${host}`],
    status: 200,
  },
  {
    what: "a call with the token",
    line: POST,
    headers: ({ host }) => [`Host: ${host}`, BEARER, LENGTH],
    status: 200,
  },
];

describe("who is let in", () => {
  const groups = { wrongHost, wrongOrigin, moreOrigins, noToken, cookies, letIn };
  for (const [group, attempts] of Object.entries(groups)) {
    it(`${group}: ${attempts.length} requests`, async () => {
      const { tool, runs } = countingTool();
      const { port } = await startServer([tool]);
      const { cookieName, cookieValue } = new Authenticator({ token: TOKEN, port });
      const own = {
        host: `127.0.0.1:${port}`,
        origin: `http://127.0.0.1:${port}`,
        port,
        cookie: `${cookieName}=${cookieValue}`,
      };
      const answers = await Promise.all(
        attempts.map(async ({ what, line = GET, headers }) => {
          const given = headers(own);
          const body = given.includes(LENGTH) ? BODY : "";
          return { what, ...(await sendRaw(port, requestText(line, [...given, "Connection: close"], body))) };
        }),
      );
      expect(answers.map(({ what, status }) => [what, status])).toEqual(
        attempts.map(({ what, status }) => [what, status]),
      );
      for (const { what, status, head, body } of answers) {
        expect(head, what).toMatch(/\r\nx-content-type-options: nosniff/i);
        expect(head, what).toMatch(/\r\ncontent-security-policy: default-src 'self'/i);
        expect(head, what).not.toMatch(/access-control-allow/i);
        expect(head + body, what).not.toContain(TOKEN);
        if (status === 401) expect(head, what).toMatch(/\r\nwww-authenticate: Bearer/i);
        if (status >= 400 && !what.startsWith("HEAD")) {
          expect(JSON.parse(body).error, what).toEqual({
            code: expect.stringMatching(/^[a-z_]+$/),
            message: expect.any(String),
            ...(body.includes('"hint"') && { hint: expect.any(String) }),
          });
        }
      }
      expect(runs()).toBe(attempts.filter(({ line, status }) => line === POST && status === 200).length);
    });
  }

  it("tries more than 40 requests that must not pass", () => {
    const refused = Object.values(groups)
      .flat()
      .filter(({ status }) => status !== 200);
    expect(refused.length).toBeGreaterThanOrEqual(80);
  });
});

describe("the page's cookie", () => {
  it("is traded for the token once, and the token leaves the address", async () => {
    const { server, port } = await startServer();
    const trade = await fetch(`${server.url}?token=${TOKEN}`, { redirect: "manual" });
    expect(trade.status).toBe(303);
    expect(trade.headers.get("location")).toMatch(/^\/#answers=[\w-]{43}$/);
    const cookie = trade.headers.get("set-cookie") ?? "";
    expect(cookie).toMatch(/; HttpOnly/);
    expect(cookie).toMatch(/; SameSite=Strict/);
    expect(cookie).not.toContain(TOKEN);
    const [pair = ""] = cookie.split(";");
    expect(pair.startsWith(`hermes_${port}=`)).toBe(true);
    expect((await fetch(new URL("/v1/tools", server.url), { headers: { cookie: pair } })).status).toBe(200);
  });

  it("of one server is worth nothing at another with another token", async () => {
    const first = await startServer();
    const second = await startServer([], {
      token: { value: "another-token-0123456789", source: "configured" },
    });
    const { cookieValue } = new Authenticator({ token: TOKEN, port: first.port });
    const answer = await fetch(second.server.url, {
      headers: { cookie: `hermes_${second.port}=${cookieValue}` },
    });
    expect(answer.status).toBe(401);
  });
});

describe("further names", () => {
  it("given by the operator are served, also behind HTTPS, and no others", async () => {
    const { port } = await startServer([], { allowedHosts: ["Hermes.example", "box.lan:8443"] });
    const ask = async (host: string, origin?: string) =>
      (
        await sendRaw(
          port,
          requestText(GET, [
            `Host: ${host}`,
            BEARER,
            ...(origin === undefined ? [] : [`Origin: ${origin}`]),
            "Connection: close",
          ]),
        )
      ).status;
    expect(await ask("hermes.example")).toBe(200);
    expect(await ask(`hermes.example:${port}`)).toBe(200);
    expect(await ask("hermes.example", "https://hermes.example")).toBe(200);
    expect(await ask("box.lan:8443")).toBe(200);
    expect(await ask("box.lan")).toBe(403);
    expect(await ask("hermes.example", "https://other.example")).toBe(403);
    expect(await ask("hermes.example:1")).toBe(403);
  });

  it("on every address of the machine: the address that was called, but no other name", async () => {
    const { port } = await startServer([], { host: "0.0.0.0" });
    const ask = async (host: string) =>
      (await sendRaw(port, requestText(GET, [`Host: ${host}`, BEARER, "Connection: close"]))).status;
    expect(await ask(`127.0.0.1:${port}`)).toBe(200);
    expect(await ask(`attacker.example:${port}`)).toBe(403);
    expect(await ask(`10.1.2.3:${port}`)).toBe(403);
  });
});
