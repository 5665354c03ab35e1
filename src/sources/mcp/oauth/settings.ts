import { createPrivateKey } from "node:crypto";
import type { AddClientAuthentication } from "@modelcontextprotocol/client";
import type { McpServerConfig } from "../../../config/mcp-server.js";
import type { LoadedConfig } from "../../../config/types.js";
import type { SecretAccess } from "../../../tool/tool.js";
import { interpolate } from "../interpolate.js";

/** What signing in to one server needs to know. */
export interface OAuthSettings {
  readonly server: string;
  /** With the variables of its address filled in. */
  readonly config: Pick<
    McpServerConfig,
    "url" | "auth" | "oauth_client_id" | "oauth_client_secret" | "oauth_scopes"
  >;
  readonly host: { readonly config: LoadedConfig; readonly secrets: SecretAccess };
}

/** The same with the variables of the client filled in. */
export function filled(settings: OAuthSettings): OAuthSettings {
  const { server, config, host } = settings;
  const fill = (key: "oauth_client_id" | "oauth_client_secret") =>
    interpolate(config[key], `mcp_servers.${server}.${key}`, host.config.env);
  const secret = fill("oauth_client_secret");
  if (secret !== "") host.secrets.add(`mcp:${server}.client_secret`, secret);
  return {
    server,
    host,
    config: { ...config, oauth_client_id: fill("oauth_client_id"), oauth_client_secret: secret },
  };
}

/** Where the browser comes back to: the ports a login may use, in order. */
export const CALLBACK_PORTS = [27_890, 27_891, 27_892, 27_893, 27_894] as const;

export function callbackUrl(port: number): string {
  return `http://127.0.0.1:${port}/callback`;
}

/** A client id that is an https address is a document that describes us: no registration is needed. */
export function metadataDocument({ config }: OAuthSettings): string | undefined {
  return /^https:\/\/[^/]+\/./i.test(config.oauth_client_id) ? config.oauth_client_id : undefined;
}

/** The client that was registered by hand, if there is one. */
export function fixedClient(
  settings: OAuthSettings,
): { readonly client_id: string; readonly client_secret?: string } | undefined {
  const { oauth_client_id: id, oauth_client_secret: secret } = settings.config;
  if (id === "" || metadataDocument(settings) !== undefined) return undefined;
  return secret === "" || isPrivateKey(secret) ? { client_id: id } : { client_id: id, client_secret: secret };
}

/** Whether this server can be used without a person: a client with a secret or a key of its own. */
export function hasOwnCredentials({ config }: OAuthSettings): boolean {
  return config.oauth_client_id !== "" && config.oauth_client_secret !== "";
}

export function isPrivateKey(secret: string): boolean {
  return /^\s*-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----/.test(secret);
}

/** How a client with a private key proves who it is; undefined when it has none. */
export async function keyAuthentication(
  settings: OAuthSettings,
): Promise<AddClientAuthentication | undefined> {
  const { oauth_client_id: id, oauth_client_secret: secret } = settings.config;
  if (!isPrivateKey(secret)) return undefined;
  const { createPrivateKeyJwtAuth } = await import("@modelcontextprotocol/client");
  // Where a variable has to fit on one line, the line ends of a key are written as \\n.
  const key = createPrivateKey(secret.trim().replaceAll("\\n", "\n"));
  const privateKey = key.export({ type: "pkcs8", format: "pem" }).toString();
  return createPrivateKeyJwtAuth({ issuer: id, subject: id, privateKey, alg: algorithmOf(key) });
}

function algorithmOf(key: ReturnType<typeof createPrivateKey>): string {
  if (key.asymmetricKeyType !== "ec") return "RS256";
  switch (key.asymmetricKeyDetails?.namedCurve) {
    case "secp384r1":
      return "ES384";
    case "secp521r1":
      return "ES512";
    default:
      return "ES256";
  }
}

export function wantedScope({ config }: OAuthSettings): string | undefined {
  return config.oauth_scopes.length === 0 ? undefined : config.oauth_scopes.join(" ");
}
