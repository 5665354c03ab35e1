import { generateText, stepCountIs } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { describe, expect, it } from "vitest";
import { toAiSdkTools } from "../../src/index.js";
import { handsOn, PNG } from "./support.js";

const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** A model that makes these calls and then says that it is done. */
function calling(...calls: readonly { readonly name: string; readonly input: unknown }[]) {
  return new MockLanguageModelV3({
    doGenerate: [
      {
        content: calls.map(({ name, input }, index) => ({
          type: "tool-call" as const,
          toolCallId: `c${index}`,
          toolName: name,
          input: typeof input === "string" ? input : JSON.stringify(input),
        })),
        finishReason: { unified: "tool-calls" as const, raw: undefined },
        usage: USAGE,
        warnings: [],
      },
      {
        content: [{ type: "text" as const, text: "done" }],
        finishReason: { unified: "stop" as const, raw: undefined },
        usage: USAGE,
        warnings: [],
      },
    ],
  });
}

async function play(model: MockLanguageModelV3) {
  const { session } = await handsOn();
  const { text } = await generateText({
    model,
    tools: await toAiSdkTools(session),
    stopWhen: stepCountIs(3),
    prompt: "go",
  });
  const [first, second] = model.doGenerateCalls;
  const told = second?.prompt.findLast(({ role }) => role === "tool");
  return { text, tools: first?.tools, told: told?.content };
}

describe("toAiSdkTools", () => {
  it("tells the model of the tools and runs what it calls", async () => {
    const { text, tools, told } = await play(calling({ name: "read_file", input: { path: "note.txt" } }));
    expect(text).toBe("done");
    expect(tools).toContainEqual(
      expect.objectContaining({
        type: "function",
        name: "read_file",
        description: expect.stringContaining("Read"),
        inputSchema: expect.objectContaining({ type: "object", required: ["path"] }),
      }),
    );
    expect(told).toMatchObject([
      { toolCallId: "c0", output: { type: "text", value: expect.stringContaining("the fox") } },
    ]);
  });

  it("tells failures as failures, also those of the rules and of arguments", async () => {
    const { told } = await play(
      calling(
        { name: "terminal", input: { command: "rm -rf build" } },
        { name: "read_file", input: { nothing: 1 } },
      ),
    );
    expect(told).toMatchObject([
      { toolCallId: "c0", output: { type: "error-text" } },
      { toolCallId: "c1", output: { type: "error-text", value: expect.stringContaining("path") } },
    ]);
  });

  it("shows pictures", async () => {
    const { told } = await play(calling({ name: "picture", input: {} }));
    expect(JSON.stringify(told)).toContain(PNG);
  });

  it("stops a call with the request", async () => {
    const { session } = await handsOn();
    const { terminal } = await toAiSdkTools(session);
    const result = await terminal?.execute(
      { command: "sleep 60" },
      { toolCallId: "c", abortSignal: AbortSignal.abort() },
    );
    expect(result).toMatchObject({ ok: false, error: { code: "cancelled" } });
  });
});
