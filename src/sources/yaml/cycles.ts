import type { CompositeSpec, Step, ToolSpec } from "./tool-spec.js";

/** The first way in which a composite of `tools` leads back to itself, through any of the others. */
export function findCycle(
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
