import { isRecord } from "../base/record.js";

/** In which places two values differ. */
function differences(recorded: unknown, asked: unknown, path: string): readonly string[] {
  if (isRecord(recorded) && isRecord(asked)) {
    const names = [...new Set([...Object.keys(recorded), ...Object.keys(asked)])].sort();
    return names.flatMap((name) =>
      differences(recorded[name], asked[name], path === "" ? name : `${path}.${name}`),
    );
  }
  if (Array.isArray(recorded) && Array.isArray(asked)) {
    const longest = Math.max(recorded.length, asked.length);
    return Array.from({ length: longest }, (_, index) =>
      differences(recorded[index], asked[index], `${path}[${index}]`),
    ).flat();
  }
  if (JSON.stringify(recorded) === JSON.stringify(asked)) return [];
  return [`${path || "it"} was ${shown(recorded, asked)} and is ${shown(asked, recorded)}`];
}

const SHOWN_CHARS = 80;

/** A long text is shown from a little before the place where it begins to differ. */
function shown(value: unknown, other: unknown): string {
  if (value === undefined) return "left out";
  const text = JSON.stringify(value);
  if (text.length <= SHOWN_CHARS) return text;
  const against = JSON.stringify(other) ?? "";
  let from = 0;
  while (from < text.length && text[from] === against[from]) from += 1;
  const start = Math.max(0, from - 20);
  return `${start > 0 ? "…" : ""}${text.slice(start, start + SHOWN_CHARS)}${start + SHOWN_CHARS < text.length ? "…" : ""}`;
}

/** The recorded value that differs in the fewest places, and where. */
export function nearestDifference(
  asked: unknown,
  recorded: readonly { readonly what: string; readonly value: unknown }[],
): string {
  let nearest: { readonly what: string; readonly found: readonly string[] } | undefined;
  for (const { what, value } of recorded) {
    const found = differences(value, asked, "");
    if (nearest === undefined || found.length < nearest.found.length) nearest = { what, found };
  }
  if (nearest === undefined) return "nothing of its kind was recorded";
  const more = nearest.found.length > 3 ? ` and ${nearest.found.length - 3} more` : "";
  return `nearest is ${nearest.what}: ${nearest.found.slice(0, 3).join("; ")}${more}`;
}
