import { symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ApprovalRequest } from "../../../src/call/scope.js";
import { selfSigned } from "../../support/certificate.js";
import { type MailServer, startMailServer } from "../../support/mail-server.js";
import { needs } from "../../support/needs.js";
import { onTestEnd, tempDir, testRuntime } from "../../support/runtime.js";

type Sender = Awaited<ReturnType<typeof sender>>;

/** A session that may send through this server, and what a person is asked on the way. */
async function sender(
  server: Pick<MailServer, "url">,
  { home, profile }: { home?: string; profile?: string } = {},
) {
  const { runtime, cwd } = await testRuntime([], {
    builtins: true,
    ...(home !== undefined && { home }),
    flags: { "email.smtp_url": server.url, "email.from": "Hermes <hermes@example.org>" },
  });
  const asked: ApprovalRequest[] = [];
  let answer: "once" | "session" | "deny" = "once";
  const session = await runtime.openSession({
    ...(profile !== undefined && { profile }),
    approver: {
      ask: async (request) => {
        asked.push(request);
        return answer;
      },
    },
  });
  return {
    cwd,
    asked,
    runtime,
    answerWith: (next: typeof answer) => {
      answer = next;
    },
    send: (args: Readonly<Record<string, unknown>>, signal?: AbortSignal) =>
      session.call(
        { name: "email_send", arguments: { subject: "Hello", body: "A line.\n", ...args } },
        { signal },
      ),
  };
}

const structured = (result: Awaited<ReturnType<Sender["send"]>>) =>
  result.structured as { accepted: string[]; rejected: string[]; message_id: string; receipt: string };

describe("email_send", () => {
  it("sends text, HTML and files to everybody, and hidden recipients stay hidden", async () => {
    const server = await startMailServer();
    const { send, cwd } = await sender(server);
    writeFileSync(join(cwd, "figures.csv"), "month,visits\nMay,120\n");
    const result = await send({
      to: ["Ada <ada@example.org>", "bob@example.org"],
      cc: "carol@example.org",
      bcc: ["dora@example.org"],
      reply_to: "answers@example.org",
      subject: "Zahlen für Mai",
      body: "Grüße, siehe Anhang.\n",
      html: "<p>siehe <b>Anhang</b></p>",
      attachments: ["figures.csv"],
    });
    expect(result.error).toBeUndefined();
    const everybody = ["ada@example.org", "bob@example.org", "carol@example.org", "dora@example.org"];
    expect(structured(result)).toMatchObject({ accepted: everybody, rejected: [] });
    expect(structured(result).receipt).toContain("queued as 4711");
    const [mail] = server.received;
    expect(mail).toMatchObject({ from: "hermes@example.org", to: everybody });
    expect(mail?.raw).not.toContain("dora@example.org");
    expect(mail?.raw).toContain("From: Hermes <hermes@example.org>");
    expect(mail?.raw).toContain("To: Ada <ada@example.org>, bob@example.org");
    expect(mail?.raw).toContain("Reply-To: answers@example.org");
    expect(mail?.raw).toContain(`Message-ID: ${structured(result).message_id}`);
    expect(mail?.raw).toContain("<b>Anhang</b>");
    expect(mail?.raw).toContain("filename=figures.csv");
    expect(mail?.raw).toContain(Buffer.from("month,visits\nMay,120\n").toString("base64"));
  });

  it("takes a list that a model wrote as a text", async () => {
    const { send, asked } = await sender(await startMailServer());
    const result = await send({ to: '["ada@example.org", "Bob <bob@example.org>"]' });
    expect(structured(result).accepted).toEqual(["ada@example.org", "bob@example.org"]);
    expect(asked[0]?.reason).toContain("to ada@example.org, bob@example.org");
    expect((await send({ to: "[ada@example.org" })).error?.code).toBe("invalid_arguments");
  });

  it("names those the server refused; refused by all is an error", async () => {
    const server = await startMailServer();
    const { send } = await sender(server);
    const some = await send({ to: ["ada@example.org", "nobody@example.org"] });
    expect(some.structured).toMatchObject({
      success: true,
      accepted: ["ada@example.org"],
      rejected: ["nobody@example.org"],
      refusals: [{ address: "nobody@example.org", reason: expect.stringContaining("no such mailbox") }],
    });
    const none = await send({ to: "nobody1@example.org, nobody2@example.org" });
    expect(none.error?.message).toContain("nobody2@example.org (550 there is no such mailbox)");
    expect(server.received).toHaveLength(1);
  });

  it("asks with the recipients in the question; no is no", async () => {
    const server = await startMailServer();
    const { send, asked, answerWith } = await sender(server);
    answerWith("deny");
    const result = await send({ to: "Ada <ada@example.org>", bcc: "eve@example.org" });
    expect(result.error?.code).toBe("denied");
    expect(asked.map(({ reason }) => reason)).toEqual([
      'would send the e-mail "Hello" to ada@example.org, eve@example.org',
    ]);
    expect(server.received).toEqual([]);
  });

  it("a yes for the session is for these people and for words, not for files", async () => {
    const server = await startMailServer();
    const { send, asked, answerWith, cwd } = await sender(server);
    answerWith("session");
    await send({ to: "ada@example.org" });
    await send({ to: "ada@example.org", subject: "Again" });
    expect(asked).toHaveLength(1);
    await send({ to: ["ada@example.org", "bob@example.org"] });
    expect(asked).toHaveLength(2);
    writeFileSync(join(cwd, "notes.txt"), "x");
    await send({ to: "ada@example.org", attachments: ["notes.txt"] });
    expect(asked).toHaveLength(3);
    expect(asked[2]?.reason).toContain(join(cwd, "notes.txt"));
    expect(server.received).toHaveLength(4);
  });

  it("is not asked where a rule names message:send; a rule about everything is not enough", async () => {
    const server = await startMailServer();
    const wide = await sender(server);
    await wide.send({ to: "ada@example.org" });
    expect(wide.asked).toHaveLength(1);
    for (const rule of ["allow: [message:send]", "tools: { email_send: allow }"]) {
      const home = tempDir();
      writeFileSync(join(home, "hermes_permissions.yaml"), `profiles:\n  postman:\n    ${rule}\n`);
      const named = await sender(server, { home, profile: "postman" });
      const result = await named.send({ to: "ada@example.org" });
      expect([result.error, named.asked]).toEqual([undefined, []]);
    }
  });

  it("a file leaves only when it is named, and secrets not at all", async () => {
    const server = await startMailServer();
    const { send, cwd, runtime } = await sender(server);
    writeFileSync(join(cwd, "secret.txt"), "launch codes");
    await send({
      to: "ada@example.org",
      body: `MEDIA:${join(cwd, "secret.txt")} see secret.txt`,
      html: "<img src='secret.txt'>",
    });
    expect(server.received[0]?.raw).not.toContain("launch codes");
    expect(server.received[0]?.raw).not.toContain(Buffer.from("launch codes").toString("base64"));
    symlinkSync(join(runtime.config.paths.home, "approvals.key"), join(cwd, "harmless.txt"));
    writeFileSync(join(runtime.config.paths.home, "approvals.key"), "k");
    const refused = await send({ to: "ada@example.org", attachments: ["harmless.txt"] });
    expect(refused.error?.code).toMatch(/denied|blocked/);
    expect(server.received).toHaveLength(1);
  });

  it.each([
    [{ to: "ada" }, "no mail address"],
    [{ to: "ada@example.org>, <eve@example.org" }, ""],
    [{ to: [] }, "nobody in to"],
    [{ to: "ada@example.org", reply_to: "x" }, "reply_to"],
    [{ to: "ada@example.org", attachments: ["gone.txt"] }, "gone.txt does not exist"],
    [{ to: "ada@example.org", attachments: ["."] }, "is not a file"],
    [{ to: "ada@example.org", subject: "a\r\nBcc: eve@example.org" }, "subject"],
  ])("sends nothing when something is wrong: %j", async (args, words) => {
    const server = await startMailServer();
    const { send } = await sender(server);
    const result = await send(args);
    if (words !== "") expect(result.error?.message).toContain(words);
    for (const mail of server.received) expect(mail.raw).not.toContain("Bcc");
    if (words !== "") expect(server.received).toEqual([]);
  });

  it("is unavailable without a server, with the command that mends it", async () => {
    const { runtime } = await testRuntime([], { builtins: true });
    const session = await runtime.openSession();
    const { error } = await session.call({
      name: "email_send",
      arguments: { to: "ada@example.org", subject: "x", body: "x" },
    });
    expect([error?.code, `${error?.message} ${error?.hint}`]).toEqual([
      "unavailable",
      expect.stringContaining("hermes config set email.smtp_url"),
    ]);
  });
});

describe("the mail server", () => {
  const login = {
    authOptional: false,
    onAuth: (
      auth: { username?: string | undefined; password?: string | null | undefined },
      _session: unknown,
      done: (error: Error | null, answer?: { user: string }) => void,
    ) =>
      auth.username === "hermes" && auth.password === "p@ss/wörd"
        ? done(null, { user: "hermes" })
        : done(new Error("wrong password")),
  };

  it("is logged in to over TLS, from the first byte or from STARTTLS on", async (context) => {
    needs(context, "openssl");
    const pair = selfSigned();
    for (const [scheme, secure] of [
      ["smtps", true],
      ["smtp", false],
    ] as const) {
      const server = await startMailServer({ ...pair, ...login, secure });
      const password = encodeURIComponent("p@ss/wörd");
      const { send } = await sender({ url: `${scheme}://hermes:${password}@127.0.0.1:${server.port}` });
      expect((await send({ to: "ada@example.org" })).error).toBeUndefined();
      expect(server.received).toMatchObject([{ user: "hermes", encrypted: true }]);
    }
  });

  it("a certificate nobody has signed is refused where certificates are checked", async (context) => {
    needs(context, "openssl");
    const server = await startMailServer({ ...selfSigned(), secure: true });
    const { send } = await sender({
      url: `smtps://127.0.0.1:${server.port}?tls.rejectUnauthorized=true`,
    });
    expect((await send({ to: "ada@example.org" })).error?.message).toContain("self-signed certificate");
    expect(server.received).toEqual([]);
  });

  it("a password is not sent where encryption is wanted and the server has none", async () => {
    const seen: string[] = [];
    const server = await startMailServer({
      allowInsecureAuth: true,
      onAuth: ({ username }, _session, done) => {
        seen.push(username ?? "");
        done(null, { user: "x" });
      },
    });
    const { send } = await sender({
      url: `smtp://hermes:secret-word@127.0.0.1:${server.port}?requireTLS=true`,
    });
    const { error } = await send({ to: "ada@example.org" });
    expect(error?.hint).toContain("encrypted");
    expect(seen).toEqual([]);
  });

  it("a wrong password is told without the password", async () => {
    const server = await startMailServer({ ...login, allowInsecureAuth: true });
    const { send } = await sender({ url: `smtp://hermes:not-the-password@127.0.0.1:${server.port}` });
    const { error } = await send({ to: "ada@example.org" });
    expect(error?.hint).toContain("user and password");
    expect(JSON.stringify(error)).not.toContain("not-the-password");
  });

  it("that is not there or says nothing is an error; a cancelled call lets go of it", async () => {
    const gone = await sender({ url: "smtp://127.0.0.1:1" });
    expect((await gone.send({ to: "ada@example.org" })).error?.message).toContain("refused");
    let open = 0;
    const silent = createServer((socket) => {
      open += 1;
      socket.on("error", () => undefined);
      socket.on("close", () => {
        open -= 1;
      });
      socket.resume();
    });
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    onTestEnd(() => void silent.close());
    const { port } = silent.address() as { port: number };
    const { send } = await sender({ url: `smtp://127.0.0.1:${port}` });
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 200);
    expect((await send({ to: "ada@example.org" }, stop.signal)).error?.code).toBe("cancelled");
    await expect.poll(() => open).toBe(0);
  });
});
