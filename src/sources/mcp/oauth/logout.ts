import { authorizationServerAt } from "./discover.js";
import { oauthFetch } from "./oauth-fetch.js";
import { filled, fixedClient, type OAuthSettings } from "./settings.js";
import { forgetTokens, type StoredLogin, TokenStore } from "./token-store.js";

export interface LogoutOutcome {
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
