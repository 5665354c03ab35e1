import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../cli/hermes.js";

export interface DocCommand {
  /** As written, without the comment. */
  readonly line: string;
  /** The comment behind it. */
  readonly comment: string;
}

/** The text of every fenced block of one language. */
export function codeBlocks(file: string, language: string): readonly string[] {
  const text = readFileSync(join(root, file), "utf8");
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)]
    .filter(([, tag]) => tag === language)
    .map(([, , block]) => block ?? "");
}

/** The command lines of a document that start hermes; lines with placeholders are not commands. */
export function hermesCommands(file: string): readonly DocCommand[] {
  return codeBlocks(file, "sh")
    .flatMap((block) => block.split("\n"))
    .filter((line) => /(?:^|\| )(?:npx )?hermes\b/.test(line) && !/\bNAME\b/.test(line))
    .map((line) => {
      const [command = "", comment = ""] = line.split(/\s+# /, 2);
      return { line: command.trim(), comment: comment.trim() };
    });
}
