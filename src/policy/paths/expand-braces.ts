const MOST_VARIANTS = 256;

/**
 * `a/{b,c}/d` as the patterns it stands for. Braces without a comma or without an end are plain characters.
 * Undefined when there would be too many.
 */
export function expandBraces(pattern: string): readonly string[] | undefined {
  let open = [pattern];
  const done: string[] = [];
  while (open.length > 0) {
    const next: string[] = [];
    for (const variant of open) {
      const group = firstGroup(variant);
      if (group === undefined) done.push(variant);
      else for (const choice of group.choices) next.push(group.before + choice + group.after);
      if (done.length + next.length > MOST_VARIANTS) return undefined;
    }
    open = next;
  }
  return done;
}

interface Group {
  readonly before: string;
  readonly choices: readonly string[];
  readonly after: string;
}

function firstGroup(text: string): Group | undefined {
  for (let start = nextBrace(text, 0); start !== -1; start = nextBrace(text, start + 1)) {
    const group = groupAt(text, start);
    if (group !== undefined) return group;
  }
  return undefined;
}

function nextBrace(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === "{") return at;
  }
  return -1;
}

function groupAt(text: string, start: number): Group | undefined {
  const choices: string[] = [];
  let depth = 0;
  let from = start + 1;
  for (let at = start; at < text.length; at += 1) {
    const character = text[at];
    if (character === "\\") at += 1;
    else if (character === "{") depth += 1;
    else if (character === "," && depth === 1) {
      choices.push(text.slice(from, at));
      from = at + 1;
    } else if (character === "}") {
      depth -= 1;
      if (depth > 0) continue;
      if (choices.length === 0) return undefined;
      choices.push(text.slice(from, at));
      return { before: text.slice(0, start), choices, after: text.slice(at + 1) };
    }
  }
  return undefined;
}
