import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { loadConfig } from "../../../../src/config/load.js";
import { SecretRegistry } from "../../../../src/policy/secrets.js";
import type { Browser } from "../../../../src/sources/mcp/oauth/login.js";
import { callbackUrl, type OAuthSettings } from "../../../../src/sources/mcp/oauth/settings.js";
import { AuthorizationServer } from "./authorization-server.js";

const folders: string[] = [];
const servers: AuthorizationServer[] = [];

afterAll(async () => {
  for (const server of servers) await server.stop();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

export function tempHome(): string {
  const folder = mkdtempSync(join(tmpdir(), "hermes-oauth-"));
  folders.push(folder);
  return folder;
}

export async function authorizationServer(
  options?: Parameters<typeof AuthorizationServer.start>[0],
): Promise<AuthorizationServer> {
  const server = await AuthorizationServer.start(options);
  servers.push(server);
  return server;
}

export interface World extends OAuthSettings {
  readonly home: string;
  readonly secrets: SecretRegistry;
}

export async function settingsFor(
  url: string,
  options: { readonly home?: string; readonly config?: Partial<OAuthSettings["config"]> } = {},
): Promise<World> {
  const home = options.home ?? tempHome();
  const config = await loadConfig({ home, cwd: home, env: {}, systemDir: join(home, "etc") });
  const secrets = new SecretRegistry();
  return {
    server: "shop",
    config: {
      url,
      auth: "oauth",
      oauth_client_id: "",
      oauth_client_secret: "",
      oauth_scopes: [],
      ...options.config,
    },
    host: { config, secrets },
    home,
    secrets,
  };
}

/** A person who agrees to everything, with a browser that is not sent on. */
export function willingPerson(port = 27_890): Browser & { readonly visited: URL[] } {
  const visited: URL[] = [];
  return {
    redirectUrl: callbackUrl(port),
    visited,
    async visit(address) {
      visited.push(address);
      const response = await fetch(address, { redirect: "manual" });
      return new URL(response.headers.get("location") ?? "about:blank");
    },
  };
}
