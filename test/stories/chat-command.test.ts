import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { hermes, linesOf, tempFolder } from "../cli/hermes.js";
import type { Step } from "../support/scripted-model/scenario.js";
import { startScriptedModel } from "../support/scripted-model/server.js";

const PROVIDERS = ["compatible", "responses", "anthropic", "gemini"] as const;

async function chatWith(steps: readonly Step[], provider: string = "compatible") {
  const server = await startScriptedModel({ steps });
  const home = tempFolder();
  const cwd = tempFolder();
  const env = {
    HERMES_MODEL_PROVIDER: provider,
    HERMES_MODEL: "scripted",
    HERMES_MODEL_BASE_URL: server.url,
    HERMES_MODEL_API_KEY: "test-key",
  };
  const ask = (args: readonly string[]) => hermes(["chat", ...args], { home, cwd, env });
  return { server, ask, cwd, home, env };
}

const WRITES: readonly Step[] = [
  { calls: [{ id: "w1", name: "write_file", arguments: { path: "note.txt", content: "hello" } }] },
  { text: "The note is written." },
];

describe.each(PROVIDERS)("hermes chat -q with %s", (provider) => {
  it("runs what the model calls and prints what it says", async () => {
    const { server, ask, cwd } = await chatWith(WRITES, provider);
    const { code, stdout } = await ask(["-q", "write a note"]);
    expect(server.complaints).toEqual([]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "The note is written.\n" });
    expect(readFileSync(join(cwd, "note.txt"), "utf8")).toBe("hello");
    await server.close();
  });
});

describe("hermes chat", () => {
  it("--json and --jsonl: the shapes that programs rely on", async () => {
    const { server, ask, cwd } = await chatWith([...WRITES, ...WRITES]);
    const one = JSON.parse((await ask(["-q", "write", "--json"])).stdout);
    expect(one).toMatchObject({
      session: expect.any(String),
      text: "The note is written.",
      stop: "end",
      turns: 2,
      model: "compatible:scripted",
      tool_calls: [{ id: "w1", name: "write_file", ok: true, duration_ms: expect.any(Number) }],
      usage: { requests: 2, cached_tokens: expect.any(Number) },
      cost_usd: null,
    });
    const events = linesOf((await ask(["-q", "again", "--jsonl"])).stdout).map((line) => JSON.parse(line));
    expect(events.map(({ type }) => type).filter((type) => type !== "text")).toEqual([
      "init",
      "tool_use",
      "tool_result",
      "result",
    ]);
    expect(events.find(({ type }) => type === "tool_result").human).toMatch(
      /^wrote [ -~]*note\.txt \(\d+ bytes\)$/,
    );
    expect(existsSync(join(cwd, "note.txt"))).toBe(true);
    await server.close();
  });

  it("--json says why there is no answer, and what to do", async () => {
    const { server, ask } = await chatWith([{ status: 401, error: "no" }]);
    const { stdout, code } = await ask(["-q", "hello", "--json"]);
    expect(code).toBe(6);
    expect(JSON.parse(stdout)).toMatchObject({
      stop: "error",
      error: { code: "model_refused", hint: expect.stringContaining("hermes setup model") },
    });
    await server.close();
  });

  it("goes on with a conversation: the model reads what was said before, from its first byte", async () => {
    const { server, ask } = await chatWith([{ text: "Blue." }, { text: "I said blue." }]);
    await ask(["-q", "name a colour"]);
    const { stdout } = await ask(["--resume", "last", "-q", "which one was it?"]);
    expect(stdout).toBe("I said blue.\n");
    const [first, second] = server.requests;
    expect(second?.knownPrefix).toBe(first?.promptLength);
    await server.close();
  });

  it("says how to get a model when there is none, and when nobody answers", async () => {
    const home = tempFolder();
    const nobody = await hermes(["chat", "-q", "hi"], { home, env: { OLLAMA_HOST: "http://127.0.0.1:9" } });
    expect([6, 7]).toContain(nobody.code);
    const away = await hermes(["chat", "-q", "hi"], {
      home,
      env: {
        HERMES_MODEL_PROVIDER: "compatible",
        HERMES_MODEL: "m",
        HERMES_MODEL_BASE_URL: "http://127.0.0.1:9",
      },
    });
    expect(away.code).toBe(7);
  });

  it("--max-turns ends it with 3", async () => {
    const { server, ask } = await chatWith([
      { calls: [{ id: "s", name: "sleep", arguments: { seconds: 0 } }], repeat: "always" },
    ]);
    const { code, stdout } = await ask(["-q", "loop", "--max-turns", "2", "--json"]);
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({ stop: "max_turns", turns: 2 });
    await server.close();
  });

  it("--plan reads only", async () => {
    const { server, ask, cwd } = await chatWith(WRITES);
    await ask(["-q", "write a note", "--plan"]);
    expect(existsSync(join(cwd, "note.txt"))).toBe(false);
    await server.close();
  });
});
