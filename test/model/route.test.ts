import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadConfig } from "../../src/config/load.js";
import { contextWindow } from "../../src/model/context-window.js";
import { findLocalServers } from "../../src/model/local-servers.js";
import {
  isRoute,
  type ModelRoute,
  ollamaAddress,
  type RouteOptions,
  resolveFallbacks,
  resolveRoute,
} from "../../src/model/route.js";

let home = "";
const closing: (() => void)[] = [];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "hermes-route-"));
});
afterEach(() => {
  rmSync(home, { recursive: true, force: true });
  for (const close of closing.splice(0)) close();
});

const NOBODY = { findLocal: async () => [] };

function configOf(env: Record<string, string>, yaml = "") {
  writeFileSync(join(home, "config.yaml"), yaml);
  return loadConfig({ home, cwd: home, env, systemDir: join(home, "no-system") });
}

async function routeOf(
  env: Record<string, string>,
  given: RouteOptions & { readonly yaml?: string } = {},
): Promise<ModelRoute> {
  const found = await resolveRoute(await configOf(env, given.yaml), { ...NOBODY, ...given });
  if (!isRoute(found)) throw new Error(found.reason);
  return found;
}

/** Answers GET and POST with what the table says for a path. */
async function serving(table: Readonly<Record<string, unknown>>): Promise<string> {
  const server = createServer((request, response) => {
    const answer = table[request.url ?? ""];
    response.writeHead(answer === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(answer ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("which model is asked", () => {
  it.each([
    [{ OPENAI_API_KEY: "a" }, "openai", "https://api.openai.com/v1", "a"],
    [{ ANTHROPIC_API_KEY: "b" }, "anthropic", "https://api.anthropic.com", "b"],
    [{ GEMINI_API_KEY: "c" }, "gemini", "https://generativelanguage.googleapis.com", "c"],
    [{ OPENROUTER_API_KEY: "d" }, "openrouter", "https://openrouter.ai/api/v1", "d"],
    [{ OPENROUTER_API_KEY: "d", ANTHROPIC_API_KEY: "b" }, "anthropic", "https://api.anthropic.com", "b"],
    [{ OPENAI_BASE_URL: "http://127.0.0.1:1" }, "openai", "http://127.0.0.1:1", undefined],
  ] as const)("%j asks %s", async (env, provider, url, apiKey) => {
    const route = await routeOf(env);
    expect([route.provider, route.url, route.apiKey]).toEqual([provider, url, apiKey]);
    expect(route.model).not.toBe("");
  });

  it("a provider in the name of the model wins, and takes its own key and address", async () => {
    const yaml =
      "model: { provider: compatible, base_url: 'http://127.0.0.1:1', name: local, prices: { input: 1 } }";
    const env = { HERMES_MODEL_API_KEY: "local-key", ANTHROPIC_API_KEY: "b" };
    const usual = await routeOf(env, { yaml });
    expect([usual.provider, usual.model, usual.url, usual.apiKey, usual.prices?.input]).toEqual([
      "compatible",
      "local",
      "http://127.0.0.1:1",
      "local-key",
      1,
    ]);
    const other = await routeOf(env, { yaml, model: "anthropic:claude-haiku-4-5" });
    expect([other.provider, other.model, other.url, other.apiKey, other.prices?.input]).toEqual([
      "anthropic",
      "claude-haiku-4-5",
      "https://api.anthropic.com",
      "b",
      1,
    ]);
    expect(other.prices?.output).toBe(5);
  });

  it("the key of a provider never goes to an address that was set for another", async () => {
    const yaml = "model: { base_url: 'http://127.0.0.1:1', name: local, fallback: 'anthropic:x' }";
    const env = { ANTHROPIC_API_KEY: "b" };
    const own = "https://api.anthropic.com";
    expect((await routeOf({ ...env, HERMES_MODEL: "anthropic:x" }, { yaml })).url).toBe(own);
    expect((await routeOf(env, { yaml, model: "anthropic:x" })).url).toBe(own);
    expect((await resolveFallbacks(await configOf(env, yaml)))[0]?.url).toBe(own);
    // It is the address of a compatible server, also of one that is named so.
    expect((await routeOf(env, { yaml, model: "compatible:other" })).url).toBe("http://127.0.0.1:1");
    const together = "model: { base_url: 'http://127.0.0.1:1', name: 'anthropic:x' }";
    expect((await routeOf(env, { yaml: together })).url).toBe("http://127.0.0.1:1");
    expect((await routeOf(env, { yaml: together, model: "anthropic:y" })).url).toBe("http://127.0.0.1:1");
    expect(
      (await routeOf({ ...env, OPENAI_API_KEY: "a" }, { yaml: together, model: "openai:y" })).url,
    ).not.toContain("127.0.0.1");
  });

  it("an address alone is an OpenAI-compatible server, and its first model is asked", async () => {
    const url = await serving({ "/v1/models": { data: [{ id: "served-1" }, { id: "served-2" }] } });
    const route = await routeOf(
      { ANTHROPIC_API_KEY: "not for others" },
      { yaml: `model: { base_url: "${url}" }` },
    );
    expect([route.provider, route.model, route.apiKey, route.prices]).toEqual([
      "compatible",
      "served-1",
      undefined,
      undefined,
    ]);
  });

  it("a name with a colon that is no provider is a name", async () => {
    const route = await routeOf({ OLLAMA_HOST: "127.0.0.1:9", HERMES_MODEL: "qwen3:8b" });
    expect([route.provider, route.model, route.url]).toEqual(["ollama", "qwen3:8b", "http://127.0.0.1:9"]);
  });

  it("a proxy leads to what is not on this machine", async () => {
    const yaml = "network: { proxy: 'http://proxy:3128', no_proxy: [inside.example] }";
    const proxyOf = async (env: Record<string, string>) => (await routeOf(env, { yaml })).proxy;
    expect(await proxyOf({ OPENAI_API_KEY: "a" })).toBe("http://proxy:3128");
    expect(await proxyOf({ OPENAI_BASE_URL: "https://inside.example/v1" })).toBeUndefined();
    expect(await proxyOf({ OPENAI_BASE_URL: "http://127.0.0.1:8080" })).toBeUndefined();
  });

  it("OLLAMA_HOST is read as Ollama does, and not from .env", async () => {
    expect(["0.0.0.0", "box", "box:80", "http://box:1/", "https://box"].map(ollamaAddress)).toEqual([
      "http://127.0.0.1:11434",
      "http://box:11434",
      "http://box",
      "http://box:1",
      "https://box",
    ]);
    writeFileSync(join(home, ".env"), "OLLAMA_HOST=http://elsewhere:1\n", { mode: 0o600 });
    expect(isRoute(await resolveRoute(await configOf({}), NOBODY))).toBe(false);
  });
});

describe("without a key", () => {
  it("a local Ollama or llama.cpp is found by itself", async () => {
    const ollama = await serving({ "/api/tags": { models: [{ name: "qwen3:8b" }] } });
    const llama = await serving({ "/v1/models": { data: [{ id: "gemma.gguf", owned_by: "llamacpp" }] } });
    const silent = { title: "LM Studio", provider: "compatible", url: "http://127.0.0.1:9" } as const;
    const places = [
      { title: "Ollama", provider: "ollama", url: ollama },
      { title: "llama.cpp", provider: "compatible", url: llama },
      silent,
    ] as const;
    const findLocal = () => findLocalServers(places);
    expect((await findLocal()).map(({ title, models }) => [title, models])).toEqual([
      ["Ollama", ["qwen3:8b"]],
      ["llama.cpp", ["gemma.gguf"]],
    ]);
    const first = await routeOf({}, { findLocal });
    expect([first.provider, first.model, first.url, first.foundBy]).toEqual([
      "ollama",
      "qwen3:8b",
      ollama,
      `Ollama at ${ollama}`,
    ]);
    expect(first.prices).toEqual({ input: 0, output: 0 });
    const named = await routeOf({ HERMES_MODEL: "gemma.gguf" }, { findLocal });
    expect([named.provider, named.url]).toEqual(["compatible", llama]);
  });

  it("says why there is none, and the three shortest ways", async () => {
    const none = await resolveRoute(await configOf({}), NOBODY);
    if (isRoute(none)) throw new Error("there is one");
    expect(none.reason).toContain("No model is set up");
    expect(none.fixes).toHaveLength(3);
    expect(none.fixes.join("\n")).toMatch(/hermes setup model[\s\S]*ollama pull[\s\S]*model\.base_url/);
    const idle = { title: "Ollama", provider: "ollama", url: "http://x", models: [] } as const;
    const shorter = await resolveRoute(await configOf({}), { findLocal: async () => [idle] });
    expect(JSON.stringify(shorter)).toContain("Ollama runs here: ollama pull");
    const keyless = await resolveRoute(await configOf({}, "model: { provider: anthropic }"), NOBODY);
    expect(JSON.stringify(keyless)).toContain("hermes setup model --provider anthropic");
  });
});

describe("lesson 67: how much a model reads is what its server has loaded", () => {
  const ask = async (url: string, provider: ModelRoute["provider"], model: string) =>
    contextWindow({ provider, model, url, idleMs: 0, foundBy: "test" });

  it("Ollama says 4,096 for a model of 131,072, and what to do about it", async () => {
    const url = await serving({
      "/api/ps": { models: [{ name: "qwen3:8b", context_length: 4_096 }] },
      "/api/show": { parameters: "temperature 0.6", model_info: { "qwen3.context_length": 131_072 } },
    });
    const window = await ask(url, "ollama", "qwen3:8b");
    expect(window).toMatchObject({ tokens: 4_096, from: "server" });
    expect(window.fix).toContain("OLLAMA_CONTEXT_LENGTH=65536");
  });

  it("a model that is not loaded will get what its file says, else the default", async () => {
    const told = await serving({
      "/api/ps": { models: [] },
      "/api/show": { parameters: "num_ctx 32768\nseed 1" },
    });
    const untold = await serving({ "/api/ps": { models: [] }, "/api/show": {} });
    expect(await ask(told, "ollama", "m")).toMatchObject({ tokens: 32_768, fix: undefined });
    expect((await ask(untold, "ollama", "m")).tokens).toBe(4_096);
  });

  it("vLLM, llama.cpp and Gemini say it too; a setting counts before all of them", async () => {
    const vllm = await serving({ "/v1/models": { data: [{ id: "m", max_model_len: 40_960 }] } });
    const llama = await serving({
      "/v1/models": { data: [{ id: "m" }] },
      "/props": { default_generation_settings: { n_ctx: 8_192 } },
    });
    const google = await serving({ "/v1beta/models/m": { inputTokenLimit: 1_048_576 } });
    expect((await ask(vllm, "compatible", "m")).tokens).toBe(40_960);
    expect((await ask(llama, "compatible", "m")).tokens).toBe(8_192);
    expect((await ask(google, "gemini", "m")).tokens).toBe(1_048_576);
    const set = await routeOf({ OPENAI_API_KEY: "a" }, { yaml: "model: { context_tokens: 999 }" });
    expect(await contextWindow(set)).toEqual({ tokens: 999, from: "model.context_tokens" });
  });
});

describe("lesson 68: a route is one value", () => {
  it("models that stand in have their own host, key and prices", async () => {
    const yaml = `model:
  provider: openai
  base_url: http://127.0.0.1:1
  api_key: first
  name: main
  prices: { input: 7, output: 8 }
  context_tokens: 1000
  fallback: anthropic:claude-haiku-4-5, main-small, gemini:x`;
    const skipped: string[] = [];
    const config = await configOf({ ANTHROPIC_API_KEY: "b" }, yaml);
    const routes = await resolveFallbacks(config, { onUnusable: (model) => skipped.push(model) });
    expect(routes.map(({ provider, model, url, apiKey }) => [provider, model, url, apiKey])).toEqual([
      ["anthropic", "claude-haiku-4-5", "https://api.anthropic.com", "b"],
      ["openai", "main-small", "http://127.0.0.1:1", "first"],
    ]);
    expect(routes.map(({ prices, contextTokens }) => [prices?.input, contextTokens])).toEqual([
      [1, undefined],
      [undefined, undefined],
    ]);
    expect(skipped).toEqual(["gemini:x"]);
  });
});
