import { type ShellWord, UNKNOWN } from "../types.js";
import { parseOptions } from "./options.js";
import { readEscapes } from "./printed-text.js";
import {
  joinWords,
  local,
  type Opener,
  type Opening,
  readWrapper,
  type WrapperSpec,
  wordOf,
} from "./wrapper-spec.js";

/** Programs that run a command for operands they get from elsewhere. */

/** More operands than this are stood for by one unknown word. */
const MOST_OPERANDS = 256;
const MOST_LINES = 64;
const SOMETHING: ShellWord = { text: UNKNOWN, known: false, glob: false };

const XARGS: WrapperSpec = {
  flags:
    "0 r t p x o i e l null no-run-if-empty verbose interactive exit open-tty show-limits replace eof max-lines",
  taking: "a d E I J L n P R s S arg-file delimiter max-args max-procs max-chars process-slot-var",
  idle: "help version",
};

const openXargs: Opener = (args, { stdin, fileText }) => {
  const read = readWrapper(attachOptional(args), XARGS);
  if (read === undefined || read.given.has("help") || read.given.has("version")) return [];
  const wrapper = local("xargs");
  const placeholder = placeholderOf(read.given);
  const file = read.given.get("a") ?? read.given.get("arg-file");
  const lines = file === undefined ? stdin : fileText(file.text);
  const openings: Opening[] = read.doubtful ? [{ kind: "opaque" }] : [];
  for (const rest of read.rests) {
    if (rest.length === 0) continue;
    for (const argv of filled({
      command: rest,
      placeholder,
      stdin: lines,
      delimiter: delimiterOf(read.given),
    })) {
      openings.push({ kind: "argv", argv, wrapper, repeated: true });
    }
  }
  return openings;
};

/** Undefined for blanks, with quotes. */
function delimiterOf(given: ReadonlyMap<string, ShellWord | undefined>): string | undefined {
  if (given.has("0") || given.has("null")) return "\0";
  const text = (given.get("d") ?? given.get("delimiter"))?.text;
  return text === undefined ? undefined : readEscapes(text);
}

/** `-i{}`, `-l5`: the value is attached or absent, never the next word. Behind the command nothing is an option. */
function attachOptional(args: readonly ShellWord[]): readonly ShellWord[] {
  const own = optionsIn(args);
  return args.map((word, index) => {
    if (index >= own) return word;
    const match = /^-i(.+)$/.exec(word.text);
    if (match !== null) return { ...word, text: `-I${match[1]}` };
    return /^-[le].+$/.test(word.text) ? { ...word, text: word.text.slice(0, 2) } : word;
  });
}

/** How many words in front belong to xargs itself. */
function optionsIn(args: readonly ShellWord[]): number {
  const takesNext =
    /^(?:-[0rtpxo]*[adEIJLnPRsS]|--(?:arg-file|delimiter|max-args|max-procs|max-chars|process-slot-var))$/;
  let at = 0;
  while (at < args.length && args[at]?.text.startsWith("-") === true)
    at += takesNext.test(args[at]?.text ?? "") ? 2 : 1;
  return at;
}

function placeholderOf(given: ReadonlyMap<string, ShellWord | undefined>): string | undefined {
  const named = given.get("I") ?? given.get("J") ?? given.get("replace");
  if (named !== undefined) return named.text === "" ? "{}" : named.text;
  return given.has("i") || given.has("replace") ? "{}" : undefined;
}

function filled(task: {
  readonly command: readonly ShellWord[];
  readonly placeholder: string | undefined;
  readonly stdin: string | undefined;
  readonly delimiter: string | undefined;
}): readonly (readonly ShellWord[])[] {
  const { command, placeholder, stdin, delimiter } = task;
  if (placeholder !== undefined) {
    const lines = stdin?.split(delimiter ?? "\n").filter((line) => line.trim() !== "");
    const values = lines === undefined || lines.length > MOST_LINES ? [UNKNOWN] : lines;
    return values.map((value) => command.map((word) => insert(word, placeholder, value.trim())));
  }
  const operands = stdin === undefined ? undefined : splitOperands(stdin, delimiter);
  if (operands === undefined || operands.length > MOST_OPERANDS) return [[...command, SOMETHING]];
  return [[...command, ...operands.map((operand) => wordOf(operand))]];
}

function insert(word: ShellWord, placeholder: string, value: string): ShellWord {
  return word.text.includes(placeholder) ? wordOf(word.text.replaceAll(placeholder, value), word) : word;
}

function splitOperands(text: string, delimiter: string | undefined): readonly string[] {
  if (delimiter !== undefined) return text.split(delimiter).filter((part) => part !== "");
  return [...text.matchAll(/(?:"[^"\n]*"|'[^'\n]*'|\\[\s\S]|[^\s"'\\])+/g)].map(([part]) =>
    part.replace(
      /"([^"\n]*)"|'([^'\n]*)'|\\([\s\S])/g,
      (_whole, double, single, escaped) => double ?? single ?? escaped,
    ),
  );
}

const EXECUTES = new Set(["-exec", "-execdir", "-ok", "-okdir"]);

/** `{}` becomes the folder that is searched with an unknown rest, so that rules see where it happens. */
const openFind: Opener = (args) => {
  const wrapper = local("find");
  const openings: Opening[] = [];
  const starts = startingPoints(args);
  const name = args.find(
    ({ text, known }, index) => known && args[index - 1]?.text === "-name" && !/[*?[]/.test(text),
  )?.text;
  for (let at = 0; at < args.length; at++) {
    if (!EXECUTES.has(args[at]?.text ?? "")) continue;
    const end = endOfExecuted(args, at + 1);
    const command = args.slice(at + 1, end);
    // A name that is written out is the file that is run: `find . -name a.sh -exec sh {} \\;`.
    const named = name === undefined ? [] : starts.map((start) => start.replace(UNKNOWN, name));
    for (const start of [...starts, ...named]) {
      const argv = command.map((word) => insert(word, "{}", start));
      if (argv.length > 0) openings.push({ kind: "argv", argv, wrapper, repeated: true });
    }
    at = end;
  }
  return openings;
};

/** Where the `;` or `{} +` stands that ends what `-exec` runs. */
function endOfExecuted(args: readonly ShellWord[], from: number): number {
  for (let at = from; at < args.length; at++) {
    const text = args[at]?.text;
    if (text === ";" || (text === "+" && args[at - 1]?.text === "{}")) return at;
  }
  return args.length;
}

function startingPoints(args: readonly ShellWord[]): readonly string[] {
  const starts: string[] = [];
  let at = 0;
  while (/^-(?:[HLP]|O\d|D)$/.test(args[at]?.text ?? "")) at += args[at]?.text === "-D" ? 2 : 1;
  for (; at < args.length; at++) {
    const text = args[at]?.text ?? "";
    if (/^[-(!,)]/.test(text)) break;
    starts.push(`${text.replace(/\/+$/, "")}/${UNKNOWN}`);
  }
  return starts.length === 0 ? [`./${UNKNOWN}`] : starts.slice(0, 32);
}

const openFd: Opener = (args) => {
  const at = args.findIndex((word) => /^(?:-x|-X|--exec|--exec-batch)$/.test(word.text));
  if (at < 0) {
    return args.some((word) => /^--exec(?:-batch)?=/.test(word.text)) ? [{ kind: "opaque" }] : [];
  }
  const end = args.findIndex((word, index) => index > at && word.text === ";");
  const command = args.slice(at + 1, end < 0 ? undefined : end);
  const holds = command.some((word) => /\{(?:\/|\/\/|\.|\/\.)?\}/.test(word.text));
  const start = args.slice(0, at).find(({ text }) => /^[~/]/.test(text));
  const found =
    start === undefined ? SOMETHING : wordOf(`${start.text.replace(/\/+$/, "")}/${UNKNOWN}`, start);
  const argv = command.map((word) =>
    wordOf(
      word.text.replace(/\{(?:\/|\/\/|\.|\/\.)?\}/g, () => found.text),
      word,
    ),
  );
  return [{ kind: "argv", argv: holds ? argv : [...argv, found], wrapper: local("fd"), repeated: true }];
};

const PARALLEL: WrapperSpec = {
  flags:
    "k X m q 0 u g v t r bar eta progress dry-run dryrun keep-order null quote ungroup group verbose tag pipe pipepart line-buffer lb no-run-if-empty shuf fg wait xargs will-cite no-notice citation linebuffer plus",
  taking:
    "j P a A d E I L n N s S C jobs max-procs arg-file delimiter colsep delay timeout joblog results sshlogin sshloginfile slf tmpdir workdir wd max-args max-replace-args memfree load retries halt tagstring block recend recstart env basefile transferfile return nice",
  idle: "help version",
};

const openParallel: Opener = (args, { stdin, fed, fileText }) => {
  const read = readWrapper(args, PARALLEL);
  if (read === undefined || read.given.has("help") || read.given.has("version")) return [];
  const wrapper = local("parallel");
  const openings: Opening[] = read.doubtful ? [{ kind: "opaque" }] : [];
  for (const rest of read.rests) {
    const cut = rest.findIndex((word) => /^:::+\+?$/.test(word.text));
    const template = cut < 0 ? rest : rest.slice(0, cut);
    const listed = cut < 0 ? undefined : rest.slice(cut + 1).filter((word) => !/^:::+\+?$/.test(word.text));
    const fromFile = rest[cut]?.text.startsWith("::::") === true;
    const file = read.given.get("a") ?? read.given.get("arg-file") ?? (fromFile ? rest[cut + 1] : undefined);
    const piped = read.given.has("pipe") || read.given.has("pipepart");
    if (piped && template.length > 0) {
      openings.push({ kind: "argv", argv: template, wrapper, repeated: true });
      continue;
    }
    const values =
      file !== undefined
        ? (fileText(file.text)?.split("\n").filter(Boolean) ?? [UNKNOWN])
        : (listed?.map((word) => word.text) ?? stdin?.split("\n").filter(Boolean) ?? (fed ? [UNKNOWN] : []));
    for (const value of values.length > MOST_LINES ? [UNKNOWN] : values) {
      const text = joinWords(template).text;
      const whole = /\{[^{}]*\}/.test(text) ? text.replace(/\{[^{}]*\}/g, value) : `${text} ${value}`;
      openings.push({ kind: "text", text: wordOf(whole.trim()), wrapper, repeated: true });
    }
  }
  return openings;
};

/** Everything behind the options is a file or a pattern, and each is handed to the program named by an option. */
const openRipgrep: Opener = (args) => {
  const { values } = parseOptions(args, {
    taking: ["pre", "g", "e", "f", "t", "T", "A", "B", "C", "m", "hostname-bin"],
  });
  const program = values.get("pre")?.[0];
  return program === undefined || program.text === ""
    ? []
    : [{ kind: "argv", argv: [program, SOMETHING], wrapper: local("rg"), repeated: true }];
};

export const OPERAND_OPENERS: Readonly<Record<string, Opener>> = {
  xargs: openXargs,
  gxargs: openXargs,
  find: openFind,
  gfind: openFind,
  fd: openFd,
  fdfind: openFd,
  parallel: openParallel,
  rg: openRipgrep,
};
