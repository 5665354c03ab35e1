import { describe, expect, it } from "vitest";
import { defineTool } from "../../../src/index.js";
import type { AnyTool } from "../../../src/tool/tool.js";
import { until } from "../support.js";
import { accept, type Form, type Person, serve, WAYS } from "./support.js";

/** Needs a yes for every file it is given. */
function shredder() {
  const shredded: string[] = [];
  const tool = defineTool({
    name: "shred",
    description: "Destroys a file.",
    permissions: ["file:delete"],
    parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
    effects: ({ path }, { cwd }) => [
      {
        action: "file:delete",
        resource: `${cwd}/${path}`,
        mode: "write",
        ask: { reason: "it cannot be undone", key: "shredding" },
      },
    ],
    handler: ({ path }) => {
      shredded.push(path);
      return `shredded ${path}`;
    },
  }) as AnyTool;
  return { tool, shredded };
}

const curious = defineTool({
  name: "curious",
  description: "Asks the person.",
  permissions: [],
  parameters: { type: "object", properties: { secret: { type: "boolean", default: false } } },
  async handler({ secret }, ctx) {
    const colour = await ctx.ask({ question: "Which colour?", choices: ["red", "blue"], secret });
    const name = secret ? undefined : await ctx.ask({ question: "What name?" });
    return { colour: colour ?? "none", name: name ?? "none" };
  },
}) as AnyTool;

const call = { name: "shred", arguments: { path: "a.txt" } };

describe.each(WAYS)("over %s, revision %s", (...way) => {
  const open = async (person?: Person) => {
    const { tool, shredded } = shredder();
    const served = await serve(way, { tools: [tool, curious] });
    return { ...served, shredded, client: await served.connect({ person }) };
  };

  it("the person sees what would happen, and the call runs after a yes", async () => {
    const forms: Form[] = [];
    const { client, shredded, cwd } = await open((form) => {
      forms.push(form);
      return accept({ decision: "once" });
    });
    const result = await client.callTool(call);
    expect(result).toMatchObject({ isError: false, content: [{ type: "text", text: "shredded a.txt" }] });
    expect(shredded).toEqual(["a.txt"]);
    const [form] = forms;
    expect(form?.message).toContain("shred asks for approval: it cannot be undone");
    expect(form?.message).toContain("│ a.txt");
    expect(form?.message).toContain(`│ file:delete  ${cwd}/a.txt`);
    expect(form?.fields.decision?.enum).toEqual(
      // Over HTTP, clients of 2026 share one session, so nobody may answer for all of it.
      way[0] === "http" && way[1] === "2026-07-28" ? ["once", "deny"] : ["once", "session", "deny"],
    );
    await client.callTool(call);
    expect(forms).toHaveLength(2);
  });

  it("nothing runs for anything but one of the offered words", async () => {
    const answers = [
      accept({ decision: "deny" }),
      { action: "decline" },
      { action: "cancel" },
      accept({}),
      accept({ decision: "always" }),
      accept({ decision: ["once"] }),
      { action: "decline", content: { decision: "once" } },
    ];
    let answer: unknown;
    const { client, shredded } = await open(() => answer);
    for (answer of answers) {
      const result = await client.callTool(call);
      expect(result, JSON.stringify(answer)).toMatchObject({ isError: true });
      expect(JSON.stringify(result.content)).toContain("the person denied it");
    }
    expect(shredded).toEqual([]);
  });

  it("a tool's own questions are asked, but never for a secret", async () => {
    const asked: string[] = [];
    const { client } = await open(({ message, fields }) => {
      asked.push(message);
      return accept({ answer: fields.answer?.enum?.[1] ?? "Ada" });
    });
    const answered = await client.callTool({ name: "curious", arguments: {} });
    expect(answered.structuredContent).toEqual({ colour: "blue", name: "Ada" });
    expect(asked).toEqual(["Which colour?", "What name?"]);
    const secret = await client.callTool({ name: "curious", arguments: { secret: true } });
    expect(secret.structuredContent).toEqual({ colour: "none", name: "none" });
    expect(asked).toHaveLength(2);
  });

  it("a client that cannot ask: denied at once, or queued where that is configured", async () => {
    const { client, shredded } = await open();
    const denied = await client.callTool(call);
    expect(denied).toMatchObject({ isError: true, _meta: { "hermes-tools/error_code": "denied" } });
    expect(JSON.stringify(denied.content)).toContain("nobody can be asked");

    const { tool, shredded: later } = shredder();
    const served = await serve(way, {
      tools: [tool],
      runtime: { flags: { "approvals.unattended_mode": "queue" } },
    });
    const waiting: { id: string; hash: string }[] = [];
    served.runtime.events.on((event) => {
      if (event.type === "approval.pending") waiting.push(event);
    });
    const patient = await served.connect();
    const result = patient.callTool(call);
    await until(() => waiting.length === 1);
    const { approvals } = served.runtime;
    const { id = "", hash = "" } = waiting[0] ?? {};
    await (await approvals.store()).answer({ id, hash, answer: "once", by: "test" });
    expect(await result).toMatchObject({ isError: false });
    expect(later).toEqual(["a.txt"]);
    expect(shredded).toEqual([]);
  });

  it("an approver named in the configuration is asked in the client's place, whatever the client would say", async () => {
    const { tool, shredded } = shredder();
    const { connect } = await serve(way, {
      tools: [tool],
      // No plugin brings it: then nobody can say yes.
      runtime: { flags: { "approvals.approver": "doorbell" } },
    });
    let asked = 0;
    const person = () => {
      asked += 1;
      return accept({ decision: "once" });
    };
    const client = await connect({ person });
    const refused = await client.callTool(call);
    expect(refused).toMatchObject({ isError: true, _meta: { "hermes-tools/error_code": "denied" } });
    expect(JSON.stringify(refused.content)).toContain("approvals.approver is doorbell");
    expect(asked).toBe(0);
    expect(shredded).toEqual([]);
  });

  it("silence is a no", async () => {
    const { tool, shredded } = shredder();
    const { connect } = await serve(way, { tools: [tool], runtime: { flags: { "approvals.timeout": 0.2 } } });
    const late = () => new Promise((resolve) => setTimeout(() => resolve(accept({ decision: "once" })), 350));
    const client = await connect({ person: late });
    const result = await client.callTool(call);
    expect(result).toMatchObject({
      isError: true,
      _meta: { "hermes-tools/error_code": "timed_out_waiting" },
    });
    expect(shredded).toEqual([]);
  });
});

describe("a session that clients share", () => {
  it("a yes from the queue is for one call, also when it was meant for the session", async () => {
    const { tool, shredded } = shredder();
    const served = await serve(["http", "2026-07-28"], {
      tools: [tool],
      runtime: { flags: { "approvals.unattended_mode": "queue" } },
    });
    const waiting: { id: string; hash: string }[] = [];
    served.runtime.events.on((event) => {
      if (event.type === "approval.pending") waiting.push(event);
    });
    const { approvals } = served.runtime;
    for (const round of [1, 2]) {
      const client = await served.connect();
      const result = client.callTool(call);
      await until(() => waiting.length === round);
      const { id = "", hash = "" } = waiting.at(-1) ?? {};
      await (await approvals.store()).answer({ id, hash, answer: "session", by: "test" });
      expect(await result).toMatchObject({ isError: false });
    }
    expect(shredded).toHaveLength(2);
  });
});
