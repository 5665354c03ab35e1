import type { Entry } from "../registry/entry.js";
import { type Failure, ToolError } from "../tool/errors.js";
import { clip } from "../tool/preview.js";
import type { AnyTool } from "../tool/tool.js";
import type { Catalogue } from "./catalogue.js";
import type { ToolSearchSettings } from "./settings.js";

const MAX_QUERIES = 7;
const MAX_NAMES = 10;
const LISTED_SOURCES = 30;
/** What was asked is repeated in the answer, but never at the cost of the matches. */
const REPEATED_CHARS = 300;

interface BridgeParts {
  readonly settings: ToolSearchSettings;
  /** The hidden tools as they are now. */
  catalogue(): Catalogue;
  /** The hidden tool that a name means in any spelling, or why it means none. */
  lookUp(name: string): Entry | Failure;
}

/** The three tools a model sees in place of all the others. */
export function bridgeTools(parts: BridgeParts): readonly AnyTool[] {
  return [searchTool(parts), describeTool(parts), callTool(parts)];
}

function searchTool({ catalogue, settings }: BridgeParts): AnyTool {
  const { names, defaultLimit, maxLimit, explains } = settings;
  const told = catalogue();
  return {
    name: names.search,
    toolset: "tool_search",
    emoji: "🔎",
    description:
      `Finds tools among the ${told.entries.length} that are not listed here${listed(told)}. ` +
      `Each match has a signature to call it by, with ${names.call}.`,
    parameters: {
      type: "object",
      properties: {
        query: { type: "string", description: "What the tool should do, or words of its name" },
        queries: {
          type: "array",
          items: { type: "string" },
          maxItems: MAX_QUERIES,
          description: `Instead of query: up to ${MAX_QUERIES} at once`,
        },
        limit: { type: "integer", description: `Per query; default ${defaultLimit}, at most ${maxLimit}` },
      },
    },
    permissions: [],
    effects: () => [],
    idempotent: true,
    async handler(args: { query?: string; queries?: readonly string[]; limit?: number }) {
      const hidden = catalogue();
      const asked = (args.queries ?? []).filter((query) => query.trim() !== "");
      const single = args.query?.trim() ?? "";
      const limit = Math.min(Math.max(1, Math.floor(args.limit ?? defaultLimit)), maxLimit);
      const total_available = hidden.entries.length;
      if (asked.length === 0 && single === "")
        throw new ToolError("Say what to look for in query or queries", { code: "invalid_arguments" });
      if (asked.length === 0) {
        const matches = await hidden.search(single, { limit, explains });
        return {
          query: clip(single, REPEATED_CHARS),
          total_available,
          matches,
          ...whenEmpty(matches, hidden),
        };
      }
      const queries = [...new Set(single === "" ? asked : [single, ...asked])];
      const results = await Promise.all(
        queries.map(async (query) => ({
          query: clip(query, REPEATED_CHARS),
          matches: await hidden.search(query, { limit, explains }),
        })),
      );
      const found = results.flatMap(({ matches }) => matches);
      return { total_available, results, ...whenEmpty(found, hidden) };
    },
  };
}

function whenEmpty(matches: readonly unknown[], hidden: Catalogue): Readonly<Record<string, unknown>> {
  if (matches.length > 0) return {};
  if (hidden.entries.length === 0)
    return { hint: "No tools are hidden in this session: those you have been told of are all there are." };
  return {
    available_sources: hidden.sources().slice(0, LISTED_SOURCES),
    hint: "Nothing fits. Try other words, or the name of a source.",
  };
}

function listed(hidden: Catalogue): string {
  const sources = hidden.sources();
  if (sources.length === 0) return "";
  const shown = sources.slice(0, LISTED_SOURCES).map(({ source, tools }) => `${source} ${tools}`);
  return ` (${shown.join(", ")}${sources.length > shown.length ? ", …" : ""})`;
}

function describeTool(parts: BridgeParts): AnyTool {
  const { names } = parts.settings;
  return {
    name: names.describe,
    toolset: "tool_search",
    emoji: "📖",
    description:
      "Tells a found tool's whole definition, where its signature ends in … or leaves something open.",
    parameters: {
      type: "object",
      properties: {
        name: { type: "string" },
        names: {
          type: "array",
          items: { type: "string" },
          maxItems: MAX_NAMES,
          description: `Up to ${MAX_NAMES}`,
        },
      },
    },
    permissions: [],
    effects: () => [],
    idempotent: true,
    handler(args: { name?: string; names?: readonly string[] }) {
      const several = args.names ?? [];
      if (args.name === undefined && several.length === 0)
        throw new ToolError("Name a tool in name or names", { code: "invalid_arguments" });
      if (several.length === 0 && args.name !== undefined) return definitionIn(parts, args.name);
      const all = args.name === undefined ? several : [args.name, ...several];
      return { tools: [...new Set(all)].map((name) => definitionOrProblem(parts, name)) };
    },
  };
}

function definitionIn(parts: BridgeParts, name: string): unknown {
  const found = parts.lookUp(name);
  if ("code" in found) throw new ToolError(found.message, found);
  // What cannot run now, or is denied in every use, is not found by searching either.
  if (!parts.catalogue().entries.includes(found)) {
    throw new ToolError(`${found.name} cannot be used in this session`, {
      code: "unavailable",
      hint: `${parts.settings.names.search} finds tools that can.`,
    });
  }
  return found.definition.function;
}

/** One wrong name among several takes nothing away from the others. */
function definitionOrProblem(parts: BridgeParts, name: string): unknown {
  try {
    return definitionIn(parts, name);
  } catch (problem) {
    if (!ToolError.isInstance(problem)) throw problem;
    const { message, hint } = problem;
    return { name, error: message, hint };
  }
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
        name: { type: "string" },
        arguments: { type: "object", description: "As its signature says" },
      },
      required: ["name"],
    },
    // Never judged by: the tool that is meant has its own. It keeps clients from taking this one for harmless.
    permissions: ["mcp:call"],
    effects: () => [],
    handler() {
      throw new ToolError(`${names.call} was not resolved to the tool it names`, { code: "internal" });
    },
  };
}
