import { join } from "node:path";
import { normalizeToolName } from "../protocol/tool-names.js";
import type { View } from "../registry/view.js";
import { ToolSearchBridge } from "../search/bridge.js";
import type { FinderOptions } from "../search/finder.js";
import type { VectorCache } from "../search/semantic/vector-cache.js";
import { toolSearchSettings } from "../search/settings.js";
import type { Embedder, Hit, SearchableTool, ToolFinder } from "../search/types.js";
import type { Runtime } from "./runtime.js";

const VECTORS = "tool-vectors.bin";

/** Indexes kept: sessions with the same hidden tools share one. */
const MAX_FINDERS = 8;

/** What the searches of all sessions share. Nothing is imported or read before the first search. */
export class RuntimeToolSearch {
  readonly #runtime: Runtime;
  readonly #finders = new Map<string, Promise<ToolFinder>>();
  #embedder: Embedder | undefined;
  #cache: VectorCache | undefined;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  bridgeFor(view: View, contextTokens: number | undefined): ToolSearchBridge {
    const settings = toolSearchSettings(this.#runtime.config.values);
    return new ToolSearchBridge({
      view,
      settings: contextTokens === undefined ? settings : { ...settings, contextTokens },
      variants: normalizeToolName,
      finderFor: (tools) => this.finderFor(tools),
    });
  }

  finderFor(tools: readonly SearchableTool[]): ToolFinder {
    let opened: Promise<ToolFinder> | undefined;
    return {
      size: tools.length,
      search: async (query, options): Promise<readonly Hit[]> => {
        opened ??= this.#shared(tools);
        return (await opened).search(query, options);
      },
    };
  }

  #shared(tools: readonly SearchableTool[]): Promise<ToolFinder> {
    const key = JSON.stringify(
      tools.map(({ name, description, parameters }) => [name, description, parameters]),
    );
    const finder = this.#finders.get(key) ?? this.#open(tools);
    this.#finders.delete(key);
    this.#finders.set(key, finder);
    const oldest = this.#finders.keys().next();
    if (this.#finders.size > MAX_FINDERS && oldest.done !== true) this.#finders.delete(oldest.value);
    return finder;
  }

  async #open(tools: readonly SearchableTool[]): Promise<ToolFinder> {
    const [{ createLexicalIndex }, { HybridFinder }] = await Promise.all([
      import("../search/lexical/index.js"),
      import("../search/finder.js"),
    ]);
    const meaning = await this.#openMeaning();
    return new HybridFinder({ tools, lexical: createLexicalIndex(tools), ...meaning });
  }

  /** Nothing is fetched here: without `hermes setup search`, words decide alone. */
  async #openMeaning(): Promise<Pick<FinderOptions, "embedder" | "cache">> {
    const { values, paths } = this.#runtime.config;
    if (values.tools.tool_search.embeddings === "off") return {};
    const { findModel } = await import("../search/semantic/model-files.js");
    const folder = findModel({ home: paths.home });
    if (folder === undefined) return {};
    const [{ createEmbedder }, { VectorCache }] = await Promise.all([
      import("../search/semantic/embedder.js"),
      import("../search/semantic/vector-cache.js"),
    ]);
    this.#embedder ??= createEmbedder(folder);
    const { id, dimensions } = this.#embedder;
    this.#cache ??= new VectorCache({ path: join(paths.cache, VECTORS), model: id, dimensions });
    return { embedder: this.#embedder, cache: this.#cache };
  }

  async close(): Promise<void> {
    this.#finders.clear();
    await this.#embedder?.close();
  }
}
