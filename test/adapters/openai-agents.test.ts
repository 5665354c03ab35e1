import { Agent, OpenAIChatCompletionsModel, run, setTracingDisabled } from "@openai/agents";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { toOpenAIAgentsTools } from "../../src/index.js";
import { onTestEnd } from "../support/runtime.js";
import type { Step } from "../support/scripted-model/scenario.js";
import { startScriptedModel } from "../support/scripted-model/server.js";
import { handsOn } from "./support.js";

setTracingDisabled(true);

async function play(steps: readonly Step[]) {
  const server = await startScriptedModel({ steps });
  onTestEnd(() => server.close());
  const { session } = await handsOn();
  const client = new OpenAI({ apiKey: "k", baseURL: `${server.url}/v1`, maxRetries: 0 });
  const agent = new Agent({
    name: "hands",
    model: new OpenAIChatCompletionsModel(client, "scripted"),
    tools: await toOpenAIAgentsTools(session),
  });
  const { finalOutput } = await run(agent, "go");
  const [first, second] = server.requests;
  return { finalOutput, tools: first?.tools, told: second?.messages ?? [], server };
}

describe("toOpenAIAgentsTools", () => {
  it("tells the model of the tools and runs what it calls", async () => {
    const { finalOutput, tools, told } = await play([
      { calls: [{ id: "r", name: "read_file", arguments: { path: "note.txt" } }] },
      { text: "A fox." },
    ]);
    expect(finalOutput).toBe("A fox.");
    expect(tools).toContain("terminal");
    expect(told.find(({ answers }) => answers === "r")?.text).toContain("the fox");
  });

  it("tells what was denied and what was wrong, and stops for no approval of its own", async () => {
    const { told, finalOutput } = await play([
      {
        calls: [
          { id: "d", name: "terminal", arguments: { command: "rm -rf build" } },
          { id: "w", name: "read_file", arguments: { nothing: 1 } },
          { id: "m", name: "read_file", arguments: "{'path': 'note.txt',}" },
        ],
      },
      { text: "I see." },
    ]);
    const answer = (id: string) => told.find(({ answers }) => answers === id)?.text;
    expect(answer("d")).toContain('"status":"error"');
    expect(answer("w")).toContain("path");
    // The package reads arguments before any tool does.
    expect(answer("m")).toMatch(/valid JSON|[Ii]nvalid/);
    expect(finalOutput).toBe("I see.");
  });
});
