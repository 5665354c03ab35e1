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
  return [...text.matchAll(/^```(\w*)[^\n]*\n([\s\S]*?)^```$/gm)]
    .filter(([, tag]) => tag === language)
    .map(([, , block]) => block ?? "");
}

/** The command lines of a document that start hermes; lines with placeholders are not commands. */
export function hermesCommands(file: string): readonly DocCommand[] {
  return codeBlocks(file, "sh")
    .flatMap(commandLines)
    .filter(({ line }) => /(?:^|\| )(?:npx )?hermes\b/.test(line) && !/\bNAME\b/.test(line));
}

/** Every command line of a block. */
export function commandLines(block: string): readonly DocCommand[] {
  const lines = block.replaceAll(/\\\n\s*/g, "").split("\n");
  return lines
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const [command = "", comment = ""] = line.split(/\s+# /, 2);
      return { line: command.trim(), comment: comment.trim() };
    });
}
