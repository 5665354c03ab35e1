import { parseOptions } from "../read/options.js";
import { type SimpleCommand, UNKNOWN } from "../types.js";
import type { CodeEffects } from "./effects.js";
import { shellText } from "./values.js";

const MOST_RECIPES = 200;
const LONGEST_LINE = 4000;
const TAKING = "f file makefile C directory I include-dir j jobs l load-average o W E eval".split(" ");

/** Commands of a makefile that is given as text, and of variables that name the shell or a program. */
export function makeEffects(command: SimpleCommand): CodeEffects {
  const { values, operands } = parseOptions(command.args, { taking: TAKING });
  const shell: string[] = [];
  const { input } = command;
  const fromInput = [
    ...(values.get("f") ?? []),
    ...(values.get("file") ?? []),
    ...(values.get("makefile") ?? []),
  ].some(({ text }) => text === "-" || text === "/dev/stdin");
  if (fromInput && input.kind === "text") shell.push(...recipesOf(input.text.text));
  for (const word of [...(values.get("E") ?? []), ...(values.get("eval") ?? [])])
    shell.push(...recipesOf(word.text.replaceAll("\\n", "\n")));
  for (const { text } of operands) {
    const given = /^(?:SHELL|CC|CXX|LD|AR|AS|CPP|INSTALL|RM|MAKE|\.SHELLFLAGS)\s*[:?+]?=\s*([\s\S]+)$/.exec(
      text,
    )?.[1];
    if (given !== undefined) shell.push(shellText(given));
    shell.push(...called(text));
  }
  return { shell: shell.slice(0, MOST_RECIPES), opaque: false };
}

/** Lines behind a tab, what follows `;` in a rule, and `$(shell …)` anywhere. */
export function recipesOf(text: string): readonly string[] {
  const shell: string[] = [];
  for (const line of text.split("\n").slice(0, MOST_RECIPES)) {
    const recipe = line.startsWith("\t") ? line : /^[^\s#][^#:=]*::?[^=;]*;([\s\S]*)$/.exec(line)?.[1];
    if (recipe !== undefined)
      shell.push(
        shellText(
          recipe
            .trim()
            .replace(/^[@+-]+\s*/, "")
            .replaceAll("$$", "$"),
        ),
      );
    shell.push(...called(line));
  }
  return shell;
}

function called(text: string): readonly string[] {
  if (text.length > LONGEST_LINE || !/shell|!=/.test(text)) return [];
  return [...text.matchAll(/\$[({]shell\s+([^(){}]+)[)}]|!=\s*(.+)$/g)].map((match) =>
    shellText((match[1] ?? match[2] ?? UNKNOWN).trim()),
  );
}
