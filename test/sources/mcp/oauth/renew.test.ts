import { writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { login } from "../../../../src/sources/mcp/oauth/login.js";
import { oauthFor } from "../../../../src/sources/mcp/oauth/provider.js";
import { LoginNeeded } from "../../../../src/sources/mcp/oauth/renew.js";
import { readLogin, tokenFile } from "../../../../src/sources/mcp/oauth/token-store.js";
import { authorizationServer, settingsFor, willingPerson } from "./world.js";

async function loggedIn(options?: Parameters<typeof authorizationServer>[0]) {
  const server = await authorizationServer(options);
  const world = await settingsFor(server.url);
  await login({ settings: world, openBrowser: async () => willingPerson() });
  const stored = () => readLogin(tokenFile(world.home, "shop"));
  return { server, world, stored };
}

describe("renewal of tokens", () => {
  it("happens once for requests that fail together, and the new refresh token is kept", async () => {
    const { server, world, stored } = await loggedIn();
    const before = stored()?.tokens?.refresh_token;
    server.expireAccess();
    const send = oauthFor(world);
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => send(server.url, { method: "POST", body: "{}" })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect(server.count("token refresh_token")).toBe(1);
    expect(stored()?.tokens?.refresh_token).not.toBe(before);
  });

  it("happens once for several programs: the second takes what the first got", async () => {
    const { server, world } = await loggedIn({ refreshDelayMs: 50 });
    server.expireAccess();
    const programs = await Promise.all(
      Array.from({ length: 4 }, () => settingsFor(server.url, { home: world.home })),
    );
    const answers = await Promise.all(
      programs.map((program) => oauthFor(program)(server.url, { method: "POST", body: "{}" })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    // A second use of one refresh token would have ended the login.
    expect(server.count("token refresh_token")).toBe(1);
  });

  it("comes before the end, so that no request has to fail first", async () => {
    const { server, world, stored } = await loggedIn();
    const almostOver = { ...stored(), expires_at: Date.now() + 5_000 };
    writeFileSync(tokenFile(world.home, "shop"), JSON.stringify(almostOver));
    const before = server.count("POST /mcp");
    const send = oauthFor(world);
    expect((await send(server.url, { method: "POST" })).status).toBe(200);
    expect((await send(server.url, { method: "POST" })).status).toBe(200);
    expect(server.count("POST /mcp")).toBe(before + 2);
    expect(server.count("token refresh_token")).toBe(1);
  });

  it("is not repeated with each request when tokens live for seconds", async () => {
    const { server, world } = await loggedIn({ expiresIn: 20 });
    const send = oauthFor(world);
    for (let round = 0; round < 3; round += 1)
      expect((await send(server.url, { method: "POST" })).status).toBe(200);
    expect(server.count("token refresh_token")).toBe(0);
  });

  it("also finds a way when another program's new token has ended meanwhile", async () => {
    const { server, world, stored } = await loggedIn();
    const idle = oauthFor(world);
    expect((await idle(server.url, { method: "POST" })).status).toBe(200);
    server.expireAccess();
    const busy = oauthFor(await settingsFor(server.url, { home: world.home }));
    expect((await busy(server.url, { method: "POST" })).status).toBe(200);
    server.expireAccess();
    const { expires_at: _, ...unknownEnd } = stored() ?? { url: "" };
    writeFileSync(tokenFile(world.home, "shop"), JSON.stringify(unknownEnd));
    expect((await idle(server.url, { method: "POST" })).status).toBe(200);
    expect(server.count("token refresh_token")).toBe(2);
  });

  it("keeps the login while the authorization server is away, and uses it afterwards", async () => {
    const { server, world, stored } = await loggedIn();
    server.expireAccess();
    server.isAway = true;
    const send = oauthFor(world);
    await expect(send(server.url, { method: "POST" })).rejects.toThrow("could not be refreshed");
    expect(stored()?.tokens?.refresh_token).toBeDefined();
    server.isAway = false;
    expect((await send(server.url, { method: "POST" })).status).toBe(200);
  });

  it("quotes little of a page that stands in the place of an answer", async () => {
    const { server, world } = await loggedIn();
    server.expireAccess();
    server.tokenPage = `<h1>out of order</h1>${"<p>".repeat(100_000)}`;
    const failed = await oauthFor(world)(server.url, { method: "POST" }).catch((error: unknown) => error);
    expect(String(failed)).toContain("could not be refreshed");
    expect(String(failed).length).toBeLessThan(5_000);
  });

  it("asks for a login when the refresh token no longer serves, and forgets it", async () => {
    const { server, world, stored } = await loggedIn();
    const { refresh_token: token = "" } = stored()?.tokens ?? {};
    await fetch(`${server.origin}/revoke`, { method: "POST", body: new URLSearchParams({ token }) });
    server.expireAccess();
    const failure = await oauthFor(world)(server.url, { method: "POST" }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(LoginNeeded);
    expect(stored()?.tokens).toBeUndefined();
    expect(stored()?.client).toBeDefined();
  });

  it("does not ask for a login that was in vain already", async () => {
    const { server, world } = await loggedIn({ scopes: ["read"], withheld: "admin" });
    server.neededScopes = ["read", "admin"];
    await expect(oauthFor(world)(server.url, { method: "POST" })).rejects.toBeInstanceOf(LoginNeeded);
    await login({ settings: world, openBrowser: async () => willingPerson() });
    const again = await oauthFor(world)(server.url, { method: "POST" }).catch((error: unknown) => error);
    expect(again).not.toBeInstanceOf(LoginNeeded);
    expect(String(again)).toContain('asks for the scope "admin" again');
  });

  it("more rights: the server says which, and the next login asks for all of them", async () => {
    const { server, world, stored } = await loggedIn({ scopes: ["read"] });
    server.neededScopes = ["read", "write"];
    const send = oauthFor(world);
    await expect(send(server.url, { method: "POST" })).rejects.toThrow("asks for more rights: write");
    expect(stored()?.wanted_scope).toBe("read write");
    const person = willingPerson();
    await login({ settings: world, openBrowser: async () => person });
    expect(person.visited[0]?.searchParams.get("scope")).toBe("read write");
    // The same program goes on with what the login brought.
    expect((await send(server.url, { method: "POST" })).status).toBe(200);
    server.neededScopes = ["admin"];
    await expect(send(server.url, { method: "POST" })).rejects.toBeInstanceOf(LoginNeeded);
    await login({ settings: world, openBrowser: async () => willingPerson() });
    server.neededScopes = ["admin", "root"];
    await expect(send(server.url, { method: "POST" })).rejects.toBeInstanceOf(LoginNeeded);
  });
});

describe("a client of its own", () => {
  const machine = {
    auth: "client_credentials",
    oauth_client_id: "robot",
    oauth_client_secret: "s3cret-of-robot",
  } as const;

  it("signs in without a person, and again when the token ends", async () => {
    const server = await authorizationServer({ grants: ["client_credentials", "authorization_code"] });
    server.clients.set("robot", { secret: "s3cret-of-robot", redirectUris: [] });
    const world = await settingsFor(server.url, { config: machine });
    const send = oauthFor(world);
    expect((await send(server.url, { method: "POST" })).status).toBe(200);
    server.expireAccess();
    expect((await send(server.url, { method: "POST" })).status).toBe(200);
    expect(server.count("token client_credentials")).toBe(2);
    const stored = readLogin(tokenFile(world.home, "shop"));
    expect(stored?.machine).toBe(true);
    expect(JSON.stringify(stored)).not.toContain("s3cret-of-robot");
  });

  it("needs no such setting where people cannot log in at all", async () => {
    const server = await authorizationServer({ grants: ["client_credentials"] });
    server.clients.set("robot", { secret: "s3cret-of-robot", redirectUris: [] });
    const world = await settingsFor(server.url, { config: { ...machine, auth: "oauth" } });
    expect((await oauthFor(world)(server.url, { method: "POST" })).status).toBe(200);
  });

  it("gives its secret to nobody but the authorization server it was first used with", async () => {
    const server = await authorizationServer({ grants: ["client_credentials"] });
    server.clients.set("robot", { secret: "s3cret-of-robot", redirectUris: [] });
    const world = await settingsFor(server.url, { config: machine });
    const send = oauthFor(world);
    await send(server.url, { method: "POST" });
    const thief = await authorizationServer({ grants: ["client_credentials"] });
    server.expireAccess();
    server.authorizationServers = [thief.origin];
    await expect(send(server.url, { method: "POST" })).rejects.toThrow("now names");
    expect(thief.log.filter((entry) => entry.startsWith("token"))).toEqual([]);
  });
});
