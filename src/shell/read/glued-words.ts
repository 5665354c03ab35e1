import type { Assignment, Command, Word, WordPart } from "./parse.js";

/**
 * `RC=<(…) tool`, `--filter=<(…)`: to bash one word, to the parser two. They are joined again, so that the path stands
 * where the program finds it.
 */
export function joinGluedWords(node: Command): Command {
  return isGlued(node) ? joinSuffix(joinPrefix(node)) : node;
}

function isGlued({ prefix, name, suffix }: Command): boolean {
  let end = prefix.at(-1)?.end ?? -1;
  if (name !== undefined && startsWithStream(name) && name.pos === end) return true;
  end = name?.end ?? end;
  for (const part of suffix) {
    if (part.type === "Word" && part.pos === end && startsWithStream(part)) return true;
    end = part.end;
  }
  return false;
}

const startsWithStream = (word: Word): boolean => word.parts?.[0]?.type === "ProcessSubstitution";

function joinPrefix(node: Command): Command {
  const last = node.prefix.at(-1);
  const { name } = node;
  if (last?.type !== "Assignment" || last.value.type !== "Word") return node;
  if (name === undefined || name.pos !== last.end || !startsWithStream(name)) return node;
  const value = joined(last.value, name);
  const { pos, append, index } = last;
  const text = last.text + name.text;
  const whole: Assignment = {
    type: "Assignment",
    pos,
    end: name.end,
    text,
    name: last.name,
    value,
    append,
    index,
  };
  const prefix = [...node.prefix.slice(0, -1), whole];
  const suffix = [...node.suffix];
  for (let next = suffix[0]; next !== undefined; next = suffix[0]) {
    const assigned = next.type === "Word" ? assignmentIn(next) : next;
    if (assigned === undefined) break;
    prefix.push(assigned);
    suffix.shift();
  }
  const first = suffix[0];
  if (first?.type === "Word") suffix.shift();
  const rest = commandOf(node, { prefix, name: first?.type === "Word" ? first : undefined, suffix });
  return isGlued(rest) ? joinPrefix(rest) : rest;
}

/** What follows an assignment may be another one: `A=<(…) B=c tool`. */
function assignmentIn(word: Word): Assignment | undefined {
  const [, name, append, text] = /^([A-Za-z_]\w*)(\+?)=([\s\S]*)$/.exec(word.text) ?? [];
  if (name === undefined || text === undefined) return undefined;
  const cut = word.text.length - text.length;
  const [first, ...others] = word.parts ?? [];
  if (first !== undefined && (first.type !== "Literal" || first.text.length < cut)) return undefined;
  const pos = word.pos + cut;
  const parts: readonly WordPart[] | undefined =
    first?.type === "Literal"
      ? [
          {
            type: "Literal",
            pos,
            end: first.end,
            text: first.text.slice(cut),
            value: first.value.slice(cut),
          },
          ...others,
        ]
      : undefined;
  const value: Word = { type: "Word", pos, end: word.end, text, value: word.value.slice(cut), parts };
  const { end } = word;
  return {
    type: "Assignment",
    pos: word.pos,
    end,
    text: word.text,
    name,
    value,
    index: undefined,
    append: append === "+" ? true : undefined,
  };
}

function joinSuffix(node: Command): Command {
  let { name } = node;
  const suffix: (typeof node.suffix)[number][] = [];
  for (const part of node.suffix) {
    const before = suffix.at(-1) ?? name;
    const glued = part.type === "Word" && startsWithStream(part) && before?.end === part.pos;
    if (!glued || before === undefined) suffix.push(part);
    else if (before === name) name = joined(name, part);
    else if (before.type === "Word") suffix[suffix.length - 1] = joined(before, part);
    else suffix.push(part);
  }
  return commandOf(node, { prefix: node.prefix, name, suffix });
}

/** The nodes of the parser have getters, which a spread would lose. */
function commandOf(node: Command, parts: Pick<Command, "prefix" | "name" | "suffix">): Command {
  const { pos, end } = node;
  return { type: "Command", pos, end, args: node.args, redirects: node.redirects, ...parts };
}

function joined(first: Word, second: Word): Word {
  return {
    type: "Word",
    pos: first.pos,
    end: second.end,
    text: first.text + second.text,
    value: first.value + second.value,
    parts: [...partsOf(first), ...partsOf(second)],
  };
}

function partsOf({ parts, pos, end, text, value }: Word): readonly WordPart[] {
  return parts ?? (text === "" ? [] : [{ type: "Literal", pos, end, text, value }]);
}
