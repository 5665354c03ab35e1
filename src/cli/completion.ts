import { homeDir } from "../config/paths.js";
import { optionsOf, type Place, pathOf, placeOf, wordsOf } from "./completion/typed-line.js";
import { ARGUMENTS, type Asked, type Offer, OPTIONS } from "./completion/values.js";
import type { CommandContext } from "./context.js";
import { commandError } from "./errors.js";
import { brief } from "./output.js";
import { buildProgram } from "./program.js";

/** The script that makes a shell ask `hermes complete`. */
export async function completion({ out, args: [shell = ""] }: CommandContext): Promise<void> {
  const scripts = await import("./completion/scripts.gen.js");
  const script = { bash: scripts.BASH, zsh: scripts.ZSH, fish: scripts.FISH, powershell: scripts.POWERSHELL }[
    shell
  ];
  if (script === undefined) {
    throw commandError("bad_request", `There is no completion for ${shell}: bash, zsh, fish or powershell`);
  }
  out.result({ shell, script }, script.trimEnd());
}

/** What could stand where the cursor is: one value per line, with a tab before what it means. */
export async function complete(line: string): Promise<void> {
  for (const [value, about = ""] of await offers(line)) {
    process.stdout.write(`${value}\t${brief(about.replaceAll("\t", " "), 100)}\n`);
  }
}

async function offers(line: string): Promise<readonly Offer[]> {
  // The first word is how the program was called.
  const words = wordsOf(line).slice(1);
  const place = placeOf(buildProgram({}), words);
  const home = place.options.get("--home");
  const asked: Asked = {
    home: homeDir({ env: process.env, flags: home === undefined ? {} : { home } }),
    given: place.given,
    word: place.word,
  };
  const found = await valuesAt(place, asked);
  const known = new Map(found.map((offer) => [`${place.before}${offer[0]}`, offer[1]]));
  return [...known].filter(([value]) => value.startsWith(place.before + place.word));
}

function valuesAt(place: Place, asked: Asked): readonly Offer[] | Promise<readonly Offer[]> {
  const { command, given, option, word } = place;
  if (option !== undefined) {
    if (option.argChoices !== undefined) return option.argChoices.map((choice) => [choice]);
    return OPTIONS[option.long ?? ""]?.(asked) ?? [];
  }
  if (word.startsWith("-")) {
    return optionsOf(command)
      .filter(({ hidden }) => !hidden)
      .flatMap(({ long, description }) => (long === undefined ? [] : [[long, description] as const]));
  }
  const sources = ARGUMENTS[pathOf(command)] ?? [];
  const goesOn = command.registeredArguments.at(-1)?.variadic === true;
  const source = sources[given.length] ?? (goesOn ? sources.at(-1) : undefined);
  const commands =
    given.length > 0 ? [] : command.commands.map((one): Offer => [one.name(), one.description()]);
  return commands.length > 0 ? commands : (source?.(asked) ?? []);
}
