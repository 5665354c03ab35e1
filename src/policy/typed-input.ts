import { quoteForShell } from "../base/quote.js";
/** What typed text means to the program that reads it. */
export interface TypedText {
  /** The command line that would do the same. */
  readonly text: string;
  /** False when the program is not one that runs what it reads, as far as its name tells. */
  readonly isCommand: boolean;
}

const SHELLS = /^(?:ba|z|da|k|c|tc|fi|a)?sh$/;
/** Programs that hand what they read to a shell somewhere else. */
const SHELL_CARRIERS = new Set(["ssh", "docker", "podman", "kubectl", "su", "screen", "tmux"]);
const WRAPPERS = new Set("env exec command nohup nice stdbuf setsid time script sudo doas".split(" "));
/** How each interpreter takes the same code on its command line. */
const CODE_OPTIONS: readonly (readonly [RegExp, string])[] = [
  [/^(?:i?python|pypy)[\d.]*$/, "python3 -c"],
  [/^(?:node|nodejs|bun|deno)$/, "node -e"],
  [/^perl[\d.]*$/, "perl -e"],
  [/^(?:irb|ruby[\d.]*)$/, "ruby -e"],
  [/^php[\d.]*$/, "php -r"],
];

/**
 * Text typed into a running program, as the command line that would do the same: shells run it as it is,
 * interpreters as code. Anything else gets answers; they are judged as shell text too, in case it runs them.
 */
export function typedAs(text: string, into: string): TypedText {
  const program = programOf(into);
  if (program === undefined || SHELLS.test(program) || SHELL_CARRIERS.has(program)) {
    return { text, isCommand: true };
  }
  const interpreter = CODE_OPTIONS.find(([names]) => names.test(program));
  if (interpreter !== undefined) {
    return { text: `${interpreter[1]} ${quoteForShell(text)}`, isCommand: true };
  }
  return { text, isCommand: false };
}

/** The program of a simple line; undefined when the line is more than that, so that nothing is ruled out. */
function programOf(line: string): string | undefined {
  if (/[;&|<>`$(){}\n]/.test(line)) return undefined;
  const words = line.trim().split(/\s+/);
  while (words.length > 0 && (/^\w+=/.test(words[0] ?? "") || WRAPPERS.has(nameOf(words[0] ?? "")))) {
    words.shift();
    // An option may take the next word, and some start a shell.
    if (words[0]?.startsWith("-") === true) return undefined;
  }
  const first = words[0];
  return first === undefined ? undefined : nameOf(first);
}

function nameOf(word: string): string {
  return word.replace(/^["']|["']$/g, "").replace(/^.*\//, "");
}
