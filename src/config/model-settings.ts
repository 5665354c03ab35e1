import type { ConfigKey } from "./schema.js";

const text = { kind: "string" } as const;
const usd = { kind: "number", min: 0, max: 1_000_000 } as const;

export const MODEL_PROVIDERS = [
  "openai",
  "responses",
  "anthropic",
  "gemini",
  "openrouter",
  "ollama",
  "compatible",
  "gguf",
] as const;

/** Which model the agent asks, and what it costs. */
// biome-ignore format: one key per line keeps the table readable as a table.
export const MODEL_SETTINGS = [
  { path: "model.provider", type: { kind: "enum", values: ["auto", ...MODEL_PROVIDERS] }, default: "auto", project: "never", about: "Whose model the agent asks; `auto`: the first whose key or address is set, else a local Ollama or llama.cpp" },
  { path: "model.name", type: text, default: "", project: "never", env: "HERMES_MODEL", envAliases: ["HERMES_MODEL_NAME"], flag: "model", about: "Name of the model, also with its provider (`anthropic:claude-sonnet-4-5`); for `gguf` a file. Empty: the provider's usual one, or the first a local server has" },
  { path: "model.base_url", type: text, default: "", project: "never", notFromDotenv: true, about: "Address of the model's server, `/v1` added when missing; empty: `OPENAI_BASE_URL`, `ANTHROPIC_BASE_URL` or `OLLAMA_HOST`, else the provider's own" },
  { path: "model.api_key", type: text, default: "", project: "never", secret: true, about: "Key for the model; empty: `OPENAI_API_KEY`, `ANTHROPIC_API_KEY`, `GEMINI_API_KEY` or `OPENROUTER_API_KEY`" },
  { path: "model.fallback", type: text, default: "", project: "never", about: "Models that are asked when the first one cannot answer, in this order (`anthropic:claude-haiku-4-5, ollama:qwen3:8b`)" },
  { path: "model.context_tokens", type: { kind: "integer", min: 0, max: 100_000_000 }, default: 0, project: "never", about: "How much the model can read, in tokens; 0: as its server says" },
  { path: "model.prices.input", type: usd, default: 0, project: "never", about: "USD per million input tokens; unless set, the published price where it is known, and nothing for local models" },
  { path: "model.prices.output", type: usd, default: 0, project: "never", about: "USD per million output tokens" },
  { path: "model.prices.cached", type: usd, default: 0, project: "never", about: "USD per million input tokens that the server still knew; unless set, those of `model.prices.input`" },
  { path: "model.prices.cache_write", type: usd, default: 0, project: "never", about: "USD per million input tokens that the server keeps for the next time; unless set, those of `model.prices.input`" },
  { path: "model.budget_usd", type: usd, default: 0, project: "never", about: "Most USD a conversation may cost; 0: no limit" },
  { path: "model.budget_day_usd", type: usd, default: 0, project: "never", about: "Most USD all conversations together may cost in a day; 0: no limit" },
  { path: "model.idle_seconds", type: { kind: "number", min: 0, max: 86_400 }, default: 300, project: "never", about: "An answer of which no byte comes for this long is broken off; 0: never" },
  { path: "mixture.models", type: text, default: "", project: "never", about: "Models that `mixture_of_agents` asks, with commas between (`anthropic:claude-sonnet-5, openai:gpt-5.1`); empty: the model of the agent, several times" },
  { path: "mixture.aggregator", type: text, default: "", project: "never", about: "The model that sums up what they said; empty: the model of the agent" },
  { path: "agent.max_turns", type: { kind: "integer", min: 1, max: 10_000 }, default: 90, project: "lower", about: "How often the agent asks its model for one message at most" },
  { path: "delegation.max_concurrent", type: { kind: "integer", min: 1, max: 64 }, default: 3, project: "lower", about: "How many agents that `delegate_task` hands work to run at the same time" },
] as const satisfies readonly ConfigKey[];
