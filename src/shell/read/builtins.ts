import { type ShellWord, type SimpleCommand, UNKNOWN } from "../types.js";
import { arrayOf, assignedName, assignVariable, declaredArray, evaluateNumber } from "./assignments.js";
import { type Context, evaluateAgain, evaluateSubscript } from "./context.js";
import { parseOptions } from "./options.js";
import { formatPrintf } from "./printed-text.js";
import { SEPARATORS, type Value } from "./state.js";
import { isKnown } from "./streams.js";
import { enterFolder } from "./working-folder.js";

/** Commands of the shell itself that change what later commands mean. */
type Builtin = (command: SimpleCommand, context: Context) => void;

const UNKNOWN_VALUE: Value = { text: UNKNOWN };
const MOST_LINES = 64;

const changeFolder: Builtin = ({ args }, { state }) => {
  const target = args.find((word) => !/^-[LPe@n]+$/.test(word.text) && word.text !== "--");
  enterFolder(target, state);
};

/** `export A=b`, `declare -x A=b`, `local -n A=b`, `readonly a=(…)`. */
const declare: Builtin = ({ program, args, span }, context) => {
  const { state, certain, branch } = context;
  const options = args.filter((word) => /^[-+]/.test(word.text)).map((word) => word.text);
  const asks = (letter: string): boolean => options.some((text) => text.slice(1).includes(letter));
  const exports = program === "export" || asks("x");
  const renames = program !== "export" && program !== "readonly" && asks("n");
  for (const word of args) {
    const name = /^([A-Za-z_][\w-]*)(?:\+?=|\[|$)/.exec(word.text)?.[1];
    if (name === undefined) continue;
    if (exports) state.export(name, { isFunction: asks("f") });
    const local = program !== "export" && program !== "readonly";
    if (local && !/[=[]/.test(word.text) && !["g", "p", "f", "F"].some(asks)) state.hide(name);
    if (local) state.makeLocal(name);
    const match = /^[A-Za-z_]\w*(\[[\s\S]*?\])?(\+?)=([\s\S]*)$/.exec(word.text);
    if (match === null) {
      if (renames) state.assign(name, [{ text: "", meant: "" }], { certain, branch });
      continue;
    }
    const [, index, append, text = ""] = match;
    if (index !== undefined) evaluateAgain(index, context, span);
    if (asks("i")) evaluateAgain(text, context, span);
    else evaluateNumber(text, context);
    const array = declaredArray(word);
    if (renames) {
      const known = /^[A-Za-z_]\w*(?:\[|$)/.test(text);
      state.assign(name, [known ? { text, meant: text } : UNKNOWN_VALUE], { certain, branch });
    } else if (array !== undefined) assignVariable(name, array, context);
    // Quoted lists, and items of arrays: `declare -a "a=(b c)"`, `declare "a[0]=b"`.
    else if (index !== undefined || (/^\(/.test(text) && (asks("a") || asks("A")))) {
      state.assign(name, [UNKNOWN_VALUE], { certain, branch });
    } else {
      if (append === "+") {
        const before = state.valuesIn(name, branch) ?? [{ text: "" }];
        const longer = before.map((value) => valueOfWord(word, value.text + text));
        state.assign(assignedName(name, state), longer, context);
      } else assignVariable(name, valueOfWord(word, text), context);
    }
  }
};

function valueOfWord(word: ShellWord, text: string): Value {
  return {
    text,
    variables: word.variables,
    outputs: word.outputs,
  };
}

/** In a loop every line of a known input is a possible value. */
const read: Builtin = ({ args, span }, context) => {
  const { state, input, repeated, certain, branch } = context;
  for (const { text } of args) evaluateSubscript(text, context, span);
  const options = { taking: ["d", "i", "n", "N", "p", "t", "u", "a"] };
  const { operands, values } = parseOptions(args, options);
  const names = operands.map((word) => word.text).filter((name) => /^\w+$/.test(name));
  const array = values.get("a")?.[0]?.text;
  const known = isKnown(input) ? input.text.replace(/\n$/, "").split("\n") : undefined;
  for (const line of known?.slice(0, MOST_LINES) ?? []) evaluateNumber(line, context);
  const lines =
    known === undefined || known.length > MOST_LINES ? undefined : repeated ? known : known.slice(0, 1);
  const separators = (state.valuesIn("IFS", branch) ?? [{ text: SEPARATORS }]).map(({ text, unset }) =>
    text.includes(UNKNOWN) || unset === true ? SEPARATORS : text,
  );
  const possibleValues = (read: (line: string, separators: string) => Value) =>
    lines?.flatMap((line) => separators.map((one) => read(line, one)));
  if (array !== undefined) {
    const possible = possibleValues((line, one) =>
      arrayOf(piecesOfLine(line, one).map((text) => ({ text }))),
    );
    state.assign(array, possible ?? [fromInput(input)], { certain: certain && !repeated, branch });
    return;
  }
  for (const [index, name] of (names.length === 0 ? ["REPLY"] : names).entries()) {
    const last = index >= names.length - 1;
    const possible = possibleValues((line, one) => ({
      text: pieceOfLine(line, { index, last, separators: one }),
    }));
    state.assign(name, possible ?? [fromInput(input)], { certain: certain && !repeated, branch });
  }
};

/** `read -a`: every part of a line. */
function piecesOfLine(line: string, separators: string): readonly string[] {
  if (separators === "") return [line];
  const blank = separators.trim() === "";
  const isSeparator = (character: string): boolean => separators.includes(character);
  const pieces: string[] = [""];
  for (const character of blank ? line.trim() : line) {
    if (!isSeparator(character)) pieces[pieces.length - 1] += character;
    else if (!blank || pieces.at(-1) !== "") pieces.push("");
  }
  return pieces;
}

/** The part of a line that one of several variables gets; the last one gets the rest. */
function pieceOfLine(
  line: string,
  { index, last, separators }: { index: number; last: boolean; separators: string },
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
    : UNKNOWN_VALUE;
}

const readLines: Builtin = ({ args }, context) => {
  const { state, input } = context;
  const { operands } = parseOptions(args, { taking: ["d", "n", "O", "s", "u", "C", "c"] });
  const items = isKnown(input) ? input.text.replace(/\n$/, "").split("\n") : undefined;
  const value = items === undefined ? fromInput(input) : arrayOf(items.map((text) => ({ text })));
  state.assign(operands[0]?.text ?? "MAPFILE", [value], context);
};

const setPositional: Builtin = ({ args }, context) => {
  const { state } = context;
  const dashes = args.findIndex((word) => word.text === "--" || word.text === "-");
  const first = dashes >= 0 ? dashes + 1 : args.findIndex((word) => !/^[-+]/.test(word.text));
  if (first < 0 || (dashes < 0 && /^[-+]\w*o$/.test(args[first - 1]?.text ?? ""))) return;
  state.position = { ...state.position, positionals: [args.slice(first)] };
  for (const { text } of args.slice(first)) evaluateNumber(text, context);
};

const shiftPositional: Builtin = ({ args }, { state }) => {
  const count = /^\d{1,4}$/.test(args[0]?.text ?? "1") ? Number(args[0]?.text ?? "1") : 1;
  const positionals = state.position.positionals.map((words) => words?.slice(count));
  state.position = { ...state.position, positionals };
};

const defineAlias: Builtin = ({ args }, { state, certain }) => {
  for (const { text } of args) {
    const cut = text.indexOf("=");
    if (cut > 0) state.defineAlias(text.slice(0, cut), text.slice(cut + 1), { certain });
  }
};

/** `test -v 'a[$(…)]'`. */
const testByName: Builtin = ({ args, span }, context) => {
  for (const [index, word] of args.entries())
    if (args[index - 1]?.text === "-v") evaluateSubscript(word.text, context, span);
};

export const BUILTINS: ReadonlyMap<string, Builtin> = new Map<string, Builtin>([
  ["cd", changeFolder],
  ["pushd", changeFolder],
  [
    "popd",
    (_command, { state }) => {
      state.position = { ...state.position, folders: [undefined] };
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
    ({ args }, { state, certain }) => {
      if (certain) for (const { text } of args) state.aliases.set(text, undefined);
    },
  ],
  [
    "unset",
    ({ args, span }, context) => {
      for (const { text } of args) {
        evaluateSubscript(text, context, span);
        if (!text.startsWith("-")) context.state.unset(text, context);
      }
    },
  ],
  ["test", testByName],
  ["[", testByName],
  [
    "let",
    ({ args, span }, context) => {
      for (const { text } of args) evaluateAgain(text, context, span);
    },
  ],
  [
    "printf",
    ({ args, span }, context) => {
      const [option, name, format, ...rest] = args;
      const attached = /^-v(.+)$/s.exec(option?.text ?? "");
      if (attached !== null) evaluateSubscript(attached[1] ?? "", context, span);
      if (option?.text !== "-v" || name === undefined) return;
      evaluateSubscript(name.text, context, span);
      if (format === undefined) return;
      const text = formatPrintf(
        format.text,
        rest.map((word) => word.text),
      );
      assignVariable(name.text, { text }, context);
    },
  ],
]);
