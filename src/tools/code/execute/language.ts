import { quoteForShell } from "../../../base/quote.js";
import { ToolError } from "../../../tool/errors.js";

/** What the parameter takes; the later ones are other spellings. */
export const SPELLINGS = ["python", "javascript", "typescript", "py", "js", "ts", "node"] as const;
export type Spelling = (typeof SPELLINGS)[number];

export type Language = "python" | "javascript" | "typescript";
/** The program behind a language. */
export type Runner = "python" | "node" | "bash";

const MEANT: Readonly<Record<Spelling, Language>> = {
  python: "python",
  py: "python",
  javascript: "javascript",
  js: "javascript",
  node: "javascript",
  typescript: "typescript",
  ts: "typescript",
};

export function languageOf(spelling: Spelling | undefined): Language {
  return spelling === undefined ? "python" : MEANT[spelling];
}

export function runnerOf(language: Language): Runner {
  return language === "python" ? "python" : "node";
}

/** The command that would run this code: what the danger analysis reads. */
export function commandFor(runner: Runner, code: string): string {
  if (runner === "bash") return code;
  return `${runner === "python" ? "python3 -c" : "node -e"} ${quoteForShell(code.replaceAll("\0", ""))}`;
}

export function refuseNul(code: string): void {
  if (!code.includes("\0")) return;
  throw new ToolError("The code holds a NUL byte, which no interpreter takes.", {
    code: "invalid_arguments",
    hint: "Write the byte as an escape of the language.",
  });
}
