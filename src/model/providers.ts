import type { MODEL_PROVIDERS } from "../config/model-settings.js";
import { ANTHROPIC_URL } from "./anthropic.js";
import { GEMINI_URL } from "./gemini.js";
import { OPENAI_URL } from "./openai-responses.js";

export type ProviderName = (typeof MODEL_PROVIDERS)[number];

export interface Provider {
  /** As people call it. */
  readonly title: string;
  readonly wire: "chat" | "responses" | "anthropic" | "gemini" | "gguf";
  /** Variables that hold its key, the first of them is the one that is written. */
  readonly keys: readonly string[];
  /** Variables that hold its address. */
  readonly addresses: readonly string[];
  /** Its own address; empty where everybody has another. */
  readonly url: string;
  /** Asked when nobody names one; empty: the first one the server lists. */
  readonly model: string;
  /** Costs nothing: it runs on a machine of the person. */
  readonly isLocal?: boolean;
}

export const PROVIDERS: Readonly<Record<ProviderName, Provider>> = {
  openai: {
    title: "OpenAI",
    wire: "chat",
    keys: ["OPENAI_API_KEY"],
    addresses: ["OPENAI_BASE_URL"],
    url: OPENAI_URL,
    model: "gpt-5-mini",
  },
  responses: {
    title: "OpenAI (Responses API)",
    wire: "responses",
    keys: ["OPENAI_API_KEY"],
    addresses: ["OPENAI_BASE_URL"],
    url: OPENAI_URL,
    model: "gpt-5-mini",
  },
  anthropic: {
    title: "Anthropic",
    wire: "anthropic",
    keys: ["ANTHROPIC_API_KEY"],
    addresses: ["ANTHROPIC_BASE_URL"],
    url: ANTHROPIC_URL,
    model: "claude-sonnet-4-5",
  },
  gemini: {
    title: "Google Gemini",
    wire: "gemini",
    keys: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    addresses: ["GEMINI_BASE_URL"],
    url: GEMINI_URL,
    model: "gemini-2.5-flash",
  },
  openrouter: {
    title: "OpenRouter",
    wire: "chat",
    keys: ["OPENROUTER_API_KEY"],
    addresses: ["OPENROUTER_BASE_URL"],
    url: "https://openrouter.ai/api/v1",
    model: "openrouter/auto",
  },
  ollama: {
    title: "Ollama",
    wire: "chat",
    keys: [],
    addresses: ["OLLAMA_HOST"],
    url: "http://127.0.0.1:11434",
    model: "",
    isLocal: true,
  },
  compatible: {
    title: "an OpenAI-compatible server",
    wire: "chat",
    keys: ["HERMES_MODEL_API_KEY", "OPENAI_API_KEY"],
    addresses: [],
    url: "",
    model: "",
  },
  gguf: { title: "a GGUF file", wire: "gguf", keys: [], addresses: [], url: "", model: "", isLocal: true },
};

/** The order in which `auto` looks for a key or an address. */
export const AUTO_ORDER: readonly ProviderName[] = ["openai", "anthropic", "gemini", "openrouter", "ollama"];

export function isProvider(name: string): name is ProviderName {
  return Object.hasOwn(PROVIDERS, name);
}

/** `anthropic:claude-x` has both; `qwen3:8b` is a name alone. */
export function splitModel(text: string): { readonly provider?: ProviderName; readonly name: string } {
  const colon = text.indexOf(":");
  const provider = colon === -1 ? "" : text.slice(0, colon);
  return isProvider(provider) ? { provider, name: text.slice(colon + 1).trim() } : { name: text };
}
