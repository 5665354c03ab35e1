import { isDeepStrictEqual } from "node:util";
import type { FetchLike } from "@modelcontextprotocol/client";
import { authorizationServerAt } from "./discover.js";
import { oauthFetch } from "./oauth-fetch.js";
import { type Challenge, LoginNeeded, renewTokens, ScopeRefused } from "./renew.js";
import { filled, fixedClient, type OAuthSettings } from "./settings.js";
import { forgetTokens, type StoredLogin, TokenStore } from "./token-store.js";

/** A token is renewed before it ends, so that none ends on its way: this long, or a tenth of a short life. */
const BEFORE_END_MS = 60_000;
/** Another process may have renewed the token some time ago, and that one has ended too. */
const MOST_RENEWALS = 2;
/** How often one request is tried again with more rights. */
const MOST_WIDENINGS = 3;

/**
 * What a transport of this server should fetch with: adds the token, renews it, and says when a person has to log
 * in (`LoginNeeded`). The fetch it was given, when the server needs no OAuth.
 */
export function oauthFor(request: OAuthSettings & { readonly fetch?: FetchLike }): FetchLike {
  const base: FetchLike = request.fetch ?? ((url, init) => fetch(url, init));
  const { auth, url } = request.config;
  if (auth === "none" || url === "") return base;
  const access = new OAuthAccess(filled(request));
  return (address, init = {}) => access.send({ base, address, init });
}

interface Sending {
  readonly base: FetchLike;
  readonly address: string | URL;
  readonly init: RequestInit;
}

class OAuthAccess {
  readonly #settings: OAuthSettings;
  readonly #store: TokenStore;
  readonly #origin: string;
  #login: StoredLogin | undefined;
  #renewing: Promise<StoredLogin> | undefined;

  constructor(settings: OAuthSettings) {
    this.#settings = settings;
    this.#store = new TokenStore(settings);
    this.#origin = new URL(settings.config.url).origin;
  }

  async send({ base, address, init }: Sending): Promise<Response> {
    // Whoever else the server sends us to does not get its token.
    if (new URL(address).origin !== this.#origin) return base(address, init);
    let token = await this.#token();
    let response = await base(address, withToken(init, token));
    for (let round = 0; response.status === 401; round += 1) {
      const challenge = await challengeOf(response);
      if (round === MOST_RENEWALS)
        throw new LoginNeeded(this.#settings.server, `${this.#settings.server} refused a new token`);
      token = await this.#answer(token, challenge);
      response = await base(address, withToken(init, token));
    }
    for (let round = 0; round < MOST_WIDENINGS && response.status === 403; round += 1) {
      const challenge = await insufficientScope(response);
      if (challenge === undefined) return response;
      await response.body?.cancel();
      token = await this.#widen(token, challenge);
      response = await base(address, withToken(init, token));
    }
    return response;
  }

  async #token(): Promise<string | undefined> {
    this.#login ??= this.#store.read();
    const { tokens, expires_at: end } = this.#login;
    const early = Math.min(BEFORE_END_MS, (tokens?.expires_in ?? 0) * 100);
    if (tokens === undefined || end === undefined || Date.now() < end - early) return tokens?.access_token;
    try {
      return (await this.#renew(tokens.access_token, {})).tokens?.access_token;
    } catch (error) {
      // It may still serve; when it does not, the server says so.
      if (Date.now() < end) return tokens.access_token;
      throw error;
    }
  }

  async #answer(used: string | undefined, challenge: Challenge): Promise<string | undefined> {
    try {
      return (await this.#renew(used, challenge)).tokens?.access_token;
    } catch (error) {
      if (error instanceof LoginNeeded) await this.#noteChallenge(challenge).catch(() => undefined);
      throw error;
    }
  }

  /** Only some requests are turned down, so the login may not meet this answer itself. */
  async #noteChallenge({ resourceMetadataUrl, scope }: Challenge): Promise<void> {
    const challenge = {
      ...(resourceMetadataUrl !== undefined && { documents: resourceMetadataUrl.href }),
      ...(scope !== undefined && { scope }),
    };
    if (this.#store.isTaken || isDeepStrictEqual(challenge, this.#store.read().challenge ?? {})) return;
    await this.#store.update((login) => ({ ...login, challenge }));
  }

  /** Requests that fail together wait for one renewal. */
  #renew(used: string | undefined, challenge: Challenge): Promise<StoredLogin> {
    const { tokens } = this.#login ?? {};
    if (tokens !== undefined && tokens.access_token !== used && this.#login !== undefined)
      return Promise.resolve(this.#login);
    this.#renewing ??= renewTokens({ settings: this.#settings, store: this.#store, used, challenge })
      .then((login) => {
        this.#login = login;
        return login;
      })
      .finally(() => {
        this.#renewing = undefined;
      });
    return this.#renewing;
  }

  /** More rights need a person, unless the client signs in for itself. */
  async #widen(used: string | undefined, challenge: Challenge): Promise<string | undefined> {
    const { computeScopeUnion, isStrictScopeSuperset } = await import("@modelcontextprotocol/client");
    const { server } = this.#settings;
    const stored = this.#store.read();
    // Another process may have logged in with more rights by now.
    if (stored.tokens !== undefined && stored.tokens.access_token !== used) {
      this.#login = stored;
      return stored.tokens.access_token;
    }
    const had = computeScopeUnion(stored.asked_scope, stored.tokens?.scope);
    const wanted = computeScopeUnion(had, challenge.scope);
    if (!isStrictScopeSuperset(wanted, had)) throw new ScopeRefused(server, challenge.scope ?? "");
    if (stored.machine === true && wanted !== undefined) {
      this.#login = undefined;
      return (await this.#renew(used, { ...challenge, scope: wanted })).tokens?.access_token;
    }
    await this.#store.update((login) => ({
      ...login,
      ...(wanted !== undefined && { wanted_scope: wanted }),
    }));
    throw new LoginNeeded(
      server,
      `${server} asks for more rights: ${challenge.scope ?? "it does not say which"}`,
    );
  }
}

function withToken(init: RequestInit, token: string | undefined): RequestInit {
  if (token === undefined) return init;
  const headers = new Headers(init.headers);
  headers.set("authorization", `Bearer ${token}`);
  return { ...init, headers };
}

async function challengeOf(response: Response): Promise<Challenge> {
  const { extractWWWAuthenticateParams } = await import("@modelcontextprotocol/client");
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
  await response.body?.cancel();
  return { resourceMetadataUrl, scope };
}

async function insufficientScope(response: Response): Promise<Challenge | undefined> {
  const { extractWWWAuthenticateParams } = await import("@modelcontextprotocol/client");
  const { error, resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
  if (error !== "insufficient_scope") return undefined;
  return { resourceMetadataUrl, scope };
}

interface LogoutOutcome {
  /** There was something to forget. */
  readonly forgotten: boolean;
  /** The authorization server was told, and agreed. */
  readonly revoked: boolean;
}

/** Forgets the tokens; the authorization server is told where it wants to know, but need not be there. */
export async function logout(settings: OAuthSettings): Promise<LogoutOutcome> {
  const store = new TokenStore(settings);
  const { home } = settings.host.config.paths;
  // Alone: a program that renews them right now would write them down again.
  const { stored, forgotten } = await store.alone(async () => {
    const stored = store.read();
    return { stored, forgotten: forgetTokens(home, settings.server) };
  });
  const revoked = await Promise.resolve()
    .then(() => revoke(filled(settings), stored))
    .catch(() => false);
  return { forgotten, revoked };
}

async function revoke(settings: OAuthSettings, login: StoredLogin): Promise<boolean> {
  const { tokens, client: stored, authorization_server: server } = login;
  const client = fixedClient(settings) ?? stored;
  const token = tokens?.refresh_token ?? tokens?.access_token;
  if (token === undefined || client === undefined || server === undefined) return false;
  const { assertSecureTokenEndpoint } = await import("@modelcontextprotocol/client");
  const fetchFn = await oauthFetch(settings);
  const metadata = await authorizationServerAt({
    authorizationServer: server,
    url: settings.config.url,
    fetchFn,
  });
  const endpoint: unknown = metadata && Reflect.get(metadata, "revocation_endpoint");
  if (typeof endpoint !== "string") return false;
  const { status } = await fetchFn(assertSecureTokenEndpoint(endpoint), {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({
      token,
      client_id: client.client_id,
      ...(client.client_secret !== undefined && { client_secret: client.client_secret }),
    }),
  });
  return status === 200;
}
