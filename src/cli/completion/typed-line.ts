import type { Command, Option } from "commander";

/** Where on the line of a person the cursor stands. */
export interface Place {
  readonly command: Command;
  /** Words behind the command that are neither options nor their values. */
  readonly given: readonly string[];
  /** The option whose value is being typed. */
  readonly option: Option | undefined;
  /** `--format=` where the option and its value are one word. */
  readonly before: string;
  /** What has been typed of the word so far. */
  readonly word: string;
  /** Values of options by their long name, such as `--home`. */
  readonly options: ReadonlyMap<string, string>;
}

/** The words of a line up to the cursor, read as a shell would, but nothing in them is ever run. The last is unfinished. */
export function wordsOf(line: string): readonly string[] {
  const words: string[] = [];
  let word = "";
  let quote: string | undefined;
  let isOpen = false;
  for (let index = 0; index < line.length; index += 1) {
    const sign = line[index] ?? "";
    if (quote !== "'" && sign === "\\") {
      index += 1;
      word += line[index] ?? "";
    } else if (quote === undefined ? sign === "'" || sign === '"' : sign === quote) {
      quote = quote === undefined ? sign : undefined;
      isOpen = true;
    } else if (quote === undefined && /\s/.test(sign)) {
      if (isOpen || word !== "") words.push(word);
      word = "";
      isOpen = false;
    } else word += sign;
  }
  return [...words, word];
}

/** Follows the words to the command they name, as the parser would. */
export function placeOf(program: Command, words: readonly string[]): Place {
  let command = program;
  let option: Option | undefined;
  const given: string[] = [];
  const options = new Map<string, string>();
  for (const word of words.slice(0, -1)) {
    const inner = given.length === 0 ? command.commands.find((one) => one.name() === word) : undefined;
    if (option !== undefined) {
      if (option.long !== undefined) options.set(option.long, word);
      option = undefined;
    } else if (word.startsWith("-")) {
      const found = optionsOf(command).find(({ long, short }) => long === word || short === word);
      if (found?.required === true) option = found;
    } else if (inner !== undefined) command = inner;
    else given.push(word);
  }
  const word = words.at(-1) ?? "";
  const joined = /^(--[^=]+)=(.*)$/s.exec(word);
  const [, name, value = ""] = joined ?? [];
  const found = optionsOf(command).find(({ long, required }) => long === name && required);
  if (option !== undefined || found === undefined)
    return { command, given, option, before: "", word, options };
  return { command, given, option: found, before: `${name}=`, word: value, options };
}

/** Its own and those that every command takes. */
export function optionsOf(command: Command): readonly Option[] {
  const options: Option[] = [];
  for (let one: Command | null = command; one !== null; one = one.parent) options.push(...one.options);
  return options;
}

/** `tools info`; nothing for the program itself. */
export function pathOf(command: Command): string {
  const names: string[] = [];
  for (let one = command; one.parent !== null; one = one.parent) names.unshift(one.name());
  return names.join(" ");
}
