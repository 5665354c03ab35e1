import { isRecord } from "../base/record.js";
import { didYouMean } from "../config/did-you-mean.js";
import { type ConfigNode, type MapEntry, type MapNode, nodeFrom, plainValue } from "../config/node.js";
import { parseConfigText } from "../config/parse-yaml.js";
import { type FileProblem, Problems } from "./problems.js";
import { readTool } from "./read-tool.js";
import { Section } from "./section.js";
import type { CompositeSpec, Step, ToolSpec } from "./tool-spec.js";

/** Room for the tools of a large service. */
export const MAX_FILE_BYTES = 8 * 1024 * 1024;
/** Read as if it were, letters of an older encoding would be lost without a word. */
export const NOT_UTF8 = "it is not UTF-8 text";
const LIMITS = { maxBytes: MAX_FILE_BYTES, maxNodes: 500_000 };

export type ToolFileReading =
  | { readonly ok: true; readonly tools: readonly ToolSpec[] }
  | { readonly ok: false; readonly problems: readonly FileProblem[] };

/** The tools of one file, all of them or none. Never rejects. */
export async function readToolFile(
  text: string,
  known: { readonly composites?: readonly ToolSpec[] } = {},
): Promise<ToolFileReading> {
  const quick = quickly(text);
  if (quick !== undefined) {
    const reading = readRoot(quick, known);
    // Only the real parser knows where a mistake stands.
    if (reading.ok) return reading;
  }
  const parsed = await parseConfigText(text, LIMITS);
  if (parsed.ok) return readRoot(parsed.root, known);
  const { message, place } = parsed;
  return { ok: false, problems: [{ message, place }] };
}

/** Large imported files are written as JSON, which is YAML too and read a hundred times faster. */
function quickly(text: string): MapNode | undefined {
  if (!text.startsWith("{") || text.length > LIMITS.maxBytes) return undefined;
  try {
    const node = nodeFrom(JSON.parse(text));
    return node.kind === "map" ? node : undefined;
  } catch {
    return undefined;
  }
}

/** What every tool of the file has unless it says otherwise. */
const COMMON_DEFAULTS = ["toolset", "tags", "timeout_seconds", "emoji", "type"];
const HTTP_DEFAULTS = ["base_url", "auth", "headers", "retries", "follow_redirects"];
const KNOWN_DEFAULTS: ReadonlySet<string> = new Set([...COMMON_DEFAULTS, ...HTTP_DEFAULTS]);

function readRoot(
  root: MapNode,
  { composites = [] }: { readonly composites?: readonly ToolSpec[] },
): ToolFileReading {
  const problems = new Problems();
  const file = new Section({ node: root, what: "the file", problems });
  file.number("version", { min: 1, max: 1, whole: true });
  file.get("imported");
  const definitions = file.value("$defs");
  if (definitions !== undefined && !isRecord(definitions))
    file.wrong(file.get("$defs"), '"$defs" of the file must be a map of names and JSON Schemas');
  const defaults = readDefaults(file);
  const nodes = file.items("tools", { required: true }) ?? [];
  file.finish();
  const scope = { problems, definitions: isRecord(definitions) ? definitions : {} };
  const tools = nodes.flatMap((node) => readTool(withDefaults(node, defaults), scope) ?? []);
  const seen = new Set<string>();
  for (const tool of tools) {
    if (seen.has(tool.name)) problems.add(tool, `two tools of the file are called ${tool.name}`);
    seen.add(tool.name);
  }
  const cycle = findCycle(tools, composites);
  if (cycle !== undefined)
    problems.add(cycle.at, `a composite would end up calling itself: ${cycle.names.join(" → ")}`);
  return problems.count === 0 ? { ok: true, tools } : { ok: false, problems: problems.list };
}

function readDefaults(file: Section): readonly MapEntry[] {
  const entries = file.section("defaults")?.node.entries ?? [];
  for (const entry of entries) {
    if (KNOWN_DEFAULTS.has(entry.name)) continue;
    const hint =
      didYouMean(entry.name, KNOWN_DEFAULTS) ?? `known here: ${[...KNOWN_DEFAULTS].sort().join(", ")}`;
    file.wrong(entry, `"defaults" has an unknown key ${JSON.stringify(entry.name.slice(0, 60))}`, hint);
  }
  return entries;
}

function withDefaults(node: ConfigNode, defaults: readonly MapEntry[]): ConfigNode {
  if (node.kind !== "map" || defaults.length === 0) return node;
  const own = new Set(node.entries.map(({ name }) => name));
  const type = [...node.entries, ...defaults].find(({ name }) => name === "type")?.node;
  const isHttp = type !== undefined && plainValue(type) === "http_wrapper";
  const added = defaults.filter(
    ({ name }) =>
      !own.has(name) && (COMMON_DEFAULTS.includes(name) || (isHttp && HTTP_DEFAULTS.includes(name))),
  );
  return { ...node, entries: [...node.entries, ...added] };
}

/** What a file would say of one tool, given as values; for those who write such files. */
export function problemsOf(parts: {
  readonly tool: Readonly<Record<string, unknown>>;
  readonly defaults: Readonly<Record<string, unknown>>;
  readonly definitions: Readonly<Record<string, unknown>>;
}): readonly FileProblem[] {
  const problems = new Problems();
  const defaults = nodeFrom(parts.defaults);
  const node = withDefaults(nodeFrom(parts.tool), defaults.kind === "map" ? defaults.entries : []);
  readTool(node, { problems, definitions: parts.definitions });
  return problems.list;
}

/** The first way in which a composite of `tools` leads back to itself, through any of the others. */
function findCycle(
  tools: readonly ToolSpec[],
  others: readonly ToolSpec[],
): { readonly names: readonly string[]; readonly at: Step | undefined } | undefined {
  const composites = new Map<string, CompositeSpec>();
  for (const spec of [...others, ...tools])
    if (spec.type === "composite")
      for (const name of [spec.name, ...spec.aliases]) composites.set(name, spec);
  const harmless = new Set<CompositeSpec>();

  function follow(
    spec: CompositeSpec,
    trail: readonly CompositeSpec[],
  ): readonly CompositeSpec[] | undefined {
    if (harmless.has(spec)) return undefined;
    const begin = trail.indexOf(spec);
    if (begin !== -1) return [...trail.slice(begin), spec];
    for (const step of spec.steps) {
      const next = composites.get(step.tool);
      const found = next === undefined ? undefined : follow(next, [...trail, spec]);
      if (found !== undefined) return found;
    }
    harmless.add(spec);
    return undefined;
  }

  for (const spec of tools) {
    if (spec.type !== "composite") continue;
    const cycle = follow(spec, []);
    if (cycle === undefined) continue;
    const names = cycle.map(({ name }) => name);
    return { names, at: spec.steps.find((step) => names.includes(composites.get(step.tool)?.name ?? "")) };
  }
  return undefined;
}
