import type {
  AddClientAuthentication,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthServerInfo,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import { visible } from "../../../base/visible-text.js";
import { failure, HermesError } from "../../../tool/errors.js";
import {
  CALLBACK_PORTS,
  callbackUrl,
  fixedClient,
  metadataDocument,
  type OAuthSettings,
} from "./settings.js";
import type { StoredLogin, TokenStore } from "./token-store.js";

interface FlowParts {
  readonly settings: OAuthSettings;
  readonly store: TokenStore;
  /** What was found out about the server before. */
  readonly found: OAuthServerInfo;
  readonly authentication: AddClientAuthentication | undefined;
  /** Where the browser comes back to; without one the client signs in for itself. */
  readonly redirectUrl?: string;
  /** Unguessable; must come back with the code. */
  readonly state?: string;
  /** Only while the store is held by the caller: writes then do not wait for the lock again. */
  readonly holdsStore?: boolean;
}

/** One sign-in, as the SDK's own OAuth code wants it: what it finds out and gets, this keeps. */
export class SignInFlow implements OAuthClientProvider {
  readonly #parts: FlowParts;
  /** Where the SDK would send the person. */
  authorizationUrl: URL | undefined;
  #verifier = "";
  #found: OAuthServerInfo;
  readonly addClientAuthentication?: AddClientAuthentication;
  readonly clientMetadataUrl?: string;

  constructor(parts: FlowParts) {
    this.#parts = parts;
    this.#found = parts.found;
    if (parts.authentication !== undefined) this.addClientAuthentication = parts.authentication;
    const document = metadataDocument(parts.settings);
    if (document !== undefined) this.clientMetadataUrl = document;
  }

  get redirectUrl(): string | undefined {
    return this.#parts.redirectUrl;
  }

  get clientMetadata(): OAuthClientMetadata {
    const { oauth_scopes: scopes } = this.#parts.settings.config;
    const methods = this.#found.authorizationServerMetadata?.token_endpoint_auth_methods_supported;
    return {
      client_name: "Hermes Tools",
      redirect_uris: CALLBACK_PORTS.map(callbackUrl),
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: registrationMethod(methods),
      ...(scopes.length > 0 && { scope: scopes.join(" ") }),
    };
  }

  state(): string {
    return this.#parts.state ?? "";
  }

  clientInformation(context?: { readonly issuer: string }): StoredOAuthClientInformation | undefined {
    const { settings, store } = this.#parts;
    const stored = store.read().client;
    const fixed = fixedClient(settings);
    if (fixed === undefined) return isExpired(stored) ? undefined : stored;
    const isSame = stored?.client_id === fixed.client_id;
    // The server says who gets the secret, so whom it named first is the only one who ever does.
    if (isSame && context !== undefined && !sameIssuer(stored.issuer, context.issuer)) {
      const message = `${settings.server} now names ${visible(context.issuer)} as its authorization server; the client id and secret were used with ${stored.issuer}`;
      const hint = `If that is right, run "hermes mcp login ${settings.server} --logout" and log in again.`;
      throw new HermesError(failure("denied", message, hint));
    }
    return { ...fixed, ...(context !== undefined && { issuer: stored?.issuer ?? context.issuer }) };
  }

  async saveClientInformation(client: StoredOAuthClientInformation): Promise<void> {
    await this.#change((stored) => ({ ...stored, client }));
  }

  /** A sign-in is a new beginning: refreshing is done elsewhere. */
  tokens(): StoredOAuthTokens | undefined {
    return undefined;
  }

  async saveTokens(tokens: StoredOAuthTokens): Promise<void> {
    const { redirectUrl, settings } = this.#parts;
    const { authorizationServerUrl, resourceMetadata } = this.#found;
    const asked = this.authorizationUrl?.searchParams.get("scope") ?? tokens.scope;
    const fixed = fixedClient(settings);
    await this.#change(({ url, client: stored }) => {
      // A client made by hand stands in the settings; here is kept only whom it was used with.
      const client = fixed === undefined ? stored : { client_id: fixed.client_id, issuer: tokens.issuer };
      return {
        url,
        client,
        ...keptTokens(tokens),
        authorization_server: authorizationServerUrl,
        resource: resourceMetadata?.resource,
        asked_scope: asked,
        ...(redirectUrl === undefined && { machine: true }),
      };
    });
  }

  async #change(change: (stored: StoredLogin) => StoredLogin): Promise<void> {
    const { store, holdsStore } = this.#parts;
    if (holdsStore === true) await store.write(change(store.read()));
    else await store.update(change);
  }

  redirectToAuthorization(url: URL): void {
    this.authorizationUrl = url;
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  discoveryState(): OAuthServerInfo {
    return this.#found;
  }

  saveDiscoveryState(found: OAuthServerInfo): void {
    this.#found = found;
  }

  async invalidateCredentials(scope: "all" | "client" | "tokens" | "verifier" | "discovery"): Promise<void> {
    // A client made by hand is not made again; whom it belongs to stays known.
    if ((scope !== "client" && scope !== "all") || fixedClient(this.#parts.settings) !== undefined) return;
    await this.#change(({ url }) => ({ url }));
  }

  /** Only asked when there is no browser to come back: the client signs in for itself. */
  prepareTokenRequest(scope?: string): URLSearchParams | undefined {
    if (this.#parts.redirectUrl !== undefined) return undefined;
    return new URLSearchParams({ grant_type: "client_credentials", ...(scope !== undefined && { scope }) });
  }
}

/** A registration may end too; then there is a new one. */
function isExpired(client: StoredOAuthClientInformation | undefined): boolean {
  const end: unknown = client && Reflect.get(client, "client_secret_expires_at");
  return typeof end === "number" && end > 0 && end * 1000 < Date.now();
}

/** The tokens with the time at which they end. */
export function keptTokens(tokens: StoredOAuthTokens): Pick<StoredLogin, "tokens" | "expires_at"> {
  const lifetime = tokens.expires_in;
  return { tokens, expires_at: lifetime === undefined ? undefined : Date.now() + lifetime * 1000 };
}

export function sameIssuer(one: string | undefined, other: string | undefined): boolean {
  return one === undefined || other === undefined || one.replace(/\/$/, "") === other.replace(/\/$/, "");
}

/** A program on somebody's machine cannot keep a secret, so none is asked for where that is possible. */
function registrationMethod(supported: readonly string[] | undefined): string {
  if (supported === undefined || supported.includes("none")) return "none";
  return (
    supported.find((method) => method === "client_secret_basic" || method === "client_secret_post") ?? "none"
  );
}
