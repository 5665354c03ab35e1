import { ToolError } from "../tool/errors.js";
import type { AnyTool } from "../tool/tool.js";
import type { Catalogue } from "./catalogue.js";
import type { ToolSearchSettings } from "./settings.js";

const MAX_QUERIES = 7;
const MAX_NAMES = 10;
const LISTED_SOURCES = 30;

interface BridgeParts {
  readonly catalogue: Catalogue;
  readonly settings: ToolSearchSettings;
}

/** The three tools a model sees in place of all the others. */
export function bridgeTools(parts: BridgeParts): readonly AnyTool[] {
  return [searchTool(parts), describeTool(parts), callTool(parts)];
}

function searchTool({ catalogue, settings }: BridgeParts): AnyTool {
  const { names, defaultLimit, maxLimit } = settings;
  return {
    name: names.search,
    toolset: "tool_search",
    emoji: "🔎",
    description:
      `Finds tools among the ${catalogue.entries.length} that are not listed here${listed(catalogue)}. ` +
      `Say what you want to do; each match has a signature to call it by, with ${names.call}.`,
    parameters: {
      type: "object",
      properties: {
        query: { type: "string", description: "What the tool should do, or words of its name" },
        queries: {
          type: "array",
          items: { type: "string" },
          maxItems: MAX_QUERIES,
          description: "Several things to look for at once, instead of query",
        },
        limit: {
          type: "integer",
          description: `Matches for each query, ${defaultLimit} when left out, at most ${maxLimit}`,
        },
      },
    },
    permissions: [],
    effects: () => [],
    idempotent: true,
    async handler(args: { query?: string; queries?: readonly string[]; limit?: number }) {
      const asked = (args.queries ?? []).filter((query) => query.trim() !== "");
      const single = args.query?.trim() ?? "";
      const limit = Math.min(Math.max(1, Math.floor(args.limit ?? defaultLimit)), maxLimit);
      const total_available = catalogue.entries.length;
      if (asked.length === 0 && single === "")
        throw new ToolError("Say what to look for in query or queries", { code: "invalid_arguments" });
      if (asked.length === 0) {
        const matches = await catalogue.search(single, limit);
        return { query: single, total_available, matches, ...whenEmpty(matches, catalogue) };
      }
      const queries = [...new Set(single === "" ? asked : [single, ...asked])];
      const results = await Promise.all(
        queries.map(async (query) => ({ query, matches: await catalogue.search(query, limit) })),
      );
      const found = results.flatMap(({ matches }) => matches);
      return { total_available, results, ...whenEmpty(found, catalogue) };
    },
  };
}

function whenEmpty(matches: readonly unknown[], catalogue: Catalogue): Readonly<Record<string, unknown>> {
  if (matches.length > 0) return {};
  return {
    available_sources: catalogue.sources().slice(0, LISTED_SOURCES),
    hint: "Nothing fits. Try other words, or the name of a source.",
  };
}

function listed(catalogue: Catalogue): string {
  const sources = catalogue.sources();
  if (sources.length === 0) return "";
  const shown = sources.slice(0, LISTED_SOURCES).map(({ source, tools }) => `${source} ${tools}`);
  return ` (${shown.join(", ")}${sources.length > shown.length ? ", …" : ""})`;
}

function describeTool({ catalogue, settings }: BridgeParts): AnyTool {
  const { names } = settings;
  return {
    name: names.describe,
    toolset: "tool_search",
    emoji: "📖",
    description: `Tells the whole definition of a tool that ${names.search} found. Seldom needed: the signature of a match mostly suffices.`,
    parameters: {
      type: "object",
      properties: {
        name: { type: "string" },
        names: { type: "array", items: { type: "string" }, maxItems: MAX_NAMES },
      },
    },
    permissions: [],
    effects: () => [],
    idempotent: true,
    handler(args: { name?: string; names?: readonly string[] }) {
      const several = args.names ?? [];
      if (args.name === undefined && several.length === 0)
        throw new ToolError("Name a tool in name or names", { code: "invalid_arguments" });
      const one = (name: string) => definitionIn({ catalogue, settings }, name);
      if (several.length === 0 && args.name !== undefined) return one(args.name);
      const all = args.name === undefined ? several : [args.name, ...several];
      return { tools: [...new Set(all)].map(one) };
    },
  };
}

function definitionIn({ catalogue, settings }: BridgeParts, name: string): unknown {
  const entry = catalogue.get(name);
  if (entry === undefined) {
    const near = catalogue.similar(name);
    throw new ToolError(`Unknown tool: ${name}`, {
      code: "not_found",
      hint:
        near.length > 0
          ? `Did you mean ${near.join(", ")}?`
          : `Look it up with ${settings.names.search}; tools that are listed need no look-up.`,
    });
  }
  return entry.definition.function;
}

function callTool({ settings }: BridgeParts): AnyTool {
  const { names } = settings;
  return {
    name: names.call,
    toolset: "tool_search",
    emoji: "📞",
    description: `Calls a tool that ${names.search} found.`,
    parameters: {
      type: "object",
      properties: {
        name: { type: "string", description: "Name of the tool" },
        arguments: { type: "object", description: "Its arguments, as its signature says" },
      },
      required: ["name"],
    },
    permissions: [],
    effects: () => [],
    handler() {
      throw new ToolError(`${names.call} was not resolved to the tool it names`, { code: "internal" });
    },
  };
}
