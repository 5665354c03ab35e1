/** What the analysis says between its parts: how a command line was unfolded, and what a rule found in it. */

/** One word of a command as the program would receive it, as far as that can be foreseen. */
export interface ShellWord {
  /** The text; a piece that only the running shell knows is one `UNKNOWN` character. */
  readonly text: string;
  /** True when no piece is unknown. */
  readonly known: boolean;
  /** True when it holds unquoted `*`, `?` or `[`, which the shell matches against files. */
  readonly glob: boolean;
  /** Variables behind its unknown pieces: `$API_KEY` in `"Bearer $API_KEY"`. */
  readonly variables?: readonly string[] | undefined;
  /** Commands whose output is part of it: `$(cat key)`. */
  readonly outputs?: readonly SimpleCommand[] | undefined;
  /** Where it stands in the command line; absent for words that came out of a variable or a nested text. */
  readonly span?: Span | undefined;
}

export type Span = readonly [start: number, end: number];

/** Stands in `ShellWord.text` for a piece nobody can foresee: an unset variable, a command's output. */
export const UNKNOWN = "\uFFFC";

export interface ShellRedirect {
  /** `read` for `<`, `write` for `>` and `>|`, `append` for `>>`, `both` for `<>`. */
  readonly kind: "read" | "write" | "append" | "both";
  readonly target: ShellWord;
}

/** What a command reads as standard input. */
export type ShellInput =
  | { readonly kind: "none" }
  /** Here-document, here-string, or what `echo`, `printf` and the like are known to print. */
  | { readonly kind: "text"; readonly text: ShellWord }
  /** Output of other commands whose text nobody knows; the producers are listed for taint rules. */
  | { readonly kind: "commands"; readonly from: readonly SimpleCommand[] }
  | { readonly kind: "file"; readonly path: ShellWord };

/** Through what a command is reached, outermost first: `sudo`, `ssh prod`, `docker exec web` … */
export interface Wrapper {
  readonly program: string;
  /** `local` keeps meaning (timeout, nice), `root` raises rights, `remote` is another host, `container` a container. */
  readonly kind: "local" | "root" | "remote" | "container";
  /** Whose rights it lends, when it is somebody else than root. */
  readonly user?: string | undefined;
}

/** A program with its arguments, wrappers already opened: what a rule judges. New fields belong into its key too. */
export interface SimpleCommand {
  /** Lower-case last segment of the path: `/bin/RM` is `rm`. Empty when unknown. */
  readonly program: string;
  /** Arguments without the program. */
  readonly args: readonly ShellWord[];
  /** The word that named the program. */
  readonly name: ShellWord;
  /** Assignments in front of it (`LD_PRELOAD=x ls`), and `env NAME=x`. */
  readonly assignments: readonly { readonly name: string; readonly value: ShellWord }[];
  readonly redirects: readonly ShellRedirect[];
  readonly input: ShellInput;
  readonly wrappers: readonly Wrapper[];
  /** Programs that read this command's output, in order of the pipe. */
  readonly feeds: readonly SimpleCommand[];
  /** True inside a loop, or for each of many operands (`xargs`, `find -exec`). */
  readonly repeated: boolean;
  /** How often it runs, as far as the line counts: `Infinity` in a loop without end. */
  readonly rounds: number;
  readonly span: Span;
}

/** What a rule has to say about one simple command. The strictest finding counts. */
export interface Finding {
  readonly level: "danger" | "hardline";
  /** `family.what`, e.g. "recursive-delete.root"; stable, people write it into grants. */
  readonly rule: string;
  /** A short clause after "this command …": "deletes a folder with everything in it". */
  readonly reason: string;
  /** The word that decided, when one did. */
  readonly span?: Span | undefined;
}

/** Looks at one simple command. Pure and cheap: it runs for every command of every line. */
export type Rule = (command: SimpleCommand) => Finding | undefined;
