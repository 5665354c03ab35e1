import { randomBytes, timingSafeEqual } from "node:crypto";
import type { FetchLike, OAuthServerInfo } from "@modelcontextprotocol/client";
import { visible } from "../../../base/visible-text.js";
import { failure, HermesError } from "../../../tool/errors.js";
import { discover } from "./discover.js";
import { SignInFlow } from "./flow.js";
import { oauthFetch } from "./oauth-fetch.js";
import type { Challenge } from "./renew.js";
import { onlyMachines } from "./renew.js";
import { filled, hasOwnCredentials, keyAuthentication, type OAuthSettings, wantedScope } from "./settings.js";
import { type StoredLogin, TokenStore } from "./token-store.js";

const LONGEST_REASON = 500;

/** Takes a person to an address and waits until the browser comes back. */
export interface Browser {
  /** Where it comes back to. */
  readonly redirectUrl: string;
  /** The whole address it came back with. Only one that carries the state counts. */
  visit(address: URL, state: string): Promise<URL>;
}

export interface LoginOutcome {
  readonly kind: "person" | "machine";
  /** Who gave the tokens. */
  readonly authorizationServer: string;
  readonly scope?: string | undefined;
  /** Milliseconds since 1970. */
  readonly expiresAt?: number | undefined;
  readonly refreshable: boolean;
}

/** Logs in at one server and keeps the tokens. Fails with a `HermesError` that says what went wrong. */
export async function login(request: {
  readonly settings: OAuthSettings;
  /** Only opened when a person is needed. */
  readonly openBrowser: () => Promise<Browser>;
  readonly signal?: AbortSignal;
}): Promise<LoginOutcome> {
  const { openBrowser, signal } = request;
  const settings = filled(request.settings);
  const { auth, computeScopeUnion } = await import("@modelcontextprotocol/client");
  const store = new TokenStore(settings);
  const base = await oauthFetch(settings);
  const fetchFn: FetchLike = (url, init) =>
    base(url, signal === undefined ? init : { ...init, signal: both(signal, init?.signal) });
  const earlier = store.read();
  const challenge = (await challengeFrom(settings, fetchFn)) ?? challengeOf(earlier);
  const found = await discover({ url: settings.config.url, challenge, fetchFn });
  const scope = computeScopeUnion(
    wantedScope(settings) ?? challenge.scope,
    earlier.wanted_scope === undefined
      ? undefined
      : computeScopeUnion(earlier.asked_scope, earlier.wanted_scope),
  );
  const options = {
    serverUrl: settings.config.url,
    ...(scope !== undefined && { scope }),
    ...(challenge.resourceMetadataUrl !== undefined && {
      resourceMetadataUrl: challenge.resourceMetadataUrl,
    }),
    fetchFn,
  };
  const authentication = await keyAuthentication(settings);
  if (isMachine(settings, found)) {
    await auth(new SignInFlow({ settings, store, found, authentication }), options);
    return outcomeOf(store, "machine");
  }
  const browser = await openBrowser();
  const state = randomBytes(32).toString("base64url");
  const { redirectUrl } = browser;
  const flow = new SignInFlow({ settings, store, found, authentication, redirectUrl, state });
  await auth(flow, options);
  const { authorizationUrl } = flow;
  if (authorizationUrl === undefined) throw new Error("the SDK did not ask for a login");
  assertSafe(authorizationUrl);
  const { code, iss } = answerOf(await browser.visit(authorizationUrl, state), state);
  await auth(flow, { ...options, authorizationCode: code, ...(iss !== undefined && { iss }) });
  return outcomeOf(store, "person");
}

function isMachine(settings: OAuthSettings, found: OAuthServerInfo): boolean {
  const { server, config } = settings;
  if (config.auth === "client_credentials") {
    if (hasOwnCredentials(settings)) return true;
    const hint = `Set mcp_servers.${server}.oauth_client_id and oauth_client_secret.`;
    throw new HermesError(failure("bad_request", `${server} has no client of its own to sign in with`, hint));
  }
  return (
    hasOwnCredentials(settings) && onlyMachines(found.authorizationServerMetadata?.grant_types_supported)
  );
}

function both(one: AbortSignal, other: AbortSignal | null | undefined): AbortSignal {
  return other ? AbortSignal.any([one, other]) : one;
}

/** What the server says to somebody without a token: where its documents are and which scope it wants. */
async function challengeFrom({ config }: OAuthSettings, fetchFn: FetchLike): Promise<Challenge | undefined> {
  const { extractWWWAuthenticateParams, LATEST_PROTOCOL_VERSION } = await import(
    "@modelcontextprotocol/client"
  );
  const params = {
    protocolVersion: LATEST_PROTOCOL_VERSION,
    capabilities: {},
    clientInfo: { name: "hermes", version: "0" },
  };
  const response = await fetchFn(config.url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params }),
  });
  if (response.status !== 401) return undefined;
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
  return { resourceMetadataUrl, scope };
}

function challengeOf({ challenge = {} }: StoredLogin): Challenge {
  const { documents, scope } = challenge;
  const isUsable = documents !== undefined && URL.canParse(documents);
  return { resourceMetadataUrl: isUsable ? new URL(documents) : undefined, scope };
}

/** The address of the login page comes from strangers and goes to the person's browser. */
function assertSafe(address: URL): void {
  const isLocal = ["127.0.0.1", "localhost", "[::1]"].includes(address.hostname);
  if (address.protocol === "https:" || (address.protocol === "http:" && isLocal)) return;
  const message = `the authorization server names a login page that is not opened: ${address.origin}`;
  throw new HermesError(failure("blocked", message, "A login page must be an https address."));
}

/** The code the browser brought back. `iss` is checked by the SDK before the code goes anywhere. */
export function answerOf(
  address: URL,
  state: string,
): { readonly code: string; readonly iss?: string | undefined } {
  const { searchParams } = address;
  if (!sameText(searchParams.get("state") ?? "", state)) {
    const message = "this answer does not belong to this login: its state is another one";
    throw new HermesError(failure("denied", message, "Start the login again."));
  }
  const error = searchParams.get("error");
  if (error !== null) {
    const about = searchParams.get("error_description");
    const said = `${error}${about === null ? "" : ` (${about})`}`;
    // A stranger's words, which end up in a terminal.
    const shown = visible(said.length > LONGEST_REASON ? `${said.slice(0, LONGEST_REASON)}…` : said);
    const message = `the authorization server refused the login: ${shown}`;
    throw new HermesError(failure("denied", message));
  }
  const code = searchParams.get("code");
  if (code === null || code === "")
    throw new HermesError(failure("bad_request", "the address holds no code", "Copy all of it."));
  return { code, iss: searchParams.get("iss") ?? undefined };
}

export function sameText(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function outcomeOf(store: TokenStore, kind: LoginOutcome["kind"]): LoginOutcome {
  const { tokens, expires_at: expiresAt, authorization_server: server = "" } = store.read();
  return {
    kind,
    authorizationServer: server,
    scope: tokens?.scope,
    expiresAt,
    refreshable: tokens?.refresh_token !== undefined,
  };
}
