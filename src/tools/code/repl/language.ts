import type { Language, Runner } from "../execute/language.js";

export const REPL_LANGUAGES = [
  "python",
  "node",
  "bash",
  "py",
  "javascript",
  "js",
  "typescript",
  "ts",
  "sh",
] as const;
export type ReplLanguage = (typeof REPL_LANGUAGES)[number];

export interface ReplKind {
  readonly runner: Runner;
  /** What Node gets before it runs. */
  readonly source?: Exclude<Language, "python"> | undefined;
}

const KINDS: Readonly<Record<ReplLanguage, ReplKind>> = {
  python: { runner: "python" },
  py: { runner: "python" },
  node: { runner: "node", source: "javascript" },
  javascript: { runner: "node", source: "javascript" },
  js: { runner: "node", source: "javascript" },
  typescript: { runner: "node", source: "typescript" },
  ts: { runner: "node", source: "typescript" },
  bash: { runner: "bash" },
  sh: { runner: "bash" },
};

export function replKind(language: ReplLanguage | undefined): ReplKind {
  return KINDS[language ?? "python"];
}
