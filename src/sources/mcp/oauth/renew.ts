import type { FetchLike, OAuthError, StoredOAuthClientInformation } from "@modelcontextprotocol/client";
import { describeThrown } from "../../../tool/thrown.js";
import { authorizationServerAt, discover } from "./discover.js";
import { keptTokens, SignInFlow } from "./flow.js";
import { oauthFetch } from "./oauth-fetch.js";
import {
  fixedClient,
  hasOwnCredentials,
  keyAuthentication,
  type OAuthSettings,
  wantedScope,
} from "./settings.js";
import type { StoredLogin, TokenStore } from "./token-store.js";

/** What a server said when it turned a request down. */
export interface Challenge {
  readonly resourceMetadataUrl?: URL | undefined;
  readonly scope?: string | undefined;
}

interface Renewal {
  readonly settings: OAuthSettings;
  readonly store: TokenStore;
  /** The token that no longer serves. Another process may have got a new one meanwhile. */
  readonly used: string | undefined;
  readonly challenge: Challenge;
}

/** Shorter than the time after which the lock of the token file counts as forgotten. */
const LONGEST_MS = 25_000;

/**
 * Tokens that can be used, got without a person. Of all processes only one at a time asks for new ones: a refresh
 * token mostly serves once, and the second to use it would destroy the login of all.
 */
export function renewTokens(renewal: Renewal): Promise<StoredLogin> {
  const { settings, store, used } = renewal;
  return store.alone(async () => {
    const stored = store.read();
    const present = stored.tokens?.access_token;
    const hasEnded = stored.expires_at !== undefined && stored.expires_at <= Date.now();
    if (present !== undefined && present !== used && !hasEnded) return stored;
    const base = await oauthFetch(settings);
    const deadline = AbortSignal.timeout(LONGEST_MS);
    const fetchFn: FetchLike = (url, init) => base(url, { ...init, signal: deadline });
    if (stored.tokens?.refresh_token !== undefined) return refresh({ ...renewal, stored, fetchFn });
    if (!hasOwnCredentials(settings)) throw new LoginNeeded(settings.server, why(settings, stored));
    return signInAlone({ ...renewal, stored, fetchFn });
  });
}

function why({ server }: OAuthSettings, stored: StoredLogin): string {
  return stored.tokens === undefined ? `${server} asks for a login` : `the login at ${server} has expired`;
}

type Attempt = Renewal & { readonly stored: StoredLogin; readonly fetchFn: FetchLike };

async function refresh({ settings, store, stored, fetchFn }: Attempt): Promise<StoredLogin> {
  const { refreshAuthorization, OAuthError } = await import("@modelcontextprotocol/client");
  const { tokens, authorization_server: server = new URL("/", stored.url).href, resource } = stored;
  const client = clientOf(settings, stored);
  if (tokens?.refresh_token === undefined || client === undefined)
    throw new LoginNeeded(settings.server, why(settings, stored));
  try {
    const metadata = await authorizationServerAt({ authorizationServer: server, url: stored.url, fetchFn });
    const authentication = await keyAuthentication(settings);
    const fresh = await refreshAuthorization(server, {
      ...(metadata !== undefined && { metadata }),
      clientInformation: client,
      refreshToken: tokens.refresh_token,
      ...(resource !== undefined && { resource }),
      addClientAuthentication: authentication,
      fetchFn,
    });
    const scope = fresh.scope ?? tokens.scope;
    const { expires_at: _, ...rest } = stored;
    const next = {
      ...rest,
      ...keptTokens({ ...fresh, ...(scope !== undefined && { scope }), ...issuerOf(tokens) }),
    };
    await store.write(next);
    return next;
  } catch (error) {
    if (OAuthError.isInstance(error) && endsTheLogin(error)) {
      const { tokens: _tokens, expires_at: _expires, ...rest } = stored;
      await store.write(rest);
      throw new LoginNeeded(settings.server, `the login at ${settings.server} has ended`);
    }
    // The authorization server may be away for a moment: the refresh token is kept for the next try.
    throw new Error(
      `the login at ${settings.server} could not be refreshed: ${describeThrown(error).message}`,
    );
  }
}

function endsTheLogin({ code }: OAuthError): boolean {
  return ["invalid_grant", "invalid_client", "unauthorized_client", "invalid_token"].includes(code);
}

function clientOf(settings: OAuthSettings, stored: StoredLogin): StoredOAuthClientInformation | undefined {
  const fixed = fixedClient(settings);
  if (fixed === undefined) return stored.client;
  return { ...fixed, ...issuerOf(stored.client) };
}

function issuerOf(from: { readonly issuer?: string | undefined } | undefined): { readonly issuer?: string } {
  return from?.issuer === undefined ? {} : { issuer: from.issuer };
}

/** A client with credentials of its own, at a server where no person is needed. */
async function signInAlone({ settings, store, challenge, stored, fetchFn }: Attempt): Promise<StoredLogin> {
  const { auth, computeScopeUnion } = await import("@modelcontextprotocol/client");
  const { server, config } = settings;
  const found = await discover({ url: config.url, challenge, fetchFn });
  const grants = found.authorizationServerMetadata?.grant_types_supported;
  if (config.auth !== "client_credentials" && !onlyMachines(grants))
    throw new LoginNeeded(server, why(settings, stored));
  const authentication = await keyAuthentication(settings);
  const flow = new SignInFlow({ settings, store, found, authentication, holdsStore: true });
  const scope = computeScopeUnion(wantedScope(settings), challenge.scope);
  await auth(flow, { serverUrl: config.url, ...(scope !== undefined && { scope }), fetchFn });
  return store.read();
}

/** Whether an authorization server offers no login for people at all. */
export function onlyMachines(grants: readonly string[] | undefined): boolean {
  return grants?.includes("client_credentials") === true && !grants.includes("authorization_code");
}

/** Says that a person has to log in first. Its name is the one by which the SDK tells such errors apart. */
export class LoginNeeded extends Error {
  readonly server: string;
  readonly hint: string;

  constructor(server: string, why: string) {
    super(why);
    // The SDK hands errors of this name on as they are, instead of trying an older protocol.
    this.name = "UnauthorizedError";
    this.server = server;
    this.hint = `Run "hermes mcp login ${server}".`;
  }
}

/** The server wants more rights than the person was willing or able to give. */
export class ScopeRefused extends Error {
  constructor(server: string, scope: string) {
    super(`${server} asks for the scope ${JSON.stringify(scope)} again, although the login asked for it`);
    this.name = "ScopeRefused";
  }
}
