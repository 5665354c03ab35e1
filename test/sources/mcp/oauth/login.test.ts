import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openCallbackServer, openSystemBrowser } from "../../../../src/sources/mcp/oauth/callback-server.js";
import { login } from "../../../../src/sources/mcp/oauth/login.js";
import { logout, oauthFor } from "../../../../src/sources/mcp/oauth/provider.js";
import { readLogin, tokenFile } from "../../../../src/sources/mcp/oauth/token-store.js";
import { until } from "../../../server/support.js";
import { authorizationServer, settingsFor, type World, willingPerson } from "./world.js";

const ask = (world: World) => oauthFor(world)(world.config.url, { method: "POST", body: "{}" });

/** As a page would that has made a name of its own lead to this machine. */
function visitAs(host: string, address: URL): Promise<{ readonly status: number | undefined }> {
  return new Promise((resolve, reject) => {
    get(address, { headers: { host } }, (response) => {
      response.resume();
      resolve({ status: response.statusCode });
    }).on("error", reject);
  });
}

async function loggedIn(options?: Parameters<typeof authorizationServer>[0]) {
  const server = await authorizationServer(options);
  const world = await settingsFor(server.url);
  const person = willingPerson();
  const outcome = await login({ settings: world, openBrowser: async () => person });
  return { server, world, person, outcome };
}

describe("login", () => {
  it("registers, proves who asked with PKCE, and keeps tokens that open the server", async () => {
    const { server, world, person, outcome } = await loggedIn({ scopes: ["read"] });
    expect(outcome).toMatchObject({ kind: "person", scope: "read", refreshable: true });
    expect(outcome.authorizationServer).toContain(server.origin);
    const asked = person.visited[0]?.searchParams;
    expect(asked?.get("code_challenge_method")).toBe("S256");
    expect(asked?.get("resource")).toBe(server.url);
    expect(asked?.get("state")).toMatch(/^[\w-]{43}$/);
    expect(await (await ask(world)).json()).toEqual({ scope: "read" });
    // A second login uses the registration that is there.
    await login({ settings: world, openBrowser: async () => willingPerson(27_893) });
    expect(server.clients.size).toBe(1);
    expect((await ask(world)).status).toBe(200);
  });

  it("keeps them in a file for its owner alone, and shows none of them", async () => {
    const { world } = await loggedIn();
    const file = tokenFile(world.home, "shop");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(world.home, "mcp-tokens")).mode & 0o777).toBe(0o700);
    expect(readdirSync(join(world.home, "mcp-tokens"))).toEqual(["shop.json"]);
    const { tokens } = readLogin(file) ?? {};
    const said = `got ${tokens?.access_token} and ${tokens?.refresh_token}`;
    expect(world.secrets.redact(said)).toBe(
      "got [REDACTED:mcp:shop.access_token] and [REDACTED:mcp:shop.refresh_token]",
    );
  });

  it("is bound to the address: another one never sees the token", async () => {
    const { world } = await loggedIn();
    const stranger = await authorizationServer();
    const moved = await settingsFor(stranger.url, { home: world.home });
    const seen: (string | null)[] = [];
    const request = oauthFor({
      ...moved,
      fetch: async (url, init) => {
        seen.push(new Headers(init?.headers).get("authorization"));
        return fetch(url, init);
      },
    });
    await expect(request(stranger.url, { method: "POST" })).rejects.toThrow("asks for a login");
    expect(seen).toEqual([null]);
    // And the server's own token goes to no address it points at.
    const wide = oauthFor({
      ...world,
      fetch: async (url, init) => {
        seen.push(new Headers(init?.headers).get("authorization"));
        return new Response(String(url));
      },
    });
    await wide(`${stranger.origin}/elsewhere`);
    await wide(world.config.url);
    expect(seen.slice(1)).toEqual([null, expect.stringMatching(/^Bearer access-/)]);
  });

  it("refuses an answer with another state, from another issuer, without a code, or with an error", async () => {
    const server = await authorizationServer();
    const world = await settingsFor(server.url);
    const change = (edit: (address: URL) => void) => {
      const person = willingPerson();
      return login({
        settings: world,
        openBrowser: async () => ({
          ...person,
          visit: async (address, state) => {
            const back = await person.visit(address, state);
            edit(back);
            return back;
          },
        }),
      });
    };
    await expect(change((back) => back.searchParams.set("state", "x"))).rejects.toThrow("its state");
    await expect(change((back) => back.searchParams.set("iss", "https://evil.example"))).rejects.toThrow(
      /iss/i,
    );
    await expect(change((back) => back.searchParams.delete("iss"))).rejects.toThrow(/iss/i);
    await expect(change((back) => back.searchParams.delete("code"))).rejects.toThrow("holds no code");
    await expect(change((back) => back.searchParams.set("error", "access_denied"))).rejects.toThrow(
      "refused the login: access_denied",
    );
    const steering = (back: URL) => {
      back.searchParams.set("error", "denied\u001b]0;owned\u0007");
      back.searchParams.set("error_description", `\u202e${"no".repeat(5_000)}`);
    };
    const message = await change(steering).then(String, (error: Error) => error.message);
    expect(message).toContain("denied\\u{1b}]0;owned\\u{7} (\\u{202e}nono");
    expect(message).not.toMatch(/[\u001b\u0007\u202e]/);
    expect(message.length).toBeLessThan(1_000);
    expect(server.count("token authorization_code")).toBe(0);
    expect(readLogin(tokenFile(world.home, "shop"))?.tokens).toBeUndefined();
  });

  it("says goodbye: tokens are forgotten here and revoked there", async () => {
    const { server, world } = await loggedIn();
    expect(await logout(world)).toEqual({ forgotten: true, revoked: true });
    expect(server.count("POST /revoke")).toBe(1);
    expect(readdirSync(join(world.home, "mcp-tokens"))).toEqual([]);
    expect(await logout(world)).toEqual({ forgotten: false, revoked: false });
    await expect(ask(world)).rejects.toMatchObject({ hint: 'Run "hermes mcp login shop".' });
  });

  it("says goodbye for good: a renewal that is under way does not bring the tokens back", async () => {
    const { server, world } = await loggedIn({ refreshDelayMs: 100 });
    server.expireAccess();
    const renewing = ask(world).catch((error: unknown) => error);
    await until(() => server.count("token refresh_token") === 1);
    expect(await logout(world)).toEqual({ forgotten: true, revoked: true });
    await renewing;
    expect(readdirSync(join(world.home, "mcp-tokens"))).toEqual([]);
  });

  it("takes a damaged file for none", async () => {
    const { world } = await loggedIn();
    writeFileSync(tokenFile(world.home, "shop"), '{"url":');
    await expect(ask(world)).rejects.toThrow("shop asks for a login");
    await login({ settings: world, openBrowser: async () => willingPerson() });
    expect((await ask(world)).status).toBe(200);
    expect(JSON.parse(readFileSync(tokenFile(world.home, "shop"), "utf8"))).toHaveProperty("tokens");
  });

  it("does not follow a server on the internet into the private network", async () => {
    const { world } = await loggedIn();
    const { oauthFetch } = await import("../../../../src/sources/mcp/oauth/oauth-fetch.js");
    const outside = { ...world, config: { ...world.config, url: "https://198.51.100.7/mcp" } };
    const outsideFetch = await oauthFetch(outside);
    await expect(outsideFetch(world.config.url)).rejects.toThrow(/Refused to fetch/);
    const inside = await oauthFetch(world);
    await expect(inside("http://169.254.169.254/latest")).rejects.toThrow(/Refused to fetch/);
    expect((await inside(`${new URL(world.config.url).origin}/nothing`)).status).toBe(404);
  });
});

describe("the way back from the browser", () => {
  it("takes the first visit that carries the state, and turns strangers away", async () => {
    const server = await openCallbackServer([0]);
    const at = (path: string) => new URL(path, server.redirectUrl);
    const arrived = server.wait("right");
    const strangers = await Promise.all([
      fetch(at("/callback?code=x&state=wrong")),
      fetch(at("/callback?code=x")),
      fetch(at("/other?code=x&state=right")),
      fetch(at("/callback?code=x&state=right"), { method: "POST" }),
      visitAs("evil.example", at("/callback?code=x&state=right")),
    ]);
    expect(strangers.map(({ status }) => status)).toEqual([400, 400, 400, 400, 400]);
    const page = await fetch(at("/callback?code=the-code&state=right&note=<script>"));
    expect(page.status).toBe(200);
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(await page.text()).not.toContain("script>");
    expect((await arrived).searchParams.get("code")).toBe("the-code");
    await server.close();
    await expect(fetch(server.redirectUrl)).rejects.toThrow();
  });

  it("uses the next port when one is taken, and says when none is left", async () => {
    const first = await openCallbackServer([0]);
    const taken = Number(new URL(first.redirectUrl).port);
    await expect(openCallbackServer([taken])).rejects.toThrow("all in use");
    const second = await openCallbackServer([taken, 0]);
    expect(new URL(second.redirectUrl).port).not.toBe(String(taken));
    await Promise.all([first.close(), second.close()]);
  });

  it("opens nothing but web addresses", async () => {
    for (const address of ["file:///etc/passwd", "javascript:alert(1)", "vscode://x"])
      expect(await openSystemBrowser(new URL(address))).toBe(false);
  });
});
