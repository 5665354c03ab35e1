import { describe, expect, it } from "vitest";
import { ROUTES } from "../../../src/server/routes.js";
import { startServer } from "../support.js";
import { countingTool, echo } from "../tools.js";
import { CALL_TOKEN, openBrowser } from "./support.js";

/** Everything that loosens or changes; a new one must be written down here. */
const NEEDS_THE_KEY = [
  "DELETE /v1/permissions/grants/:id",
  "DELETE /v1/sessions/:id",
  "POST /v1/approvals",
  "POST /v1/budget",
  "POST /v1/calls/:id/again",
  "POST /v1/changes",
  "POST /v1/cron/:id",
  "POST /v1/doctor/fix",
  "POST /v1/permissions/accept",
  "POST /v1/processes/kill",
  "POST /v1/sessions/:id/undo",
  "POST /v1/settings",
  "POST /v1/sources/:id/accept",
  "POST /v1/sources/:id/login",
  "POST /v1/sources/:id/reconnect",
  "POST /v1/tools/:name",
];

/** What changes nothing, or is judged like any other call. */
const NEEDS_AN_ORIGIN = [
  "DELETE /mcp",
  "POST /hooks/:name",
  "POST /mcp",
  "POST /v1/chat",
  "POST /v1/chat/:session/steer",
  "POST /v1/chat/:session/stop",
  "POST /v1/chat/completions",
  "POST /v1/permissions/explain",
  "POST /v1/permissions/propose",
  "POST /v1/permissions/simulate",
  "POST /v1/processes/input",
  "POST /v1/tool_calls",
  "POST /v1/tools/:name/foretell",
  "POST /v1/tools/:name/run",
];

const nameOf = ({ method, path }: (typeof ROUTES)[number]) => `${method} ${path}`;
const addressOf = (name: string) => (name.split(" ")[1] ?? "").replace(/:\w+/, "echo");

describe("who may change something", () => {
  it("every address that changes is on one of two lists", () => {
    const changing = ROUTES.filter(({ method }) => method !== "GET");
    const withKey = changing.filter(({ approves }) => approves === true).map(nameOf);
    expect(withKey.sort()).toEqual(NEEDS_THE_KEY);
    expect(
      changing
        .filter(({ approves }) => approves !== true)
        .map(nameOf)
        .sort(),
    ).toEqual(NEEDS_AN_ORIGIN);
  });

  it("nothing changes without the page's key, with the token for calls, or for another page", async () => {
    const { tool, runs } = countingTool();
    const started = await startServer([echo, tool], {
      runtime: { journal: true, flags: { "server.call_token": CALL_TOKEN } },
    });
    const { server, calls } = started;
    await calls({ tool_calls: [{ id: "c", function: { name: "count", arguments: {} } }] });
    const { cookie, key, origin } = await openBrowser(started);
    const right = { cookie, origin, "x-hermes-page": key };
    const refusals: readonly [string, Record<string, string>, number][] = [
      ["nobody", {}, 401],
      ["a stranger's token", { authorization: "Bearer stranger" }, 401],
      ["the token for calls", { authorization: `Bearer ${CALL_TOKEN}` }, 403],
      ["the cookie alone", { cookie }, 403],
      ["the cookie with the origin", { cookie, origin }, 403],
      ["a wrong key", { ...right, "x-hermes-page": `${key}x` }, 403],
      ["the key without the cookie", { origin, "x-hermes-page": key }, 401],
      ["the key without an origin", { cookie, "x-hermes-page": key }, 403],
      ["another page", { ...right, origin: "http://attacker.example" }, 403],
      ["a page that hides where it is from", { ...right, origin: "null" }, 403],
      ["another server of this machine", { ...right, "sec-fetch-site": "same-site" }, 401],
    ];
    for (const name of NEEDS_THE_KEY) {
      const [method = ""] = name.split(" ");
      for (const [who, headers, status] of refusals) {
        const answer = await fetch(new URL(addressOf(name), server.url), {
          method,
          headers,
          ...(method === "POST" && {
            body: '{"enabled":false,"fix":"home","key":"approvals.mode","value":"off"}',
          }),
        });
        expect([name, who, answer.status]).toEqual([name, who, status]);
      }
    }
    expect(runs()).toBe(1);
    expect(started.runtime.config.values.approvals.mode).toBe("manual");
    expect(started.runtime.config.values.tools.disabled).toEqual([]);
  });

  it("what only reads is let in by cookie or token, and by nothing else", async () => {
    const started = await startServer([echo], { runtime: { journal: true } });
    const { server, ask } = started;
    const browser = await openBrowser(started);
    const reading = ["/v1/info", "/v1/calls?brief=1", "/v1/tools/echo", "/v1/sessions", "/v1/cron"].concat([
      "/v1/permissions",
      "/v1/logs",
      "/v1/settings",
      "/v1/sources",
      "/v1/approvals",
    ]);
    for (const path of reading) {
      expect([path, (await fetch(new URL(path, server.url))).status]).toEqual([path, 401]);
      expect([path, (await browser.ask(path)).status]).toEqual([path, 200]);
      expect([path, (await ask(path)).status]).toEqual([path, 200]);
      const foreign = await browser.ask(path, { headers: { origin: "http://attacker.example" } });
      expect([path, foreign.status]).toEqual([path, 403]);
    }
  });
});
