import { isRecord } from "../base/record.js";
import { ANTHROPIC_URL } from "./anthropic.js";
import { getJson } from "./get-json.js";
import { endpoint } from "./post.js";
import type { ModelRoute } from "./route.js";
import { field, listIn, numberIn, textIn } from "./wire.js";

export interface ContextWindow {
  readonly tokens: number;
  /** Who says so. */
  readonly from: "model.context_tokens" | "server" | "table" | "guess";
  /** How to get more, where it is less than the model could read. */
  readonly fix?: string | undefined;
}

const PROBE_MS = 5_000;
/** What Ollama gives a model that nobody told otherwise. */
const OLLAMA_DEFAULT = 4_096;
/** Below this, tools and instructions alone fill it. */
export const LEAST_TOKENS = 16_384;
const UNKNOWN = 32_768;

/** How much the model reads at once: what its server has really loaded, not what its name promises. */
export async function contextWindow(route: ModelRoute): Promise<ContextWindow> {
  if (route.contextTokens !== undefined) return { tokens: route.contextTokens, from: "model.context_tokens" };
  if (route.provider === "ollama") return ollamaWindow(route);
  const probed = await probe(route);
  if (probed !== undefined) return { tokens: probed, from: "server" };
  const known = KNOWN.find(([name]) => name.test(route.model))?.[1];
  return known === undefined ? { tokens: UNKNOWN, from: "guess" } : { tokens: known, from: "table" };
}

/** By the beginning of the name, where the server does not say. */
// biome-ignore format: a table.
const KNOWN: readonly (readonly [RegExp, number])[] = [
  [/^gpt-5/, 272_000], [/^gpt-4\.1/, 1_047_576], [/^gpt-4o/, 128_000], [/^o[34]/, 200_000],
  [/^claude/, 200_000], [/^gemini/, 1_048_576],
];

/**
 * Of a model that is loaded it says how much; one that is not will get what its file says, else the default. The address
 * that speaks OpenAI's API cannot ask for more.
 */
async function ollamaWindow({ url, model, proxy }: ModelRoute): Promise<ContextWindow> {
  const root = url.replace(/\/v1$/, "");
  const [running, shown] = await Promise.all([
    getJson(`${root}/api/ps`, { timeoutMs: PROBE_MS, proxy }),
    getJson(`${root}/api/show`, { timeoutMs: PROBE_MS, proxy, body: { model } }),
  ]);
  const loaded = listIn(running, "models").find((one) => textIn(one, "name") === model);
  const inFile = Number(/^num_ctx\s+(\d+)/m.exec(textIn(shown, "parameters"))?.[1] ?? 0);
  const tokens = numberIn(loaded, "context_length") ?? (inFile > 0 ? inFile : OLLAMA_DEFAULT);
  const info = field(shown, "model_info");
  const trained = isRecord(info)
    ? Object.entries(info).flatMap(([name, value]) =>
        name.endsWith(".context_length") && typeof value === "number" ? [value] : [],
      )[0]
    : undefined;
  const couldBe = Math.min(trained ?? 0, 65_536);
  const fix =
    tokens < LEAST_TOKENS && couldBe > tokens
      ? `OLLAMA_CONTEXT_LENGTH=${couldBe} ollama serve (Ollama reads ${tokens} tokens of ${model} now)`
      : undefined;
  return { tokens, from: "server", fix };
}

async function probe(route: ModelRoute): Promise<number | undefined> {
  const { provider, url, model, apiKey, proxy } = route;
  const list = endpoint(url, { version: provider === "gemini" ? "v1beta" : "v1", path: "/models" });
  if (list === undefined) return undefined;
  switch (provider) {
    case "gemini": {
      const headers = apiKey === undefined ? {} : { "x-goog-api-key": apiKey };
      const said = await getJson(`${list}/${encodeURIComponent(model)}`, {
        timeoutMs: PROBE_MS,
        proxy,
        headers,
      });
      return numberIn(said, "inputTokenLimit");
    }
    case "anthropic": {
      const headers = { "anthropic-version": "2023-06-01", ...(apiKey && { "x-api-key": apiKey }) };
      if (url !== ANTHROPIC_URL) return undefined;
      const said = await getJson(`${list}/${encodeURIComponent(model)}`, {
        timeoutMs: PROBE_MS,
        proxy,
        headers,
      });
      return numberIn(said, "max_input_tokens");
    }
    case "openrouter":
    case "compatible": {
      const said = await getJson(list, { timeoutMs: PROBE_MS, proxy, apiKey });
      const found = listIn(said, "data").find((one) => textIn(one, "id") === model);
      // vLLM and OpenRouter say it in the list, llama.cpp beside it.
      const listed =
        numberIn(found, "max_model_len") ??
        numberIn(found, "context_length") ??
        numberIn(field(found, "meta"), "n_ctx");
      if (listed !== undefined || provider === "openrouter") return listed;
      const props = await getJson(new URL("/props", url).href, { timeoutMs: PROBE_MS, proxy, apiKey });
      return numberIn(field(props, "default_generation_settings"), "n_ctx");
    }
    default:
      return undefined;
  }
}
