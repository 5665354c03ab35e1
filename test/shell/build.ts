import { Verdicts } from "../../src/shell/rules/rule-index.js";
import type { Finding, ShellRedirect, ShellWord, SimpleCommand } from "../../src/shell/types.js";
import { UNKNOWN } from "../../src/shell/types.js";

/**
 * Makes one simple command from a line as a person types it, without the real parser: quotes, redirections,
 * assignments in front, `$NAME` as an unknown piece, `$(program …)` as an unknown piece with its command.
 */
export function simple(line: string, more: Partial<SimpleCommand> = {}): SimpleCommand {
  const assignments: { name: string; value: ShellWord }[] = [];
  const redirects: ShellRedirect[] = [];
  const words: ShellWord[] = [];
  let waiting: ShellRedirect["kind"] | undefined;
  for (const token of tokens(line)) {
    if (token.operator !== undefined) waiting = token.operator;
    else if (waiting !== undefined) {
      redirects.push({ kind: waiting, target: token.word });
      waiting = undefined;
    } else {
      const assignment = words.length === 0 ? /^(\w+)=/.exec(token.word.text) : null;
      if (assignment?.[1] === undefined) words.push(token.word);
      else
        assignments.push({
          name: assignment[1],
          value: { ...token.word, text: token.word.text.slice(assignment[0].length) },
        });
    }
  }
  const [name = { text: "", known: true, glob: false }, ...args] = words;
  return {
    program: (name.text.split("/").at(-1) ?? "").toLowerCase(),
    args,
    name,
    assignments,
    redirects,
    input: { kind: "none" },
    wrappers: [],
    feeds: [],
    repeated: false,
    rounds: 1,
    span: [0, line.length],
    ...more,
  };
}

/** The strictest word the rules have for a command. */
export function levelOf(command: SimpleCommand): "safe" | "danger" | "hardline" {
  const found = findingsOf(command);
  if (found.some(({ level }) => level === "hardline")) return "hardline";
  return found.length > 0 ? "danger" : "safe";
}

export function findingsOf(command: SimpleCommand): readonly Finding[] {
  return new Verdicts(1).of(command);
}

interface Token {
  readonly word: ShellWord;
  readonly operator?: ShellRedirect["kind"];
}

const PIECE =
  /\s+|\d*(?:<>|>>|>\||&>|>&|>|<)|'([^']*)'|"((?:[^"\\]|\\.)*)"|\$\(([^)]*)\)|\$\{?\w+\}?|\$[!?$@*#]|\\(.)|[^\s<>'"$\\]|\$/gs;

function tokens(line: string): readonly Token[] {
  const found: Token[] = [];
  let text: string | undefined;
  let glob = false;
  let outputs: SimpleCommand[] = [];
  const close = () => {
    if (text === undefined) return;
    const word = { text, known: !text.includes(UNKNOWN), glob, ...(outputs.length > 0 ? { outputs } : {}) };
    found.push({ word });
    text = undefined;
    glob = false;
    outputs = [];
  };
  for (const match of line.matchAll(PIECE)) {
    const [piece, single, double, substituted, escaped] = match;
    const isDescriptor = /^\d/.test(piece) && text !== undefined;
    if (/^\s/.test(piece)) close();
    else if (
      /[<>][|&]?$/.test(piece) &&
      !isDescriptor &&
      piece.length < 5 &&
      single === undefined &&
      double === undefined
    ) {
      if (!/^[|]$/.test(piece)) close();
      found.push({ word: { text: piece, known: true, glob: false }, operator: operatorOf(piece) });
    } else if (substituted !== undefined) {
      text = (text ?? "") + UNKNOWN;
      outputs.push(simple(substituted));
    } else if (single !== undefined || escaped !== undefined) text = (text ?? "") + (single ?? escaped ?? "");
    else if (double !== undefined) text = (text ?? "") + withVariables(double, outputs);
    else if (piece.startsWith("$") && piece !== "$") text = (text ?? "") + variable(piece);
    else {
      if (/[*?[]/.test(piece)) glob = true;
      text = (text ?? "") + piece;
    }
  }
  close();
  return found;
}

function operatorOf(piece: string): ShellRedirect["kind"] {
  if (piece.includes("<>")) return "both";
  if (piece.includes(">>")) return "append";
  return piece.includes(">") ? "write" : "read";
}

function withVariables(text: string, outputs: SimpleCommand[]): string {
  return text.replace(
    /\$\(([^)]*)\)|\$\{?\w+\}?|\$[!?$@*#]|\\(.)/g,
    (piece, inner?: string, escaped?: string) => {
      if (escaped !== undefined) return escaped;
      if (inner === undefined) return variable(piece);
      outputs.push(simple(inner));
      return UNKNOWN;
    },
  );
}

function variable(piece: string): string {
  return /^\$\{?HOME\}?$/.test(piece) ? "~" : UNKNOWN;
}
