import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { ggufClient } from "../../src/model/gguf.js";
import { ggufHistory, grammarSchema } from "../../src/model/gguf-history.js";
import { complete, type ModelPart } from "../../src/model/model-client.js";
import { writeTinyGguf } from "../support/tiny-gguf.js";

const folder = mkdtempSync(join(tmpdir(), "hermes-gguf-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, "tiny.gguf");
writeTinyGguf(file);

describe("a conversation for a model in a file", () => {
  it("holds results inside the answers that called, and ends where the model goes on", () => {
    const history = ggufHistory([
      { role: "system", content: "Help." },
      { role: "user", content: "Look" },
      {
        role: "assistant",
        content: "I look.",
        toolCalls: [
          { id: "a", name: "read", arguments: '{"path":"x"}' },
          { id: "b", name: "read", arguments: { path: "y" } },
        ],
      },
      { role: "tool", toolCallId: "b", content: "two" },
      { role: "tool", toolCallId: "a", content: [{ type: "text", text: "one" }] },
      { role: "assistant", content: "Both." },
      { role: "user", content: "And?" },
    ]);
    expect(history).toEqual([
      { type: "system", text: "Help." },
      { type: "user", text: "Look" },
      {
        type: "model",
        response: [
          "I look.",
          { type: "functionCall", name: "read", params: { path: "x" }, result: "one" },
          { type: "functionCall", name: "read", params: { path: "y" }, result: "two" },
          "Both.",
        ],
      },
      { type: "user", text: "And?" },
      { type: "model", response: [] },
    ]);
  });

  it("gets the part of a schema that a grammar can be made of", () => {
    const schema = {
      type: "object",
      required: ["path"],
      additionalProperties: false,
      properties: {
        path: { type: "string", pattern: "^/", description: "where" },
        lines: { type: "array", items: { anyOf: [{ type: "integer", minimum: 1 }, { type: "null" }] } },
        any: {},
      },
    };
    expect(grammarSchema(schema)).toEqual({
      type: "object",
      required: ["path"],
      properties: {
        path: { type: "string", description: "where" },
        lines: { type: "array", items: { oneOf: [{ type: "integer" }, { type: "null" }] } },
        any: { type: "string" },
      },
    });
  });
});

describe("what is missing", () => {
  const question = { messages: [{ role: "user", content: "Hi" }] } as const;
  it("is told with the way to it", async () => {
    const nobody = ggufClient({ path: file, loadPackage: () => Promise.reject(new Error("not there")) });
    await expect(complete(nobody, question)).rejects.toThrow(/hermes setup model --provider gguf/);
    const nowhere = ggufClient({ path: join(folder, "no.gguf"), loadPackage: undefined });
    await expect(complete(nowhere, question)).rejects.toThrow(/there is no file/);
  });
});

/** A folder with node-llama-cpp in its node_modules; it is too large for a development dependency. */
const library = process.env.HERMES_TEST_LLAMA;

describe("a file, run by llama.cpp", () => {
  beforeEach((context) => {
    if (library === undefined) context.skip("HERMES_TEST_LLAMA names no folder with node-llama-cpp");
  });
  const loadPackage = (name: string) =>
    import(pathToFileURL(join(library ?? "", "node_modules", name, "dist", "index.js")).href);

  it("answers in pieces, counts tokens, stops at its limit and with its signal, one question at a time", async () => {
    const client = ggufClient({ path: file, loadPackage });
    const parts: ModelPart[] = [];
    const question = { messages: [{ role: "user", content: "Hi" }], maxTokens: 8, temperature: 0 } as const;
    for await (const part of client.stream(question)) parts.push(part);
    expect(parts.at(-1)).toMatchObject({ type: "finish", usage: { outputTokens: expect.any(Number) } });
    const both = await Promise.all([complete(client, question), complete(client, question)]);
    expect(both[0]?.text).toBe(both[1]?.text);
    const controller = new AbortController();
    const reason = new Error("enough");
    controller.abort(reason);
    await expect(complete(client, { ...question, signal: controller.signal })).rejects.toBe(reason);
  }, 60_000);

  it("calls what it is offered only in the form of its schema", async () => {
    const client = ggufClient({ path: file, loadPackage });
    const tools = [
      {
        name: "look",
        description: "Looks",
        parameters: { type: "object", properties: { n: { type: "integer" } } },
      },
    ];
    const answer = await complete(client, {
      messages: [{ role: "user", content: "Look" }],
      tools,
      maxTokens: 32,
    });
    for (const { name, arguments: given } of answer.toolCalls) {
      expect(name).toBe("look");
      expect(JSON.parse(String(given))).toBeTypeOf("object");
    }
    expect(["stop", "length", "tool_calls"]).toContain(answer.reason);
  }, 60_000);

  it("a file that is no model is told as such", async () => {
    const wrong = join(folder, "wrong.gguf");
    writeFileSync(wrong, "no model");
    const client = ggufClient({ path: wrong, loadPackage });
    await expect(complete(client, { messages: [{ role: "user", content: "Hi" }] })).rejects.toThrow(
      /cannot be loaded as a model/,
    );
  }, 60_000);
});
