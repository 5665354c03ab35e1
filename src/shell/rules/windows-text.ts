import type { ShellWord, SimpleCommand } from "../types.js";

const MOST_COMMANDS = 200;
const LONGEST = 20_000;

/**
 * Cuts a PowerShell or cmd text into commands, as far as quoting, pipes and separators tell. Undefined when
 * it is longer than anything somebody types.
 */
export function windowsCommands(text: string): readonly SimpleCommand[] | undefined {
  if (text.length > LONGEST) return undefined;
  const commands: SimpleCommand[] = [];
  let piped: SimpleCommand | undefined;
  for (const { words, pipe } of segments(text)) {
    const [name, ...args] = words;
    if (name === undefined) continue;
    if (commands.length >= MOST_COMMANDS) return undefined;
    const command = {
      program: programName(name),
      name: word(name),
      args: args.map(word),
      assignments: [],
      redirects: [],
      input:
        piped === undefined ? ({ kind: "none" } as const) : ({ kind: "commands", from: [piped] } as const),
      wrappers: [],
      feeds: [],
      repeated: false,
      span: [0, 0] as const,
    };
    commands.push(command);
    piped = pipe ? command : undefined;
  }
  return commands;
}

function programName(name: string): string {
  return (name.toLowerCase().split(/[\\/]/).at(-1) ?? "").replace(/\.(?:exe|cmd|com)$/, "");
}

const word = (text: string): ShellWord => ({ text, known: true, glob: false });

interface Segment {
  readonly words: readonly string[];
  readonly pipe: boolean;
}

const PIECE = /\s+|'([^']*)'|"((?:`.|""|[^"`])*)"|(\|\||&&|[|;&\n(){}])|`?([\s\S])/gy;

function segments(text: string): readonly Segment[] {
  const found: Segment[] = [];
  let words: string[] = [];
  let current: string | undefined;
  const endWord = (): void => {
    if (current !== undefined) words.push(current);
    current = undefined;
  };
  for (const match of text.matchAll(PIECE)) {
    const [piece, single, double, separator, other] = match;
    if (separator !== undefined) {
      endWord();
      if (words.length > 0) found.push({ words, pipe: separator === "|" });
      words = [];
    } else if (single !== undefined) current = (current ?? "") + single;
    else if (double !== undefined) current = (current ?? "") + double;
    else if (/^\s+$/.test(piece)) {
      endWord();
      if (piece.includes("\n") && words.length > 0) {
        found.push({ words, pipe: false });
        words = [];
      }
    } else current = (current ?? "") + (other ?? "");
  }
  endWord();
  if (words.length > 0) found.push({ words, pipe: false });
  return found;
}
