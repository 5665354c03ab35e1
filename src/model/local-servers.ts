import { getJson } from "./get-json.js";
import type { ProviderName } from "./providers.js";
import { listIn, textIn } from "./wire.js";

/** Somebody on this machine who has models. */
export interface LocalServer {
  readonly title: string;
  readonly provider: Extract<ProviderName, "ollama" | "compatible">;
  readonly url: string;
  /** Empty: it runs, and has none. */
  readonly models: readonly string[];
}

/** Where they listen unless told otherwise. */
export const LOCAL_PLACES: readonly Omit<LocalServer, "models">[] = [
  { title: "Ollama", provider: "ollama", url: "http://127.0.0.1:11434" },
  { title: "llama.cpp", provider: "compatible", url: "http://127.0.0.1:8080" },
  { title: "LM Studio", provider: "compatible", url: "http://127.0.0.1:1234" },
  { title: "vLLM", provider: "compatible", url: "http://127.0.0.1:8000" },
];

/** One that is there answers at once; nobody should wait for one that is not. */
const PATIENCE_MS = 700;

/** Local servers that answer now, in the order of the places. */
export async function findLocalServers(
  places: readonly Omit<LocalServer, "models">[] = LOCAL_PLACES,
): Promise<readonly LocalServer[]> {
  const found = await Promise.all(
    places.map(async (place) => {
      const models = await modelsAt(place.url, { provider: place.provider, timeoutMs: PATIENCE_MS });
      return models === undefined ? [] : [{ ...place, models }];
    }),
  );
  return found.flat();
}

/** Names of the models a server has; undefined when it does not say. */
export async function modelsAt(
  url: string,
  options: {
    readonly provider: ProviderName;
    readonly timeoutMs: number;
    readonly apiKey?: string | undefined;
    readonly proxy?: string | undefined;
  },
): Promise<readonly string[] | undefined> {
  const base = url.replace(/\/+$/, "").replace(/\/chat\/completions$/, "");
  // Anybody may listen on such a port: only a list in the form of its maker counts.
  const isOllama = options.provider === "ollama";
  const root = base.replace(/\/v1$/, "");
  const address = isOllama ? `${root}/api/tags` : `${/\/v\d+\w*$/.test(base) ? base : `${base}/v1`}/models`;
  const said = await getJson(address, options);
  const list = isOllama ? listOrUndefined(said, "models") : listOrUndefined(said, "data");
  return list?.flatMap((model) => textIn(model, isOllama ? "name" : "id") || []);
}

function listOrUndefined(value: unknown, name: string): readonly unknown[] | undefined {
  const isThere = typeof value === "object" && value !== null && name in value;
  return isThere ? listIn(value, name) : undefined;
}
