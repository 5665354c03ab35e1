/** The same lines in the old text as sent and in the file as found show how indentation differs. */
export interface IndentationPair {
  readonly sent: readonly string[];
  readonly found: readonly string[];
}

/** Gives new lines the indentation of the file, when the old lines were sent with another one. */
export function reindent(lines: readonly string[], pair: IndentationPair): string[] {
  const known = indentationMap(pair);
  if ([...known].every(([sent, found]) => sent === found)) return [...lines];
  const units = { sent: unitOf([...pair.sent, ...lines]), found: unitOf(pair.found) };
  return lines.map((line) => {
    if (line.trim() === "") return line;
    const indent = indentOf(line);
    return translate(indent, known, units) + line.slice(indent.length);
  });
}

export function indentOf(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}

function indentationMap({ sent, found }: IndentationPair): Map<string, string> {
  const known = new Map<string, string>();
  for (const [index, line] of sent.entries()) {
    const counterpart = found[index];
    if (counterpart === undefined || line.trim() === "" || counterpart.trim() === "") continue;
    if (!known.has(indentOf(line))) known.set(indentOf(line), indentOf(counterpart));
  }
  return known;
}

interface Units {
  readonly sent: string | undefined;
  readonly found: string | undefined;
}

function translate(indent: string, known: ReadonlyMap<string, string>, units: Units): string {
  const same = known.get(indent);
  if (same !== undefined) return same;
  const inner = [...known].filter(([sent]) => indent.startsWith(sent));
  const deepest = inner.sort(([left], [right]) => right.length - left.length)[0];
  if (deepest !== undefined) {
    const [sent, found] = deepest;
    return found + deeper(indent.slice(sent.length), found, units);
  }
  const outer = [...known].filter(([sent]) => sent.startsWith(indent));
  const nearest = outer.sort(([left], [right]) => left.length - right.length)[0];
  if (nearest === undefined) return indent;
  const [sent, found] = nearest;
  const unit = units.sent ?? found;
  const levels = Math.round((sent.length - indent.length) / Math.max(1, unit.length));
  const width = (units.found ?? (found.includes("\t") ? "\t" : unit)).length;
  return found.slice(0, Math.max(0, found.length - levels * width));
}

/** Indentation below a known level, in the file's own unit where that is known. */
function deeper(rest: string, found: string, units: Units): string {
  const unit = units.found ?? (found.includes("\t") ? "\t" : undefined);
  if (unit === undefined || units.sent === undefined) return rest;
  const levels = Math.floor(rest.length / units.sent.length);
  return unit.repeat(levels) + rest.slice(levels * units.sent.length);
}

/** One level of indentation: the smallest step between two depths. */
function unitOf(lines: readonly string[]): string | undefined {
  const indents = lines.filter((line) => line.trim() !== "").map(indentOf);
  if (indents.some((indent) => indent.includes("\t"))) return "\t";
  const widths = [...new Set(indents.map((indent) => indent.length))].sort((left, right) => left - right);
  const steps = widths.slice(1).map((width, index) => width - (widths[index] ?? 0));
  return steps.length === 0 ? undefined : " ".repeat(Math.min(...steps));
}
