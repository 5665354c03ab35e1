import type { CommandLine, LineOptions } from "./command-line.js";
import type { CommandVerdict } from "./judge.js";
import type { Outline } from "./read/outline.js";
import type { TypedText } from "./typed-input.js";

/** The front door for rooms that must not load the parser and the rules before a command is to be judged. */
interface Analysis {
  judgeCommand(command: string, options?: LineOptions): CommandVerdict;
  readCommandLine(text: string, options?: LineOptions): CommandLine;
  outlineOf(text: string): Outline | undefined;
  typedAs(text: string, into: string): TypedText;
}

let loaded: Analysis | undefined;

/**
 * Loads the analysis; undefined when it is there already. Parser and rules are large, and a session that
 * runs no command never needs them.
 */
export function loadAnalysis(): Promise<void> | undefined {
  return loaded === undefined ? load() : undefined;
}

async function load(): Promise<void> {
  const [{ judgeCommand }, { readCommandLine }, { outlineOf }, { typedAs }] = await Promise.all([
    import("./judge.js"),
    import("./command-line.js"),
    import("./read/outline.js"),
    import("./typed-input.js"),
  ]);
  loaded = { judgeCommand, readCommandLine, outlineOf, typedAs };
}

/** The verdict on a command line. Before the analysis is loaded nothing can be known, so nothing passes. */
export function judgeCommand(command: string, options: LineOptions = {}): CommandVerdict {
  if (loaded !== undefined) return loaded.judgeCommand(command, options);
  const reason = "cannot be judged, because the analysis is not loaded";
  return { verdict: "hardline", rule: "hardline.not-loaded", reason, segments: [] };
}

/** What a command line would run; undefined before the analysis is loaded. */
export function readCommandLine(text: string, options: LineOptions = {}): CommandLine | undefined {
  return loaded?.readCommandLine(text, options);
}

/** The syntax of a line; undefined when it is not valid, or before the analysis is loaded. */
export function outlineOf(text: string): Outline | undefined {
  return loaded?.outlineOf(text);
}

/** Text typed into a running program, as the command line that would do the same. */
export function typedAs(text: string, into: string): TypedText {
  return loaded?.typedAs(text, into) ?? { text, isCommand: true };
}
