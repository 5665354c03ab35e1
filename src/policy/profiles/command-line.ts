import type { JudgedSegment } from "../../call/scope.js";
import { loadAnalysis } from "../../shell/analysis.js";
import type { Run } from "../../shell/read/context.js";
import { splitCommands, wordsOf } from "./command-words.js";

/** One reading of a line: every command it would start, those that only start others included. */
export type Unfolded = Pick<Run, "commands" | "carriers" | "findings">;

/** A command line as rules about commands see it. */
export interface CommandLine {
  readonly text: string;
  /** As bash reads it, and as a person sees it where that differs. Undefined when nobody can tell. */
  readonly unfolded?: readonly Unfolded[];
  /** The parts the danger analysis has judged; none when it gave up on the line. */
  readonly segments: readonly JudgedSegment[];
}

interface LineOptions {
  readonly segments?: readonly JudgedSegment[] | undefined;
  /** What `~` stands for. */
  readonly home?: string | undefined;
}

type Unfold = (text: string, home: string | undefined) => readonly Unfolded[] | undefined;

let loaded: Unfold | undefined;

/** Loads what takes lines apart; undefined when it is there. Large, and needed only for rules about commands. */
export function loadCommandLines(): Promise<void> | undefined {
  return loaded === undefined ? load() : undefined;
}

async function load(): Promise<void> {
  const [{ unfold }, { ruleIndex }, { normalise }] = await Promise.all([
    import("../../shell/read/unfold.js"),
    import("../../shell/rules/rule-index.js"),
    import("../../shell/read/normalise.js"),
    loadAnalysis(),
  ]);
  loaded = (text, home) => {
    const read = (each: string): Unfolded | undefined => {
      const run = unfold(each, {
        notablePrograms: ruleIndex().programs,
        ...(home !== undefined && { home }),
      });
      return run === undefined || run.budget.exceeded ? undefined : run;
    };
    const written = read(text);
    const seen = normalise(text)?.text;
    const shown = seen === undefined || seen === text ? undefined : read(seen);
    if (written === undefined) return undefined;
    return shown === undefined ? [written] : [written, shown];
  };
}

export function readCommandLine(text: string, { segments = [], home }: LineOptions): CommandLine {
  const unfolded = unfoldOnce(text, home);
  return { text, segments, ...(unfolded !== undefined && { unfolded }) };
}

let last: { readonly key: string; readonly unfolded: readonly Unfolded[] | undefined } | undefined;

/** One call asks several rules about the same line. */
function unfoldOnce(text: string, home: string | undefined): readonly Unfolded[] | undefined {
  if (loaded === undefined) return undefined;
  const key = `${home}\0${text}`;
  if (last?.key !== key) last = { key, unfolded: tried(loaded, text, home) };
  return last.unfolded;
}

function tried(unfold: Unfold, text: string, home: string | undefined): readonly Unfolded[] | undefined {
  try {
    return unfold(text, home);
  } catch {
    return undefined;
  }
}

/** The words of every command, in each reading there is of the line. */
export function wordsIn(line: CommandLine): readonly (readonly (readonly string[])[])[] {
  const { text, segments, unfolded } = line;
  if (unfolded !== undefined) {
    return unfolded.map(({ commands }) =>
      commands.map(({ program, name, args }) => [program || name.text, ...args.map((word) => word.text)]),
    );
  }
  if (segments.length === 0) return [splitCommands(text).map(wordsOf)];
  return [
    segments.map(({ canonical }) => wordsOf(canonical)),
    segments.map((segment) => wordsOf(segment.text)),
  ];
}
