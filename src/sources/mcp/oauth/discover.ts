import type { AuthorizationServerMetadata, FetchLike, OAuthServerInfo } from "@modelcontextprotocol/client";
import type { Challenge } from "./renew.js";

/** Finds out who gives tokens for a server. */
export async function discover(request: {
  readonly url: string;
  readonly challenge: Challenge;
  readonly fetchFn: FetchLike;
}): Promise<OAuthServerInfo> {
  const { url, challenge, fetchFn } = request;
  const { discoverOAuthServerInfo } = await import("@modelcontextprotocol/client");
  const documents = challenge.resourceMetadataUrl;
  const options = { ...(documents !== undefined && { resourceMetadataUrl: documents }), fetchFn };
  try {
    return await discoverOAuthServerInfo(url, options);
  } catch (error) {
    if (!(await isMismatch(error))) throw error;
    const found = await discoverOAuthServerInfo(url, { ...options, skipIssuerMetadataValidation: true });
    if (found.resourceMetadata !== undefined || !liesAt(found.authorizationServerMetadata, url)) throw error;
    return found;
  }
}

/** What is known about an authorization server; `url` is the server it gives tokens for. */
export async function authorizationServerAt(request: {
  readonly authorizationServer: string;
  readonly url: string;
  readonly fetchFn: FetchLike;
}): Promise<AuthorizationServerMetadata | undefined> {
  const { authorizationServer, url, fetchFn } = request;
  const { discoverAuthorizationServerMetadata } = await import("@modelcontextprotocol/client");
  try {
    return await discoverAuthorizationServerMetadata(authorizationServer, { fetchFn });
  } catch (error) {
    if (!(await isMismatch(error))) throw error;
    const found = await discoverAuthorizationServerMetadata(authorizationServer, {
      fetchFn,
      skipIssuerValidation: true,
    });
    if (new URL(authorizationServer).origin !== new URL(url).origin || !liesAt(found, url)) throw error;
    return found;
  }
}

/**
 * Servers of the protocol of 2025-03-26 are their own authorization server, and some name one below their address.
 * That is still the same machine speaking about itself; any other disagreement about the issuer ends the login.
 */
function liesAt(metadata: AuthorizationServerMetadata | undefined, url: string): boolean {
  const { origin } = new URL(url);
  const named = [metadata?.issuer, metadata?.token_endpoint, metadata?.authorization_endpoint];
  return named.every((one) => one !== undefined && URL.canParse(one) && new URL(one).origin === origin);
}

async function isMismatch(error: unknown): Promise<boolean> {
  const { IssuerMismatchError } = await import("@modelcontextprotocol/client");
  return error instanceof IssuerMismatchError;
}
