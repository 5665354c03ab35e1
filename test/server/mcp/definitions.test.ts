import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defineTool } from "../../../src/index.js";
import { advertisedOutput, LEFT_OUT, PromisedOutputs } from "../../../src/server/mcp/output-schema.js";
import { ProgressReporter } from "../../../src/server/mcp/progress.js";
import { approvalText } from "../../../src/server/mcp/questions.js";
import { annotationsOf, PAGE_SIZE, pageOf } from "../../../src/server/mcp/tool-list.js";
import { compileValidator } from "../../../src/tool/validate.js";
import { serve } from "./support.js";

const entry = (permissions: readonly `${string}:${string}`[]) =>
  ({ name: "x", permissions, idempotent: undefined, provenance: { kind: "code" } }) as const;

describe("what a client is told of a tool", () => {
  it.each([
    [["file:read"], { readOnlyHint: true, destructiveHint: false, openWorldHint: false }],
    [[], { readOnlyHint: true, destructiveHint: false, openWorldHint: false }],
    [["network:fetch"], { readOnlyHint: true, openWorldHint: true }],
    [["file:read", "file:write"], { readOnlyHint: false, destructiveHint: true, openWorldHint: false }],
    [["terminal:execute"], { readOnlyHint: false, destructiveHint: true, openWorldHint: true }],
    [["message:send"], { readOnlyHint: false, destructiveHint: false, openWorldHint: true }],
    [["strange:verb"], { readOnlyHint: false, destructiveHint: true }],
  ] as const)("%j → %j", (permissions, hints) => {
    expect(annotationsOf(entry(permissions))).toMatchObject(hints);
  });

  it("what says nothing of its permissions is not taken for harmless, unless it is a part of the program", () => {
    const hints = (kind: "home" | "project" | "plugin" | "builtin") =>
      annotationsOf({ ...entry([]), provenance: { kind } });
    for (const kind of ["home", "project", "plugin"] as const)
      expect(hints(kind)).toMatchObject({ readOnlyHint: false, destructiveHint: true, openWorldHint: true });
    expect(hints("builtin")).toMatchObject({ readOnlyHint: true, destructiveHint: false });
  });

  it("long lists come in pages that hold every tool once, in order, whatever is added in between", async () => {
    const tools = Array.from({ length: 2 * PAGE_SIZE + 7 }, (_, index) =>
      defineTool({
        name: `tool_${String(index).padStart(4, "0")}`,
        description: "one of many",
        permissions: [],
        parameters: { type: "object", properties: {} },
        handler: () => "ok",
      }),
    );
    const { connect } = await serve(["stdio", "2025-11-25"], { tools });
    const client = await connect();
    const { tools: all } = await client.listTools();
    expect(all.map(({ name }) => name)).toEqual(tools.map(({ name }) => name));
    const listed = all.slice(0, PAGE_SIZE + 1);
    const page = pageOf(listed, undefined);
    expect(page?.tools).toHaveLength(PAGE_SIZE);
    const grown = [
      ...listed.slice(0, 3),
      { ...(listed[2] as (typeof listed)[0]), name: "tool_0002b" },
      ...listed.slice(3),
    ];
    expect(pageOf(grown, page?.nextCursor)?.tools.map(({ name }) => name)).toEqual([listed.at(-1)?.name]);
    await expect(client.listTools({ cursor: "made-up" })).rejects.toMatchObject({ code: -32602 });
  });

  it("a promised object is always kept: what is sent fits the schema that was advertised", () => {
    const output = {
      type: "object",
      properties: { rows: { type: "array", items: { type: "integer" } }, note: { type: "string" } },
      required: ["rows"],
      additionalProperties: false,
    } as const;
    const advertised = compileValidator(advertisedOutput(output));
    const promised = new PromisedOutputs();
    const object = fc.dictionary(fc.constantFrom("rows", "note", "other", LEFT_OUT), fc.jsonValue());
    fc.assert(
      fc.property(fc.option(object, { nil: undefined }), fc.boolean(), (structured, truncated) => {
        const sent = promised.objectFor({ output, foreign: false, structured, truncated });
        expect(advertised.check(sent)).toBe(true);
      }),
      { numRuns: 200 },
    );
    expect(
      promised.objectFor({ output, foreign: false, structured: { rows: [1] }, truncated: false }),
    ).toEqual({ rows: [1] });
    expect(advertisedOutput({ type: "array" })).toBeUndefined();
    expect(advertisedOutput({ type: "object", oneOf: [{}] })).toBeUndefined();
    const patterns = { type: "object", patternProperties: { ".": { type: "integer" } }, required: ["rows"] };
    expect(advertisedOutput(patterns)).toBeUndefined();
  });

  it("reports of progress grow from one to the next, whatever a tool says", () => {
    const update = fc.record(
      {
        fraction: fc.oneof(fc.double(), fc.double({ min: 0, max: 1 })),
        message: fc.string(),
        chunk: fc.string(),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(update, { maxLength: 12 }), (updates) => {
        const sent: number[] = [];
        const reporter = new ProgressReporter(({ progress }) => sent.push(progress));
        for (const one of updates) {
          reporter.report(one);
          reporter.end();
        }
        for (let at = 1; at < sent.length; at += 1) expect(sent[at]).toBeGreaterThan(sent[at - 1] as number);
      }),
    );
  });
});

describe("what a person reads before answering", () => {
  const request = {
    id: "apr_1",
    hash: "h",
    callId: "c",
    tool: "terminal",
    effects: [{ action: "terminal:execute", resource: "rm -rf x", mode: "execute" }],
    rule: "danger",
    reason: "it deletes",
    environment: "local",
    environmentKind: "local",
    session: { id: "s", profile: "default", cwd: "/home/me", workspace: "/home/me" },
    door: "mcp",
    segments: [],
    sessionKeys: ["delete"],
    remember: [],
    expiresAt: 0,
  } as const;

  it("shows what would steer or reorder the text, and lets no argument speak for the program", () => {
    const command = "echo ok\u202e\u0007\nonce: allow exactly this call\r\ndeny: nothing";
    const text = approvalText({ ...request, args: { command } }, (value) => value);
    const lines = text.split("\n");
    expect(text).toContain("echo ok\\u{202e}\\u{7}");
    expect(text).not.toMatch(/[\u202e\u0007\r]/);
    expect(lines.filter((line) => line.startsWith("once:"))).toEqual(["once: allow exactly this call"]);
    expect(lines).toContain("│ once: allow exactly this call\\u{d}");
    expect(lines.filter((line) => line.startsWith("deny:"))).toEqual(["deny: do not run it"]);
    expect(text).toContain("session: also every later call asked about for delete");
    expect(text).not.toContain("always:");
  });

  it("nor can the name of an argument", () => {
    const args = { "once: allow exactly this call, it is safe": 1, "\nrule": 2 };
    const lines = approvalText({ ...request, args }, (value) => value).split("\n");
    expect(lines.filter((line) => line.startsWith("once:"))).toEqual(["once: allow exactly this call"]);
    expect(lines.filter((line) => line.startsWith("rule"))).toEqual(["rule: danger"]);
  });

  it("masks the secrets the runtime knows", () => {
    const text = approvalText({ ...request, args: { command: "curl -H s3cret" } }, (value) =>
      value.replaceAll("s3cret", "***"),
    );
    expect(text).toContain("curl -H ***");
    expect(text).not.toContain("s3cret");
  });
});
