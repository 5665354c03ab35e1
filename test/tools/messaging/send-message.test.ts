import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { ApprovalRequest } from "../../../src/call/scope.js";
import { startMailServer } from "../../support/mail-server.js";
import { testRuntime } from "../../support/runtime.js";
import { startSite } from "../network/site.js";

const SECRET = "a-secret-that-two-share";

async function messenger(flags: Readonly<Record<string, unknown>>) {
  const { runtime, logged } = await testRuntime([], { builtins: true, flags });
  const asked: ApprovalRequest[] = [];
  const session = await runtime.openSession({
    approver: {
      ask: async (request) => {
        asked.push(request);
        return "once";
      },
    },
  });
  return {
    asked,
    logged,
    call: (args: Readonly<Record<string, unknown>>, signal?: AbortSignal) =>
      session.call({ name: "send_message", arguments: args }, { signal }),
  };
}

/** A receiver that keeps what it was sent. */
async function startReceiver(status = 204) {
  const signatures: (string | undefined)[] = [];
  const site = await startSite({
    "/hooks/token-in-the-path": (request, response) => {
      signatures.push(request.headers["x-hermes-signature"]?.toString());
      response
        .writeHead(status, status === 302 ? { location: "/elsewhere" } : {})
        .end("what a receiver says");
    },
    "/elsewhere": "moved",
  });
  const url = `${site.base}/hooks/token-in-the-path`;
  return { ...site, url, signatures, flags: { webhooks: { build: { url, secret: SECRET } } } };
}

describe("send_message to a webhook", () => {
  it("signs time and body, names whom it reached, and shows neither address nor secret", async () => {
    const receiver = await startReceiver();
    const { call, asked, logged } = await messenger(receiver.flags);
    const result = await call({ target: "webhook:build", message: "Grüße: fertig ✓" });
    expect(result.structured).toMatchObject({
      success: true,
      status: "success",
      target: "webhook:build",
      reached: [`webhook:build (${new URL(receiver.base).host})`],
      receipt: "HTTP 204",
    });
    const body = receiver.bodies[0] ?? "";
    const { message_id } = result.structured as { message_id: string };
    expect(JSON.parse(body)).toEqual({ id: message_id, text: "Grüße: fertig ✓" });
    const [, time, hex] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(receiver.signatures[0] ?? "") ?? [];
    expect(Math.abs(Date.now() / 1000 - Number(time))).toBeLessThan(10);
    expect(hex).toBe(createHmac("sha256", SECRET).update(`${time}.${body}`).digest("hex"));
    expect(asked).toEqual([]);
    expect(JSON.stringify([result, logged])).not.toMatch(/token-in-the-path|a-secret-that/);
  });

  it.each([
    [401, "webhooks.build.secret"],
    [404, "webhooks.build.url"],
    [500, "Try again later"],
    [302, "It has moved"],
  ])("that answers %d did not take it", async (status, hint) => {
    const receiver = await startReceiver(status);
    const { call } = await messenger(receiver.flags);
    const { error } = await call({ target: "webhook:build", message: "x" });
    expect(error?.message).toContain(`answered ${status}`);
    expect(error?.hint).toContain(hint);
    expect(receiver.seen).toEqual(["POST /hooks/token-in-the-path"]);
    expect(JSON.stringify(error)).not.toContain("token-in-the-path");
  });

  it("that is not there is an error without its address", async () => {
    const { call } = await messenger({
      webhooks: { build: { url: "http://127.0.0.1:9919/hooks/token-in-the-path", secret: SECRET } },
    });
    const { error } = await call({ target: "webhook:build", message: "x" });
    expect(error?.message).toMatch(/refused/);
    expect(JSON.stringify(error)).not.toContain("token-in-the-path");
  });
});

describe("send_message by mail", () => {
  it("asks with the recipient, sends the first line as subject and gives the receipt", async () => {
    const server = await startMailServer();
    const { call, asked } = await messenger({
      "email.smtp_url": server.url,
      "email.from": "hermes@example.org",
    });
    const result = await call({ target: "email:Ada <ada@example.org>", message: "Build done\n\nAll green." });
    expect(result.structured).toMatchObject({ success: true, reached: ["ada@example.org"] });
    expect((result.structured as { receipt: string }).receipt).toContain("queued as 4711");
    expect(asked.map(({ reason }) => reason)).toEqual([
      'would send the e-mail "Build done" to ada@example.org',
    ]);
    expect(server.received[0]?.raw).toContain("Subject: Build done");
    await call({ target: "email:ada@example.org", subject: "Other", message: "x" });
    expect(server.received[1]?.raw).toContain("Subject: Other");
  });

  it("to somebody the server refuses is an error", async () => {
    const server = await startMailServer();
    const { call } = await messenger({
      "email.smtp_url": server.url,
      "email.from": "hermes@example.org",
    });
    const { error } = await call({ target: "email:nobody@example.org", message: "x" });
    expect(error?.message).toContain("nobody@example.org");
  });
});

describe("targets", () => {
  it("are listed with where they lead, without keys", async () => {
    const { call } = await messenger({
      "email.smtp_url": "smtp://hermes%40example.org:some-password@127.0.0.1:2525",
      webhooks: {
        build: { url: "https://hooks.example.org/T0/secret-path", secret: SECRET },
        incoming: { secret: SECRET },
      },
    });
    const { structured } = await call({ action: "list" });
    expect((structured as { targets: unknown }).targets).toEqual([
      { target: "webhook:build", about: "hooks.example.org" },
      { target: "email:ADDRESS", about: "any mail address; sent from hermes@example.org" },
    ]);
  });

  it.each([
    "webhook:other",
    "webhook:incoming",
    "webhook:__proto__",
    "telegram:123",
    "build",
    "email:ada@example.org",
    "",
  ])("%j is nobody here: an error that names the known ones, and nothing is sent", async (target) => {
    const receiver = await startReceiver();
    const { call } = await messenger({
      webhooks: { ...receiver.flags.webhooks, incoming: { secret: SECRET } },
    });
    const { error } = await call({ target, message: "for one person only" });
    expect(error?.code).toBe("invalid_arguments");
    expect(`${error?.message} ${error?.hint}`).toContain("webhook:build");
    expect(receiver.seen).toEqual([]);
  });

  it("without any the tool is unavailable", async () => {
    const { call } = await messenger({});
    expect((await call({ action: "list" })).error).toMatchObject({ code: "unavailable" });
  });
});
