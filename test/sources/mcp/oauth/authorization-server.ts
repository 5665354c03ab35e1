import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

interface Options {
  /** What people are asked for; a token without all of them is refused with 403. */
  readonly scopes?: readonly string[];
  readonly grants?: readonly string[];
  readonly expiresIn?: number;
  /** Answers `POST /mcp` once the token was found good. */
  readonly resource?: (
    request: IncomingMessage,
    response: ServerResponse,
    body: Buffer,
  ) => void | Promise<void>;
  /** A scope that is asked for in vain. */
  readonly withheld?: string;
  /** Waits this long before it answers a refresh. */
  readonly refreshDelayMs?: number;
  /** What the browser brings back as `iss`. */
  readonly iss?: string;
}

interface Client {
  readonly secret?: string;
  readonly redirectUris: readonly string[];
}

interface Grant {
  readonly clientId: string;
  readonly scope: string;
  readonly challenge: string;
  readonly redirectUri: string;
}

/**
 * An authorization server and the resource it protects, on one loopback port: PKCE, registration, refresh tokens that
 * serve once (a second use ends the whole login, as OAuth 2.1 advises), revocation.
 */
export class AuthorizationServer {
  readonly #options: Options;
  readonly #server: Server;
  readonly clients = new Map<string, Client>();
  readonly #codes = new Map<string, Grant>();
  readonly #access = new Map<string, string>();
  readonly #refresh = new Map<string, { readonly family: string; readonly scope: string }>();
  readonly #used = new Set<string>();
  readonly #endedFamilies = new Set<string>();
  /** What was asked of it, in order. */
  readonly log: string[] = [];
  neededScopes: readonly string[];
  isAway = false;
  /** A page that stands in the place of tokens. */
  tokenPage: string | undefined;
  /** Whom it names instead of itself. */
  authorizationServers: readonly string[] | undefined;

  constructor(options: Options = {}) {
    this.#options = options;
    this.neededScopes = options.scopes ?? [];
    this.#server = createServer((request, response) => {
      this.#handle(request, response).catch(() => response.destroy());
    });
  }

  static async start(options: Options = {}): Promise<AuthorizationServer> {
    const made = new AuthorizationServer(options);
    await new Promise<void>((resolve) => made.#server.listen(0, "127.0.0.1", resolve));
    return made;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get url(): string {
    return `${this.origin}/mcp`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Every access token given so far no longer serves. */
  expireAccess(): void {
    this.#access.clear();
  }

  count(what: string): number {
    return this.log.filter((entry) => entry === what).length;
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "", this.origin);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    this.log.push(`${request.method} ${url.pathname}`);
    const json = (status: number, value: unknown, headers: Record<string, string> = {}) => {
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(JSON.stringify(value));
    };
    if (url.pathname === "/mcp") return this.#resource(request, response, body);
    if (this.isAway) return json(503, { error: "server_error" });
    switch (url.pathname) {
      case "/.well-known/oauth-protected-resource/mcp":
        return json(200, {
          resource: this.url,
          authorization_servers: this.authorizationServers ?? [this.origin],
        });
      case "/.well-known/oauth-authorization-server":
        return json(200, {
          issuer: this.origin,
          authorization_endpoint: `${this.origin}/authorize`,
          token_endpoint: `${this.origin}/token`,
          registration_endpoint: `${this.origin}/register`,
          revocation_endpoint: `${this.origin}/revoke`,
          response_types_supported: ["code"],
          grant_types_supported: this.#options.grants ?? ["authorization_code", "refresh_token"],
          code_challenge_methods_supported: ["S256"],
          token_endpoint_auth_methods_supported: ["none", "client_secret_post"],
          authorization_response_iss_parameter_supported: true,
        });
      case "/register": {
        const id = `client-${this.clients.size + 1}`;
        const wanted = JSON.parse(body.toString()) as { redirect_uris: string[] };
        this.clients.set(id, { redirectUris: wanted.redirect_uris });
        return json(201, { ...wanted, client_id: id });
      }
      case "/authorize":
        return this.#authorize(url.searchParams, response);
      case "/token":
        if (this.tokenPage !== undefined) return void response.writeHead(502).end(this.tokenPage);
        return this.#token(new URLSearchParams(body.toString()), json);
      case "/revoke":
        this.#refresh.delete(new URLSearchParams(body.toString()).get("token") ?? "");
        return json(200, {});
      default:
        return json(404, { error: "not_found" });
    }
  }

  async #resource(request: IncomingMessage, response: ServerResponse, body: Buffer): Promise<void> {
    const scope = this.#access.get(request.headers.authorization?.replace(/^Bearer /, "") ?? "");
    const documents = `resource_metadata="${this.origin}/.well-known/oauth-protected-resource/mcp"`;
    const missing = this.neededScopes.filter((needed) => !scope?.split(" ").includes(needed));
    const challenge =
      scope === undefined
        ? `Bearer ${documents}, scope="${(this.#options.scopes ?? []).join(" ")}"`
        : `Bearer error="insufficient_scope", scope="${missing.join(" ")}", ${documents}`;
    if (scope === undefined || missing.length > 0) {
      response.writeHead(scope === undefined ? 401 : 403, { "www-authenticate": challenge }).end();
      return;
    }
    if (this.#options.resource !== undefined) return this.#options.resource(request, response, body);
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ scope }));
  }

  #authorize(query: URLSearchParams, response: ServerResponse): void {
    const clientId = query.get("client_id") ?? "";
    const redirectUri = query.get("redirect_uri") ?? "";
    if (this.clients.get(clientId)?.redirectUris.includes(redirectUri) !== true) {
      response.writeHead(400).end("unknown client");
      return;
    }
    const code = randomBytes(16).toString("hex");
    const challenge = query.get("code_challenge") ?? "";
    this.#codes.set(code, {
      clientId,
      redirectUri,
      challenge,
      scope: this.#granted(query.get("scope") ?? ""),
    });
    const back = new URL(redirectUri);
    back.searchParams.set("code", code);
    back.searchParams.set("state", query.get("state") ?? "");
    back.searchParams.set("iss", this.#options.iss ?? this.origin);
    response.writeHead(302, { location: back.href }).end();
  }

  #granted(scope: string): string {
    return scope
      .split(" ")
      .filter((one) => one !== this.#options.withheld)
      .join(" ");
  }

  async #token(form: URLSearchParams, json: (status: number, value: unknown) => void): Promise<void> {
    const kind = form.get("grant_type");
    this.log.push(`token ${kind}`);
    if (kind === "client_credentials") {
      const client = this.clients.get(form.get("client_id") ?? "");
      if (client?.secret === undefined || client.secret !== form.get("client_secret"))
        return json(401, { error: "invalid_client" });
      return json(200, this.#tokens({ scope: form.get("scope") ?? "" }));
    }
    if (kind === "authorization_code") {
      const grant = this.#codes.get(form.get("code") ?? "");
      this.#codes.delete(form.get("code") ?? "");
      const proof = createHash("sha256")
        .update(form.get("code_verifier") ?? "")
        .digest("base64url");
      const fits = grant?.challenge === proof && grant.redirectUri === form.get("redirect_uri");
      if (!fits || form.get("resource") !== this.url) return json(400, { error: "invalid_grant" });
      return json(200, this.#tokens({ scope: grant.scope, family: randomBytes(8).toString("hex") }));
    }
    const token = form.get("refresh_token") ?? "";
    const known = this.#refresh.get(token);
    if (known !== undefined && this.#used.has(token)) this.#endedFamilies.add(known.family);
    if (known === undefined || this.#endedFamilies.has(known.family))
      return json(400, { error: "invalid_grant" });
    this.#used.add(token);
    await new Promise((resolve) => setTimeout(resolve, this.#options.refreshDelayMs ?? 0));
    json(200, this.#tokens(known));
  }

  #tokens({ scope, family }: { readonly scope: string; readonly family?: string }) {
    const access = `access-${randomBytes(16).toString("hex")}`;
    this.#access.set(access, scope);
    const refresh = `refresh-${randomBytes(16).toString("hex")}`;
    if (family !== undefined) this.#refresh.set(refresh, { family, scope });
    return {
      access_token: access,
      token_type: "Bearer",
      expires_in: this.#options.expiresIn ?? 3_600,
      scope,
      ...(family !== undefined && { refresh_token: refresh }),
    };
  }
}
