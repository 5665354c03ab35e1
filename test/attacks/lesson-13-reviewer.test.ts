import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Approver, PermanentGrants, Verdict } from "../../src/call/scope.js";
import { createReviewer } from "../../src/policy/reviewer/reviewer.js";
import { type ModelServer, modelServer } from "../reviewer/model-server.js";
import { onTestEnd, testRuntime } from "../support/runtime.js";
import { tool } from "./support.js";

const answer = (decision: string) => ({ says: JSON.stringify({ decision, reason: "so I think" }) });
const ASK: Verdict = {
  verdict: "ask",
  rule: "recursive-delete",
  reason: "deletes a folder",
  grantKeys: ["recursive-delete"],
  remember: ["rm -rf build"],
};

/** A session whose policy gives `verdict` and whose questions go to the scripted model first. */
async function reviewed(verdict: Verdict, options: { approver?: Approver; hook?: boolean } = {}) {
  const server = await modelServer();
  onTestEnd(async () => server[Symbol.asyncDispose]());
  const ran: unknown[] = [];
  const subject = tool("subject", (args) => {
    ran.push(args);
    return "done";
  });
  const { runtime, home, logged } = await testRuntime(
    [
      {
        ...subject,
        effects: () => [{ action: "terminal:execute", resource: "rm -rf build", mode: "execute" }],
      },
    ],
    { policy: { decide: () => verdict } },
  );
  if (options.hook) runtime.hooks.on("pre_tool_call", () => ({ action: "ask", message: "really?" }));
  const remembered: string[] = [];
  const permanentGrants: PermanentGrants = {
    remember: async (entries) => void remembered.push(...entries),
    countUse: () => undefined,
  };
  const plain = await runtime.openSession(options.approver && { approver: options.approver });
  const reviewer = createReviewer({ url: server.url, model: "judge", timeoutMs: 20_000 });
  const services = { ...plain.scope.services, reviewer, permanentGrants };
  const session = plain.withServices(services);
  const call = () => session.call({ name: "subject", arguments: { x: 1 } });
  return { server, session, call, ran, remembered, home, logged };
}

function approver(reply: "once" | "deny"): Approver & { asked: (string | undefined)[] } {
  const asked: (string | undefined)[] = [];
  return {
    asked,
    async ask(request) {
      asked.push(request.review);
      return reply;
    },
  };
}

function sayNext(server: ModelServer, decision: string): void {
  server.script = answer(decision);
}

describe("lesson 13: a reviewer model may say yes once, and can break nothing", () => {
  it("its yes runs this one call and is remembered nowhere", async () => {
    const { server, session, call, ran, remembered, home } = await reviewed(ASK);
    sayNext(server, "APPROVE");
    expect(await call()).toMatchObject({ ok: true, decision: { verdict: "ask", answer: "reviewer" } });
    expect(server.received).toHaveLength(1);
    expect([...session.scope.grants]).toEqual([]);
    sayNext(server, "DENY");
    expect((await call()).error?.code).toBe("denied");
    expect(server.received).toHaveLength(2);
    expect([ran.length, remembered]).toEqual([1, []]);
    expect(() => readFileSync(join(home, "config.yaml"))).toThrow("ENOENT");
  });

  it("what the policy denies, hardline included, never reaches it", async () => {
    for (const rule of ["approvals.deny:rm *", "hardline.root", "profile:readonly/terminal:execute"]) {
      const { server, call, ran } = await reviewed({ verdict: "deny", rule, reason: "never" });
      sayNext(server, "APPROVE");
      expect(await call()).toMatchObject({ ok: false, decision: { verdict: "deny", rule } });
      expect([server.received, ran]).toEqual([[], []]);
    }
  });

  it("questions that only a person may answer, and questions of hooks, are not for it", async () => {
    const person = approver("deny");
    for (const { verdict, hook } of [
      { verdict: { ...ASK, personOnly: true }, hook: false },
      { verdict: ASK, hook: true },
    ]) {
      const { server, call, ran } = await reviewed(verdict, { approver: person, hook });
      sayNext(server, "APPROVE");
      expect((await call()).error?.code).toBe("denied");
      expect([server.received, ran]).toEqual([[], []]);
    }
    expect(person.asked).toHaveLength(2);
  });

  it("after three denials a person decides, until the person has spoken again", async () => {
    const person = approver("once");
    const { server, session, call, ran } = await reviewed(ASK, { approver: person });
    sayNext(server, "DENY");
    const denied = [await call(), await call(), await call()];
    for (const result of denied) expect(result.decision).toMatchObject({ answer: "deny", by: "reviewer" });
    expect(denied[0]?.error?.hint).toContain("Do not retry");
    expect(denied[2]?.error?.hint).toContain("third denial");
    expect([server.received.length, person.asked, ran.length]).toEqual([3, [], 0]);
    expect((await call()).decision).toMatchObject({ answer: "once" });
    expect(server.received).toHaveLength(3);
    expect(person.asked[0]).toContain("denied three times");
    expect((await call()).decision).toMatchObject({ answer: "deny", by: "reviewer" });
    expect(server.received).toHaveLength(4);
    await call();
    session.beginTurn();
    for (let count = 0; count < 3; count++) expect((await call()).error?.code).toBe("denied");
    expect([server.received.length, person.asked.length, ran.length]).toEqual([8, 1, 1]);
  });

  it("with nobody to ask, escalating and every failure of its server are a denial", async () => {
    const { server, call, ran } = await reviewed(ASK);
    const scripts = [answer("ESCALATE"), answer("approve"), { status: 500 }, { hangup: true }, { body: "?" }];
    for (const script of scripts) {
      server.script = script;
      expect(await call()).toMatchObject({
        ok: false,
        error: { code: "denied", message: expect.stringContaining("nobody can be asked") },
        decision: { verdict: "ask", answer: "nobody" },
      });
    }
    expect([server.received.length, ran]).toEqual([scripts.length, []]);
  });

  it("a person who is asked after it sees what it said, and decides alone", async () => {
    const person = approver("deny");
    const { server, call, ran } = await reviewed(ASK, { approver: person });
    sayNext(server, "ESCALATE");
    expect((await call()).decision).toMatchObject({ answer: "deny" });
    expect([person.asked, ran]).toEqual([["so I think"], []]);
  });
});

describe("lesson 13: the configuration decides whether there is a reviewer at all", () => {
  it.each([
    { mode: "smart", asked: 1, ok: true },
    { mode: "manual", asked: 0, ok: false },
  ])("mode $mode", async ({ mode, asked, ok }) => {
    const server = await modelServer(answer("APPROVE"));
    onTestEnd(async () => server[Symbol.asyncDispose]());
    const subject = tool("subject", () => "done");
    const { runtime } = await testRuntime([subject], {
      policy: { decide: () => ASK },
      flags: {
        "approvals.mode": mode,
        "approvals.reviewer.url": server.url,
        "approvals.reviewer.model": "judge",
      },
    });
    const session = await runtime.openSession();
    expect((await session.call({ name: "subject" })).ok).toBe(ok);
    expect(server.received).toHaveLength(asked);
  });

  it("smart without an address or a model asks the person", async () => {
    const person = approver("once");
    for (const more of [{}, { "approvals.reviewer.url": "http://127.0.0.1:9" }]) {
      const { runtime } = await testRuntime([tool("subject", () => "done")], {
        policy: { decide: () => ASK },
        flags: { "approvals.mode": "smart", ...more },
      });
      const session = await runtime.openSession({ approver: person });
      expect((await session.call({ name: "subject" })).ok).toBe(true);
    }
    expect(person.asked).toEqual([undefined, undefined]);
  });
});
