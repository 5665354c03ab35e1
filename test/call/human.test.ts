import { describe, expect, it } from "vitest";
import {
  defineTool,
  encodeResults,
  mark,
  parseRequest,
  plainText,
  ToolError,
  ToolResult,
  text,
  textOf,
} from "../../src/index.js";
import type { AnyTool } from "../../src/tool/tool.js";
import { testRuntime } from "../support/runtime.js";

const tool = (handler: AnyTool["handler"], extra: Partial<AnyTool> = {}): AnyTool => ({
  ...defineTool({ name: "show", description: "Shows", parameters: { type: "object" }, handler }),
  ...extra,
});

/** For a model the rows, for people how many there are. */
const present: AnyTool["present"] = (out: { rows: readonly string[] }) => ({
  model: [text(JSON.stringify(out.rows))],
  human: `${mark.strong(String(out.rows.length))} rows`,
});

async function open(subject: AnyTool, options: Parameters<typeof testRuntime>[1] = {}) {
  const made = await testRuntime([subject], options);
  return { ...made, session: await made.runtime.openSession() };
}

describe("what a person sees of a result", () => {
  it("is what the tool presents, and the tool is asked once", async () => {
    let asked = 0;
    const { session } = await open(
      tool(() => ({ rows: ["a", "b"] }), {
        present: (out) => {
          asked += 1;
          return present(out);
        },
      }),
    );
    const result = await session.call({ name: "show" });
    expect(result.human).toBe(`${mark.strong("2")} rows`);
    expect(plainText(result.human)).toBe("2 rows");
    expect(textOf(result.content)).toBe('["a","b"]');
    expect(asked).toBe(1);
  });

  it("is the same through a child session, a batch and a call from inside a call", async () => {
    const inner = tool(() => ({ rows: ["a", "b"] }), { present });
    const outer = defineTool({
      name: "outer",
      description: "Calls show",
      parameters: { type: "object" },
      async handler(_args, ctx) {
        const nested = ctx.openTools();
        try {
          return { shown: (await nested.call({ name: "show", arguments: {} })).human };
        } finally {
          nested.close();
        }
      },
    });
    const { runtime } = await testRuntime([inner, outer]);
    const session = await runtime.openSession();
    const { human } = await session.call({ name: "show" });
    expect((await session.openChild().call({ name: "show" })).human).toBe(human);
    expect((await session.callAll([{ name: "show" }]))[0]?.human).toBe(human);
    expect((await session.call({ name: "outer" })).structured).toEqual({ shown: human });
  });

  it("is told in no wire format", async () => {
    const { session } = await open(tool(() => ({ rows: ["a", "b"] }), { present }));
    const requests = [
      { tool_calls: [{ id: "c", type: "function", function: { name: "show", arguments: "{}" } }] },
      {
        role: "assistant",
        tool_calls: [{ id: "c", type: "function", function: { name: "show", arguments: "{}" } }],
      },
      { role: "assistant", content: [{ type: "tool_use", id: "c", name: "show", input: {} }] },
      { role: "model", parts: [{ functionCall: { name: "show", args: {} } }] },
      { output: [{ type: "function_call", call_id: "c", name: "show", arguments: "{}" }] },
      { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "show", arguments: {} } },
    ];
    const formats = new Set<string>();
    for (const given of requests) {
      const request = parseRequest(given);
      if ("code" in request) throw new Error(request.message);
      formats.add(request.format);
      const answer = JSON.stringify(encodeResults(request, await session.callAll(request.calls)));
      expect(answer).toContain("a");
      expect(answer).not.toMatch(/human|\ufdd0| rows/);
    }
    expect(formats.size).toBe(6);
  });

  it("is the text of the model where the tool presents nothing, or fails to", async () => {
    const plain = await open(tool(() => "as it is"));
    expect((await plain.session.call({ name: "show" })).human).toBe("as it is");
    const broken = await open(
      tool(() => ({ rows: [] }), {
        present: () => {
          throw new Error("no");
        },
      }),
    );
    expect((await broken.session.call({ name: "show" })).human).toBe('{"rows":[]}');
  });

  it("is presented also where the handler brings content parts of its own", async () => {
    const { session } = await open(
      tool(
        () => new ToolResult({ success: true, output: { rows: ["a"] }, content: [text("for the model")] }),
        {
          present,
        },
      ),
    );
    const result = await session.call({ name: "show" });
    expect([textOf(result.content), plainText(result.human)]).toEqual(["for the model", "1 rows"]);
  });

  it("is message and hint of a failure", async () => {
    const { session } = await open(
      tool(() => {
        throw new ToolError("the disk is full", { hint: "Make room." });
      }),
    );
    expect((await session.call({ name: "show" })).human).toBe("the disk is full\nMake room.");
  });

  it("holds no secret, also none with marks in the middle of it", async () => {
    const secret = "swordfish-0123456789";
    const shown = [`whole ${secret}`, `cut ${secret.slice(0, 5)}${mark.bad(secret.slice(5))}`].join("\n");
    const { session, runtime } = await open(
      tool(() => ({ rows: [] }), { present: () => ({ model: [text("fine")], human: shown }) }),
    );
    runtime.secrets.add("PASSWORD", secret);
    const { human } = await session.call({ name: "show" });
    expect(human).toContain("whole");
    expect(plainText(human)).not.toContain(secret);
  });

  it("is within the size of results even if the model's text is short", async () => {
    const { session } = await open(
      tool(() => ({ rows: [] }), {
        maxResultSizeChars: 5_000,
        present: () => ({ model: [text("short")], human: "line\n".repeat(10_000) }),
      }),
    );
    const result = await session.call({ name: "show" });
    expect(result.human.length).toBeLessThan(5_100);
    expect(result.human).toMatch(/\[the first [\d,]+ of 50,000 characters\]$/);
    expect(result).toMatchObject({ truncated: false, content: [{ text: "short" }] });
  });

  it("is the preview when the result went to a file, and the replacement when a hook gave one", async () => {
    const subject = tool(() => ({ rows: ["x".repeat(9_000)] }), { present, maxResultSizeChars: 5_000 });
    const long = await open(subject);
    const spilled = await long.session.call({ name: "show" });
    expect(spilled.truncated).toBe(true);
    expect(spilled.human).toBe(textOf(spilled.content));

    const replaced = await open(tool(() => ({ rows: ["a"] }), { present }));
    replaced.runtime.hooks.on("transform_tool_result", () => "something else");
    expect((await replaced.session.call({ name: "show" })).human).toBe("something else");
  });
});
