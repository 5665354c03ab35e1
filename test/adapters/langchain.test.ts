import { ToolMessage } from "@langchain/core/messages";
import { isStructuredTool, type StructuredToolInterface } from "@langchain/core/tools";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { describe, expect, it } from "vitest";
import { toLangChainTools } from "../../src/index.js";
import { handsOn, PNG } from "./support.js";

async function hands() {
  const { session } = await handsOn();
  const tools = await toLangChainTools<StructuredToolInterface>(session);
  const invoke = async (name: string, args: Record<string, unknown>) => {
    const made = await tools
      .find((tool) => tool.name === name)
      ?.invoke({ type: "tool_call", id: "c1", name, args });
    if (!ToolMessage.isInstance(made)) throw new Error(`no message, but ${JSON.stringify(made)}`);
    return made;
  };
  return { tools, invoke };
}

describe("toLangChainTools", () => {
  it("are tools of LangChain, which it can tell a model of", async () => {
    const { tools } = await hands();
    expect(tools.every((tool) => isStructuredTool(tool))).toBe(true);
    const told = tools.map((tool) => convertToOpenAITool(tool));
    expect(told).toContainEqual(
      expect.objectContaining({
        function: expect.objectContaining({
          name: "read_file",
          parameters: expect.objectContaining({ required: ["path"] }),
        }),
      }),
    );
  });

  it("answer a call with a message that has the whole result behind it", async () => {
    const { invoke } = await hands();
    const message = await invoke("read_file", { path: "note.txt" });
    expect(message.tool_call_id).toBe("c1");
    expect(message.content).toContain("the fox");
    expect(message.artifact).toMatchObject({ ok: true, name: "read_file" });
  });

  it("answer what failed with the status error", async () => {
    const { invoke } = await hands();
    const message = await invoke("terminal", { command: "rm -rf build" });
    expect(message.status).toBe("error");
    expect(message.artifact).toMatchObject({ ok: false, error: { code: "denied" } });
  });

  it("show pictures, and give texts to programs that call them by hand", async () => {
    const { tools, invoke } = await hands();
    expect(JSON.stringify((await invoke("picture", {})).content)).toContain(PNG);
    const read = tools.find(({ name }) => name === "read_file");
    expect(await read?.invoke({ path: "note.txt" })).toContain("the fox");
  });
});
