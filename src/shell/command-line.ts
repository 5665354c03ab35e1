import { LIMITS } from "./limits.js";
import type { Run } from "./read/context.js";
import { foldFolders } from "./read/expand-words.js";
import { type Normalised, normalise } from "./read/normalise.js";
import { unfold } from "./read/unfold.js";
import { ruleIndex } from "./rules/rule-index.js";
import { writesOf } from "./rules/writes.js";
import { UNKNOWN } from "./types.js";

/** Where a line would run, as far as its meaning depends on that. */
export interface LineOptions {
  /** The person's home folder, so that its full path counts like `~`. */
  readonly home?: string | undefined;
  /** Where the runtime keeps its own settings. */
  readonly hermesHome?: string | undefined;
  /** The folder the session works in: its own files are no throw-away ones, wherever it lies. */
  readonly workspace?: string | undefined;
  /** What commands before this line have exported. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
  /** The text of a file that the line would run, when it is to be judged like the line itself. */
  readonly files?: ((path: string) => string | undefined) | undefined;
}

/** A command line and what it would run. Everything is worked out when it is first asked for, and once. */
export class CommandLine {
  readonly text: string;
  readonly options: LineOptions;
  readonly isTooLong: boolean;
  readonly #texts = new Map<string, string | undefined>();
  #filesRead = 0;
  #written: { readonly run: Run | undefined } | undefined;
  #shown: { readonly line: ShownLine | undefined } | undefined;

  constructor(text: string, options: LineOptions) {
    this.text = text;
    this.options = options;
    this.isTooLong = text.length > LIMITS.length;
  }

  /** As bash reads it; undefined when it is not valid shell text. */
  get written(): Run | undefined {
    this.#written ??= { run: this.#unfold(this.text) };
    return this.#written.run;
  }

  /** As a person sees it, where lookalikes and hidden characters make that something else. */
  get shown(): ShownLine | undefined {
    if (this.#shown === undefined) {
      const seen = normalise(this.text);
      this.#shown = { line: seen && { ...seen, run: this.#unfold(seen.text) } };
    }
    return this.#shown.line;
  }

  /** Every reading there is of it; undefined when nobody can tell what it would run. */
  get readings(): readonly Run[] | undefined {
    if (this.isTooLong) return undefined;
    try {
      const all = [this.written, ...(this.shown === undefined ? [] : [this.shown.run])];
      const [written, ...others] = all.map((run) => (run?.budget.exceeded === true ? undefined : run));
      return written && [written, ...others.filter((run) => run !== undefined)];
    } catch {
      return undefined;
    }
  }

  /** Files that its commands write, delete or replace, as they spell them: redirections, `tee`, `cp`, `mv`, `dd` … */
  get writes(): readonly string[] {
    const commands = (this.readings ?? []).flatMap((run) => run.commands);
    const words = commands.flatMap((command) => writesOf(command).map(({ word }) => word));
    return [...new Set(words.filter(({ known }) => known).map(({ text }) => text))].slice(0, MOST_WRITES);
  }

  /** A path as the words of this line spell it: `/home/me/x` is `~/x`. */
  shortPath(path: string): string {
    return foldFolders(path.replace(/^\$(?:HOME\b|\{HOME\})/, "~"), this.options);
  }

  /** Whether it was judged by the text of files as well. */
  get hasReadFiles(): boolean {
    return [...this.#texts.values()].some((text) => text !== undefined);
  }

  /** True when every file that was looked at still holds what it held. */
  isUnchanged(files: LineOptions["files"]): boolean {
    if ((files === undefined) !== (this.options.files === undefined)) return false;
    for (const [path, text] of this.#texts) if (files?.(path) !== text) return false;
    return true;
  }

  #read(path: string): string | undefined {
    if (this.#texts.has(path)) return this.#texts.get(path);
    const found = this.options.files?.(path);
    const text = found !== undefined && ++this.#filesRead > MOST_FILES ? UNKNOWN : found;
    this.#texts.set(path, text);
    return text;
  }

  #unfold(text: string): Run | undefined {
    const files = this.options.files && ((path: string) => this.#read(path));
    return unfold(text, { ...this.options, files, notablePrograms: ruleIndex().programs });
  }
}

export interface ShownLine extends Normalised {
  readonly run: Run | undefined;
}

const MOST_WRITES = 200;
/** What further files hold that a line runs, nobody reads: it may be anything. */
const MOST_FILES = 64;

/** One call asks several rules about the same line, and sometimes about that line in another folder. */
const MOST_KEPT = 2;
const kept: CommandLine[] = [];

/** The one way to find out what a command line would run; asked again about the same line, it knows. */
export function readCommandLine(text: string, options: LineOptions = {}): CommandLine {
  const known = kept.find(
    (line) => line.text === text && isSame(line.options, options) && line.isUnchanged(options.files),
  );
  if (known !== undefined) return known;
  const line = new CommandLine(text, options);
  kept.unshift(line);
  kept.length = Math.min(kept.length, MOST_KEPT);
  return line;
}

function isSame(one: LineOptions, other: LineOptions): boolean {
  if (one.home !== other.home || one.hermesHome !== other.hermesHome || one.workspace !== other.workspace)
    return false;
  const [variables, others] = [one.variables ?? {}, other.variables ?? {}];
  const names = Object.keys(variables);
  return (
    names.length === Object.keys(others).length && names.every((name) => variables[name] === others[name])
  );
}
