import type { Context } from "./context.js";
import { formatPrintf } from "./escapes.js";
import { parseOptions } from "./options.js";
import type { Value } from "./state.js";
import { isKnown } from "./stream.js";
import { type ShellWord, type SimpleCommand, UNKNOWN } from "./types.js";
import { folderAfter } from "./working-folder.js";

/** Commands of the shell itself that change what later commands mean. */
type Builtin = (command: SimpleCommand, context: Context) => void;

const NOBODY_KNOWS: Value = { text: UNKNOWN };
const MOST_LINES = 64;

const changeFolder: Builtin = ({ args }, { state }) => {
  const target = args.find((word) => !/^-[LPe@n]+$/.test(word.text) && word.text !== "--");
  state.folder = folderAfter(target, state.folder);
};

/** `export A=b`, `declare -x A=b`; arrays are seen in the tree itself. */
const declare: Builtin = ({ program, args }, { state, certain }) => {
  const options = args.filter((word) => /^-/.test(word.text)).map((word) => word.text);
  const exports = program === "export" || options.some((text) => text.includes("x"));
  const isFunction = options.some((text) => text.includes("f"));
  for (const word of args) {
    const name = /^([A-Za-z_][\w-]*)(?:\+?=|$)/.exec(word.text)?.[1];
    if (exports && name !== undefined) state.export(name, { isFunction });
    if (program !== "export" && program !== "readonly" && name !== undefined) state.makeLocal(name);
    const match = /^([A-Za-z_]\w*)(\+?)=([\s\S]*)$/.exec(word.text);
    if (match === null) continue;
    const [, target = "", append, text = ""] = match;
    const before = append === "+" ? (state.valuesOf(target)?.[0]?.text ?? "") : "";
    state.assign(target, [valueOfWord(word, before + text)], { certain });
  }
};

function valueOfWord(word: ShellWord, text: string): Value {
  return {
    text,
    ...(word.variables !== undefined && { variables: word.variables }),
    ...(word.outputs !== undefined && { outputs: word.outputs }),
  };
}

/** In a loop every line of a known input is a possible value. */
const read: Builtin = ({ args }, { state, input, repeated, certain }) => {
  const options = { taking: ["d", "i", "n", "N", "p", "t", "u", "a"] };
  const { operands, values } = parseOptions(args, options);
  const names = operands.map((word) => word.text).filter((name) => /^\w+$/.test(name));
  const array = values.get("a")?.[0]?.text;
  if (array !== undefined) state.assign(array, [NOBODY_KNOWS], { certain });
  const known = isKnown(input) ? input.text.replace(/\n$/, "").split("\n") : undefined;
  const lines =
    known === undefined || known.length > MOST_LINES ? undefined : repeated ? known : known.slice(0, 1);
  for (const [index, name] of (names.length === 0 ? ["REPLY"] : names).entries()) {
    const last = index >= names.length - 1;
    const possible = lines?.map((line): Value => {
      return { text: pieceOfLine(line, { index, last, separators: state.valuesOf("IFS")?.[0]?.text }) };
    });
    state.assign(name, possible ?? [fromInput(input)], { certain: certain && !repeated });
  }
};

/** The part of a line that one of several variables gets; the last one gets the rest. */
function pieceOfLine(
  line: string,
  { index, last, separators = " \t\n" }: { index: number; last: boolean; separators: string | undefined },
): string {
  const isSeparator = (character: string): boolean => separators.includes(character);
  let start = 0;
  const skipBlanks = (): void => {
    while (start < line.length && isSeparator(line[start] ?? "") && /\s/.test(line[start] ?? "")) start++;
  };
  skipBlanks();
  for (let word = 0; ; word++) {
    if (word === index && last)
      return line.slice(start).replace(/\s+$/, (end) => (isSeparator(" ") ? "" : end));
    let end = start;
    while (end < line.length && !isSeparator(line[end] ?? "")) end++;
    if (word === index) return line.slice(start, end);
    start = end + 1;
    if (start > line.length) return "";
    skipBlanks();
  }
}

function fromInput(input: Context["input"]): Value {
  return input.kind === "text" && input.from.length > 0
    ? { text: UNKNOWN, outputs: input.from }
    : NOBODY_KNOWS;
}

const readLines: Builtin = ({ args }, { state, input, certain }) => {
  const { operands } = parseOptions(args, { taking: ["d", "n", "O", "s", "u", "C", "c"] });
  const items = isKnown(input) ? input.text.replace(/\n$/, "").split("\n") : undefined;
  const value: Value = items === undefined ? fromInput(input) : { text: items[0] ?? "", items };
  state.assign(operands[0]?.text ?? "MAPFILE", [value], { certain });
};

const setPositional: Builtin = ({ args }, { state }) => {
  const dashes = args.findIndex((word) => word.text === "--" || word.text === "-");
  const first = dashes >= 0 ? dashes + 1 : args.findIndex((word) => !/^[-+]/.test(word.text));
  if (first < 0 || (dashes < 0 && /^[-+]\w*o$/.test(args[first - 1]?.text ?? ""))) return;
  state.positional = args.slice(first);
};

const shiftPositional: Builtin = ({ args }, { state }) => {
  const count = /^\d{1,4}$/.test(args[0]?.text ?? "1") ? Number(args[0]?.text ?? "1") : 1;
  state.positional = state.positional?.slice(count);
};

const defineAlias: Builtin = ({ args }, { state }) => {
  for (const { text } of args) {
    const cut = text.indexOf("=");
    if (cut > 0) state.aliases.set(text.slice(0, cut), text.slice(cut + 1));
  }
};

export const BUILTINS: ReadonlyMap<string, Builtin> = new Map<string, Builtin>([
  ["cd", changeFolder],
  ["pushd", changeFolder],
  [
    "popd",
    (_command, { state }) => {
      state.folder = undefined;
    },
  ],
  ["export", declare],
  ["declare", declare],
  ["typeset", declare],
  ["local", declare],
  ["readonly", declare],
  ["read", read],
  ["mapfile", readLines],
  ["readarray", readLines],
  ["set", setPositional],
  ["shift", shiftPositional],
  ["alias", defineAlias],
  [
    "unalias",
    ({ args }, { state }) => {
      for (const { text } of args) state.aliases.set(text, undefined);
    },
  ],
  [
    "unset",
    ({ args }, { state, certain }) => {
      for (const { text } of args) if (!text.startsWith("-")) state.unset(text, { certain });
    },
  ],
  [
    "printf",
    ({ args }, { state, certain }) => {
      const [option, name, format, ...rest] = args;
      if (option?.text !== "-v" || name === undefined || format === undefined) return;
      const text = formatPrintf(
        format.text,
        rest.map((word) => word.text),
      );
      state.assign(name.text, [{ text }], { certain });
    },
  ],
]);
