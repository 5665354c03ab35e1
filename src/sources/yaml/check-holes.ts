import { didYouMean } from "../../config/did-you-mean.js";
import type { Section } from "./section.js";
import { holesOf, type Template } from "./template.js";

/** The parameters that templates name; what is none is reported where it stands. */
export function checkHoles(
  tool: Section,
  { templates, known }: { readonly templates: readonly Template[]; readonly known: readonly string[] },
): ReadonlySet<string> {
  const holes = templates.flatMap(holesOf);
  for (const hole of holes)
    if (!known.includes(hole.name))
      tool.wrong(
        hole,
        `{{${hole.source}}} of ${tool.what} names no parameter`,
        didYouMean(hole.name, known) ?? "add it to parameters",
      );
  return new Set(holes.map(({ name }) => name));
}
