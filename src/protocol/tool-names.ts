/** Longer than any tool name; what is longer is not worth guessing at. */
const MAX_NAME = 256;

/** Ways in which models dress up a name, undone one after the other. */
const STEPS: readonly ((name: string) => string)[] = [
  (name) => name.trim(),
  // Control tokens of a chat template that leaked into the name.
  (name) => name.replace(/<\|.*$/s, ""),
  (name) => name.replace(/^["'`]+|["'`]+$|\(\)$/g, ""),
  undouble,
  (name) => name.replace(/^(?:(?:functions?|tools?|default_api|namespace)(?:::|[.:/]))+/i, ""),
  undouble,
  (name) => name.replace(/^mcp__/, "mcp_").replaceAll("__", "_"),
  (name) =>
    name
      .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
      .replace(/([A-Z])([A-Z][a-z])/g, "$1_$2")
      .replace(/[\s-]+/g, "_")
      .toLowerCase(),
  undouble,
  (name) => name.replace(/_tool$/, ""),
];

/**
 * The spellings under which a called name may be known, the given one first. The caller tries them in
 * order against the names it really has, so a guess can never widen what may be called.
 */
export function normalizeToolName(name: string): string[] {
  if (name.length > MAX_NAME || name.trim() === "") return [name];
  const spellings = new Set([name]);
  let current = name;
  for (const step of STEPS) {
    const next = step(current);
    if (next === "") continue;
    current = next;
    spellings.add(current);
  }
  return [...spellings];
}

/** `web_searchweb_search` → `web_search`: a text is a repetition when it occurs inside its own double. */
function undouble(name: string): string {
  const period = (name + name).indexOf(name, 1);
  return period < name.length ? name.slice(0, period) : name;
}
