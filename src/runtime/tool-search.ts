import { join } from "node:path";
import { sha256 } from "../base/hash.js";
import { LruMap } from "../base/lru.js";
import { normalizeToolName } from "../protocol/tool-names.js";
import type { View } from "../registry/view.js";
import { ToolSearchBridge } from "../search/bridge.js";
import type { FinderOptions } from "../search/finder.js";
import type { VectorCache } from "../search/semantic/vector-cache.js";
import { type ToolSearchSettings, toolSearchSettings } from "../search/settings.js";
import type { ToolUse } from "../search/tool-use.js";
import type { Embedder, Hit, SearchableTool, ToolFinder } from "../search/types.js";
import { describeThrown } from "../tool/thrown.js";
import type { Runtime } from "./runtime.js";

const VECTORS = "tool-vectors.bin";

/** Indexes kept: sessions with the same hidden tools share one. */
const MAX_FINDERS = 8;

/** What the searches of all sessions share. Nothing is imported or read before the first search. */
export class RuntimeToolSearch {
  readonly #runtime: Runtime;
  readonly #finders = new LruMap<string, Promise<ToolFinder>>(MAX_FINDERS);
  #embedder: Embedder | undefined;
  #cache: VectorCache | undefined;
  #closed = false;
  /** Said once: every session would have to say the same. */
  readonly #warned = new Set<string>();

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  bridgeFor(
    view: View,
    { contextTokens, use }: { readonly contextTokens: number | undefined; readonly use: ToolUse | undefined },
  ): ToolSearchBridge {
    const { config, registry } = this.#runtime;
    const settings = toolSearchSettings({
      values: config.values,
      registry: registry.snapshot(),
      contextTokens,
      use,
    });
    this.#warnOfNames(settings);
    return new ToolSearchBridge({
      view,
      settings,
      variants: normalizeToolName,
      finderFor: (tools) => this.finderFor(tools),
    });
  }

  #warnOfNames({ mode, names }: ToolSearchSettings): void {
    if (mode === "off") return;
    const { search_name, describe_name, call_name } = this.#runtime.config.values.tools.tool_search;
    const { search, describe, call } = names;
    if (search !== search_name || describe !== describe_name || call !== call_name) {
      this.#warn(
        `Tool Search is called ${search}, ${describe} and ${call}: the names set in tools.tool_search are not ` +
          "three different ones, or other tools have them",
      );
    }
    for (const name of [search, describe, call]) {
      const covered = this.#runtime.registry.get(name);
      if (covered !== undefined)
        this.#warn(
          `tool ${name} of ${covered.toolset} is not offered: Tool Search has that name ` +
            "(tools.tool_search.search_name, describe_name and call_name change it)",
        );
    }
  }

  #warn(message: string): void {
    if (this.#warned.has(message)) return;
    this.#warned.add(message);
    this.#runtime.log.warn(message);
  }

  finderFor(tools: readonly SearchableTool[]): ToolFinder {
    let opened: Promise<ToolFinder> | undefined;
    return {
      size: tools.length,
      search: async (query, options): Promise<readonly Hit[]> => {
        opened ??= this.#shared(tools);
        const finder = await opened.catch((thrown: unknown) => {
          opened = undefined;
          throw thrown;
        });
        return finder.search(query, options);
      },
    };
  }

  #shared(tools: readonly SearchableTool[]): Promise<ToolFinder> {
    const key = sha256(JSON.stringify(tools), "base64");
    const finder = this.#finders.get(key) ?? this.#open(tools);
    this.#finders.set(key, finder);
    finder.catch(() => this.#finders.delete(key));
    return finder;
  }

  async #open(tools: readonly SearchableTool[]): Promise<ToolFinder> {
    const [{ createLexicalIndex }, { HybridFinder }] = await Promise.all([
      import("../search/lexical/index.js"),
      import("../search/finder.js"),
    ]);
    const meaning = await this.#openMeaning().catch((thrown: unknown) => this.#withoutMeaning(thrown));
    const finder = new HybridFinder({ tools, lexical: createLexicalIndex(tools), ...meaning });
    void finder.prepared.then(() => {
      if (finder.problem !== undefined && !this.#closed) this.#withoutMeaning(finder.problem);
    });
    return finder;
  }

  /** A model that cannot be used is no reason to find nothing. */
  #withoutMeaning(why: unknown): Readonly<Record<string, never>> {
    const reason = typeof why === "string" ? why : describeThrown(why).message;
    this.#warn(`tools are searched without the model: ${reason}`);
    return {};
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
    if (this.#closed) return {};
    this.#embedder ??= createEmbedder(folder);
    const { id, dimensions } = this.#embedder;
    this.#cache ??= new VectorCache({ path: join(paths.cache, VECTORS), model: id, dimensions });
    return { embedder: this.#embedder, cache: this.#cache };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#finders.clear();
    await this.#embedder?.close();
  }
}
