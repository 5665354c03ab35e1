import { quoteForShell } from "../base/quote.js";
import { readCommandLine } from "./command-line.js";

/** What typed text means to the program that reads it. */
export interface TypedText {
  /** The command line that would do the same. */
  readonly text: string;
  /** False when the program is not one that runs what it reads, as far as its name tells. */
  readonly isCommand: boolean;
}

/** Shells, and programs that start one here or elsewhere when they are given no command. */
const SHELLS =
  /^(?:(?:ba|z|da|k|c|tc|fi|a)?sh|ssh|docker|podman|kubectl|su|sudo|doas|screen|tmux|script|env|exec|command|nohup|nice|stdbuf|setsid|time)$/;
/** How each interpreter takes the same code on its command line. */
const CODE_OPTIONS: readonly (readonly [RegExp, string])[] = [
  [/^(?:i?python|pypy)[\d.]*$/, "python3 -c"],
  [/^(?:node|nodejs|bun|deno)$/, "node -e"],
  [/^perl[\d.]*$/, "perl -e"],
  [/^(?:irb|ruby[\d.]*)$/, "ruby -e"],
  [/^php[\d.]*$/, "php -r"],
  [/^sqlite3?$/, "sqlite3 typed.db <<<"],
  [/^(?:psql|pgcli)$/, "psql <<<"],
  [/^(?:mysql|mariadb|mycli)$/, "mysql <<<"],
  [/^duckdb$/, "duckdb typed.db <<<"],
  [/^(?:mongosh?|mongo)$/, "mongosh --eval"],
  [/^redis-cli$/, "redis-cli <<<"],
];

/**
 * Text typed into a running program, as the command line that would do the same: shells run it as it is,
 * interpreters as code. Anything else gets answers; they are judged as shell text too, in case it runs them.
 */
export function typedAs(text: string, into: string): TypedText {
  const program = programStartedBy(into);
  if (program === undefined || SHELLS.test(program)) return { text, isCommand: true };
  const interpreter = CODE_OPTIONS.find(([names]) => names.test(program));
  if (interpreter !== undefined) {
    return { text: `${interpreter[1]} ${quoteForShell(text)}`, isCommand: true };
  }
  return { text, isCommand: false };
}

/** The one program that a line starts; undefined when it starts more, so that nothing is ruled out. */
function programStartedBy(line: string): string | undefined {
  const [reading] = readCommandLine(line).readings ?? [];
  const started = reading?.commands.filter((command) => !reading.carriers.has(command)) ?? [];
  return started.length === 1 ? started[0]?.program || undefined : undefined;
}
