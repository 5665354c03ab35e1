import type { ShellWord, SimpleCommand, Wrapper } from "../types.js";

/** Something that runs inside a command: what `sudo`, `sh -c`, `xargs` or `find -exec` lead to. */
export type Opening =
  /** A program with its words. */
  | {
      readonly kind: "argv";
      readonly argv: readonly ShellWord[];
      readonly wrapper: Wrapper;
      readonly assignments?: SimpleCommand["assignments"];
      /** Runs once for each of many operands. */
      readonly repeated?: boolean;
      /** The folder it is started in. */
      readonly folder?: ShellWord | undefined;
    }
  /** A text that a shell reads. */
  | {
      readonly kind: "text";
      readonly text: ShellWord;
      readonly wrapper: Wrapper;
      readonly positional?: readonly ShellWord[] | undefined;
      /** The word of `$0` in it. */
      readonly zero?: ShellWord | undefined;
      readonly repeated?: boolean;
      readonly foreign?: boolean;
      /** Runs in the very same shell: `eval`, `trap`. */
      readonly here?: boolean;
      /** Runs when the shell ends, with what its variables hold by then. */
      readonly later?: boolean;
    }
  /** A shell that reads its commands from standard input. */
  | {
      readonly kind: "input";
      readonly wrapper: Wrapper;
      readonly positional?: readonly ShellWord[] | undefined;
      readonly foreign?: boolean;
      readonly here?: boolean;
    }
  /** A file of shell commands. */
  | {
      readonly kind: "script";
      readonly path: ShellWord;
      readonly wrapper: Wrapper;
      readonly positional?: readonly ShellWord[] | undefined;
      readonly foreign?: boolean;
      readonly here?: boolean;
    }
  /** Something runs, but what cannot be told. */
  | { readonly kind: "opaque" };

/** What a carrier leads to. An empty list: it carries nothing this time (`sudo -l`, `env` alone). */
export type Opener = (args: readonly ShellWord[], input: OpenerInput) => readonly Opening[];

export interface OpenerInput {
  readonly program: string;
  /** What is known to arrive on standard input; undefined when nothing or nobody knows. */
  readonly stdin: string | undefined;
  /** True when something arrives on standard input. */
  readonly fed: boolean;
  readonly assignments: SimpleCommand["assignments"];
  /** What stands in a file that the same line wrote. */
  fileText(path: string): string | undefined;
}

export function local(program: string): Wrapper {
  return { program, kind: "local" };
}

/** Words as one text for a shell, the way `ssh` and `watch` join them. */
export function joinWords(words: readonly ShellWord[]): ShellWord {
  const variables = words.flatMap((word) => word.variables ?? []);
  const outputs = words.flatMap((word) => word.outputs ?? []);
  const [first] = words;
  return {
    text: words.map((word) => word.text).join(" "),
    known: words.every((word) => word.known),
    glob: false,
    variables: variables.length > 0 ? variables : undefined,
    outputs: outputs.length > 0 ? outputs : undefined,
    span: words.length === 1 ? first?.span : undefined,
  };
}

export function wordOf(text: string, like?: ShellWord): ShellWord {
  return { ...like, text, known: !text.includes("\uFFFC"), glob: false };
}
