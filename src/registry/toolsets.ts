import { nearest } from "../config/did-you-mean.js";
import { type Failure, failure } from "../tool/errors.js";
import { TOOL_ALIASES } from "./aliases.js";
import type { RegistrySnapshot } from "./registry.js";
import { CORE_TOOLS, STATIC_TOOLSETS, type ToolsetKind } from "./toolset-table.js";

export interface CustomToolset {
  readonly description?: string;
  readonly tools?: readonly string[];
  readonly includes?: readonly string[];
}

/** Everything resolution depends on; resolving is a pure function of it. */
export interface KnownToolsets {
  readonly registry: RegistrySnapshot;
  readonly custom: ReadonlyMap<string, CustomToolset>;
}

export interface ToolsetInfo {
  readonly name: string;
  readonly kind: ToolsetKind;
  readonly description: string;
  readonly tools: readonly string[];
  readonly includes: readonly string[];
  readonly resolved: readonly string[];
}

const ALL_NAMES = new Set(["all", "*"]);

/** The canonical name behind any spelling of a tool. */
export function canonicalToolName(name: string, registry: RegistrySnapshot): string {
  if (registry.entries.has(name)) return name;
  // The table comes first: nobody else's tool may answer to a name that means a built-in one.
  if (Object.hasOwn(TOOL_ALIASES, name)) return TOOL_ALIASES[name] ?? name;
  return registry.aliases.get(name) ?? name;
}

interface Composition {
  readonly kind: ToolsetKind;
  readonly description: string;
  /** Listed in the table or by the person, in any spelling. */
  readonly named: readonly string[];
  /** Registered with it. */
  readonly members: readonly string[];
  readonly includes: readonly string[];
}

/** What one toolset consists of, before its includes are followed. */
function definitionOf(name: string, known: KnownToolsets): Composition | undefined {
  const target = known.registry.toolsetAliases.get(name);
  const statics = STATIC_TOOLSETS.get(name);
  const custom = known.custom.get(name);
  const members = known.registry.byToolset.get(name);
  if (statics === undefined && custom === undefined && members === undefined && target === undefined)
    return undefined;
  return {
    kind: custom !== undefined ? "custom" : (statics?.kind ?? "dynamic"),
    description:
      custom?.description ?? statics?.description ?? (target === undefined ? "" : `Same as ${target}`),
    named: [...(statics?.tools ?? []), ...(custom?.tools ?? [])],
    members: members ?? [],
    includes: [
      ...(statics?.includes ?? []),
      ...(custom?.includes ?? []),
      ...(target === undefined ? [] : [target]),
    ],
  };
}

/** Sorted tool names of a toolset, or undefined when nothing has that name. */
export function resolveToolset(name: string, known: KnownToolsets): readonly string[] | undefined {
  const followed = follow(name, known);
  if (followed === undefined) return undefined;
  const tools = new Set(followed.named);
  for (const toolset of followed.toolsets) {
    for (const tool of known.registry.byToolset.get(toolset) ?? []) tools.add(tool);
  }
  return [...tools].sort();
}

/** Where a toolset leads: single tools, and toolsets whose registered tools all belong to it. */
interface Followed {
  readonly named: ReadonlySet<string>;
  readonly toolsets: ReadonlySet<string>;
}

/** Cycles and diamonds are fine. */
function follow(name: string, known: KnownToolsets): Followed | undefined {
  const named = new Set<string>();
  const toolsets = new Set<string>();
  const visit = (toolset: string): boolean => {
    if (toolsets.has(toolset)) return true;
    toolsets.add(toolset);
    if (ALL_NAMES.has(toolset)) {
      for (const tool of allTools(known)) named.add(tool);
      return true;
    }
    const definition = definitionOf(toolset, known);
    for (const tool of definition?.named ?? []) named.add(canonicalToolName(tool, known.registry));
    for (const include of definition?.includes ?? []) visit(include);
    return definition !== undefined;
  };
  return visit(name) ? { named, toolsets } : undefined;
}

function allTools(known: KnownToolsets): readonly string[] {
  const custom = [...known.custom.values()].flatMap(({ tools }) => tools ?? []);
  const names = [...known.registry.entries.keys(), ...STATIC_TOOLS, ...custom];
  const all = new Set(names.map((tool) => canonicalToolName(tool, known.registry)));
  return [...all].filter(isInAll(known)).sort();
}

export function toolsetNames(known: KnownToolsets): readonly string[] {
  return [
    ...new Set([
      ...STATIC_TOOLSETS.keys(),
      ...known.custom.keys(),
      ...known.registry.byToolset.keys(),
      ...known.registry.toolsetAliases.keys(),
    ]),
  ].sort();
}

export function describeToolsets(known: KnownToolsets): readonly ToolsetInfo[] {
  return toolsetNames(known).map((name) => {
    const definition = definitionOf(name, known);
    return {
      name,
      kind: definition?.kind ?? "dynamic",
      description: definition?.description ?? "",
      tools: [...new Set([...(definition?.named ?? []), ...(definition?.members ?? [])])].sort(),
      includes: definition?.includes ?? [],
      resolved: resolveToolset(name, known) ?? [],
    };
  });
}

/** Why a tool is in or out. */
export interface SelectionStep {
  readonly tool: string;
  readonly selected: boolean;
  readonly because: string;
}

/** Which tools a view offers. Asked by name, so that ten thousand tools cost nothing until somebody asks. */
export interface Selection {
  selects(tool: string): boolean;
  explain(tool: string): SelectionStep;
  /** Names that mean nothing, each with suggestions. */
  readonly problems: readonly Failure[];
}

export interface SelectionRequest {
  readonly enabled?: readonly string[] | undefined;
  readonly disabled?: readonly string[] | undefined;
  /** Single tools taken out by the person (`hermes tools disable`). */
  readonly disabledTools?: readonly string[] | undefined;
}

interface SelectionRule {
  covers(tool: string): boolean;
  readonly selected: boolean;
  readonly because: string;
}

/**
 * Enabled toolsets (or everything) minus disabled ones; the last rule that covers a tool decides, so disabling
 * always wins. Disabling a bundle removes only what it adds to the core list.
 */
export function selectTools(request: SelectionRequest, known: KnownToolsets): Selection {
  const rules: SelectionRule[] = [];
  const problems: Failure[] = [];
  if (request.enabled === undefined) {
    rules.push({
      covers: isInAll(known),
      selected: true,
      because: "no toolsets were named, so every tool is on",
    });
  }
  for (const name of request.enabled ?? []) {
    const because = `toolset ${name} is enabled`;
    if (ALL_NAMES.has(name)) {
      rules.push({ covers: isInAll(known), selected: true, because });
      continue;
    }
    const covers = coveredBy(name, known);
    if (covers === undefined) problems.push(unknownToolset(name, known));
    else rules.push({ covers, selected: true, because });
  }
  for (const name of request.disabled ?? []) {
    const covers = coveredBy(name, known);
    if (covers === undefined) problems.push(unknownToolset(name, known));
    else if (STATIC_TOOLSETS.get(name)?.bundle === true) {
      const core = new Set(CORE_TOOLS);
      const because = `toolset ${name} is disabled (the core tools it bundles stay)`;
      rules.push({ covers: (tool) => covers(tool) && !core.has(tool), selected: false, because });
    } else rules.push({ covers, selected: false, because: `toolset ${name} is disabled` });
  }
  for (const name of request.disabledTools ?? []) {
    const only = canonicalToolName(name, known.registry);
    if (known.registry.entries.has(only) || STATIC_TOOLS.has(only)) {
      rules.push({
        covers: (tool) => tool === only,
        selected: false,
        because: `tool ${only} is disabled in the configuration`,
      });
    } else problems.push(unknownTool(name, known));
  }

  const deciding = (tool: string) => rules.findLast((rule) => rule.covers(tool));
  return {
    selects: (tool) => deciding(tool)?.selected === true,
    explain(tool) {
      const rule = deciding(tool);
      return {
        tool,
        selected: rule?.selected === true,
        because: rule?.because ?? "no enabled toolset contains it",
      };
    },
    problems,
  };
}

const OPT_IN = [...STATIC_TOOLSETS].filter(([, definition]) => definition.optIn === true);
const OPT_IN_TOOLSETS: ReadonlySet<string> = new Set(OPT_IN.map(([name]) => name));
const OPT_IN_TOOLS: ReadonlySet<string> = new Set(OPT_IN.flatMap(([, definition]) => definition.tools));

/** "all" leaves out what somebody has to name. */
function isInAll({ registry }: KnownToolsets): (tool: string) => boolean {
  return (tool) => !OPT_IN_TOOLS.has(tool) && !OPT_IN_TOOLSETS.has(registry.entries.get(tool)?.toolset ?? "");
}

const STATIC_TOOLS: ReadonlySet<string> = new Set(
  [...STATIC_TOOLSETS.values()].flatMap(({ tools }) => tools),
);

/** Whether a tool is one of a toolset's, or the single tool of that name: lists may mix both. */
function coveredBy(name: string, known: KnownToolsets): ((tool: string) => boolean) | undefined {
  const { entries } = known.registry;
  const followed = follow(name, known);
  if (followed !== undefined) {
    const { named, toolsets } = followed;
    return (tool) => toolsets.has(entries.get(tool)?.toolset ?? "") || named.has(tool);
  }
  const only = canonicalToolName(name, known.registry);
  return entries.has(only) ? (tool) => tool === only : undefined;
}

export function unknownToolset(name: string, known: KnownToolsets): Failure {
  return failure(
    "not_found",
    `Unknown toolset: ${name}`,
    didYouMean(name, toolsetNames(known), "hermes toolsets"),
  );
}

/** `inside`: told to a model, which has been given its tools and has no command line to list others with. */
export function unknownTool(
  name: string,
  { registry, inside = false }: { readonly registry: RegistrySnapshot; readonly inside?: boolean },
): Failure {
  const { entries, aliases } = registry;
  const spellings = [...aliases].flatMap(([alias, tool]) => (entries.has(tool) ? alias : []));
  const candidates = [...entries.keys(), ...spellings];
  const list = inside ? undefined : "hermes tools list";
  return failure("not_found", `Unknown tool: ${name}`, didYouMean(name, candidates, list));
}

function didYouMean(name: string, candidates: readonly string[], list?: string): string | undefined {
  const close = nearest(name, candidates);
  if (close.length > 0) return `Did you mean ${close.join(", ")}?`;
  return list === undefined ? undefined : `Run "${list}" to see what exists.`;
}
