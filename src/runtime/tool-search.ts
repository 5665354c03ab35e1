import { normalizeToolName } from "../protocol/tool-names.js";
import type { View } from "../registry/view.js";
import { ToolSearchBridge } from "../search/bridge.js";
import { toolSearchSettings } from "../search/settings.js";
import type { Hit, SearchableTool, ToolFinder } from "../search/types.js";
import type { Runtime } from "./runtime.js";

/** Indexes kept: sessions with the same hidden tools share one. */
const MAX_FINDERS = 8;

/** What the searches of all sessions share. Nothing is imported or read before the first search. */
export class RuntimeToolSearch {
  readonly #runtime: Runtime;
  readonly #finders = new Map<string, Promise<ToolFinder>>();

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
    const { createLexicalIndex } = await import("../search/lexical/index.js");
    const index = createLexicalIndex(tools);
    return { size: tools.length, search: async (query, options) => index.search(query, options) };
  }

  async close(): Promise<void> {
    this.#finders.clear();
  }
}
