import type { CommandVerdict, JudgeOptions } from "./judge.js";

let loaded: typeof import("./judge.js") | undefined;

/**
 * Loads the danger analysis; undefined when it is there already. Parser and rules are large, and a session that
 * runs no command never needs them.
 */
export function loadAnalysis(): Promise<void> | undefined {
  if (loaded !== undefined) return undefined;
  return import("./judge.js").then((module) => {
    loaded = module;
  });
}

/** The verdict on a command line. Before the analysis is loaded nothing can be known, so nothing passes. */
export function judgeCommand(command: string, options: JudgeOptions = {}): CommandVerdict {
  if (loaded !== undefined) return loaded.judgeCommand(command, options);
  const reason = "cannot be judged, because the analysis is not loaded";
  return { verdict: "hardline", rule: "hardline.not-loaded", reason, segments: [] };
}
