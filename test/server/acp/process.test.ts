import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as acp from "@agentclientprotocol/sdk";
import { describe, expect, it } from "vitest";
import { main, plainEnvironment, tempFolder } from "../../cli/hermes.js";
import { onTestEnd } from "../../support/runtime.js";
import type { Step } from "../../support/scripted-model/scenario.js";
import { startScriptedModel } from "../../support/scripted-model/server.js";
import { modelSettings, openEditor } from "./editor.js";

const NOISY = `
import { defineTool } from "hermes-tools";
console.log("noise while loading");
process.stdout.write("more noise while loading\\n");
export default defineTool({
  name: "noisy",
  description: "Talks to standard output",
  parameters: { type: "object", properties: {} },
  handler: () => {
    console.log("noise while running");
    process.stdout.write("{ \\"jsonrpc\\": \\"2.0\\" }\\n");
    return "quiet result";
  },
});
`;

async function start(steps: readonly Step[]) {
  const model = await startScriptedModel({ steps });
  onTestEnd(() => model.close());
  const home = tempFolder();
  const cwd = tempFolder();
  mkdirSync(join(home, "tools"));
  writeFileSync(join(home, "tools", "noisy.ts"), NOISY);
  const child = spawn(process.execPath, [main, "acp"], {
    cwd,
    env: { ...plainEnvironment(home), ...modelSettings(model) },
    stdio: ["pipe", "pipe", "pipe"],
  });
  onTestEnd(() => void child.kill("SIGKILL"));
  let stderr = "";
  let stdout = "";
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  child.stdout.on("data", (chunk) => {
    stdout += chunk;
  });
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const editor = openEditor({ input: child.stdout, output: child.stdin });
  return { child, editor, cwd, ended, model, output: () => ({ stdout, stderr }) };
}

describe("the command hermes acp", () => {
  it("lesson 100: keeps standard output for the protocol, however much tools print, and ends with its editor", async () => {
    const { child, editor, cwd, ended, output } = await start([
      { calls: [{ id: "n", name: "noisy" }] },
      { text: "Done." },
    ]);
    await editor.agent.request(acp.methods.agent.initialize, { protocolVersion: 1 });
    const { sessionId } = await editor.agent.request(acp.methods.agent.session.new, { cwd, mcpServers: [] });
    const { stopReason } = await editor.agent.request(acp.methods.agent.session.prompt, {
      sessionId,
      prompt: [{ type: "text", text: "make noise" }],
    });
    expect(stopReason).toBe("end_turn");
    expect(editor.updates).toContainEqual(
      expect.objectContaining({
        update: expect.objectContaining({ sessionUpdate: "tool_call_update", status: "completed" }),
      }),
    );
    child.stdin.end();
    expect(await ended).toBe(0);
    const { stdout, stderr } = output();
    expect(stderr).toContain("noise while running");
    const lines = stdout.split("\n").filter((line) => line !== "");
    expect(lines.length).toBeGreaterThan(3);
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });
    expect(stdout).not.toContain("noise");
  }, 30_000);
});
