import { parseOptions } from "../read/options.js";
import { type ShellWord, type SimpleCommand, UNKNOWN } from "../types.js";
import { type Language, languageOf } from "./languages.js";

/** Code a command gives to an interpreter. */
export interface InlineCode {
  readonly language: Language;
  /** Program texts, in order. */
  readonly texts: readonly ShellWord[];
  /** A file with the program, when one is named. */
  readonly script?: ShellWord | undefined;
  /** True when the program comes on standard input. */
  readonly fromInput: boolean;
}

interface OptionSpec {
  /** Options whose value is code. */
  readonly code: string;
  /** Options that take the next word. */
  readonly taking?: string;
  /** Letters whose value, if any, is attached: the rest of the cluster. */
  readonly attached?: string;
  /** The first operand is code (`deno eval CODE`), after these words. */
  readonly verb?: string;
  /** What follows the code belongs to the program. */
  readonly codeIsLast?: boolean;
  /** With no program at all it reads something other than code. */
  readonly noInput?: boolean;
}

const PYTHON: OptionSpec = { code: "c", taking: "m W X Q check-hash-based-pycs", codeIsLast: true };
const NODE: OptionSpec = {
  code: "e eval p print pe ep",
  taking:
    "r require import loader experimental-loader C conditions env-file stack-trace-limit test-name-pattern",
};
const EVAL: OptionSpec = { code: "e E eval print" };

const SPECS: Readonly<Record<string, OptionSpec>> = {
  python: PYTHON,
  pypy: PYTHON,
  ipython: PYTHON,
  bpython: PYTHON,
  micropython: PYTHON,
  jython: PYTHON,
  sage: { code: "c" },
  perl: { code: "e E", taking: "I M m", attached: "i F C D x V" },
  raku: { code: "e", taking: "I M" },
  ruby: { code: "e", taking: "r I C E", attached: "i F K x" },
  jruby: { code: "e", taking: "r I" },
  irb: { code: "e", taking: "r I" },
  crystal: { code: "e", verb: "eval" },
  node: NODE,
  nodejs: NODE,
  tsx: NODE,
  "ts-node": { code: "e eval p print pe", taking: "P project r require O compiler-options C cwd" },
  bun: { code: "e eval p print", taking: "r preload config c cwd", noInput: true },
  deno: {
    code: "",
    verb: "eval",
    taking: "ext config c import-map L log-level cert location seed",
    noInput: true,
  },
  qjs: EVAL,
  d8: EVAL,
  jsc: EVAL,
  php: { code: "r B R E", taking: "d c f z S t" },
  hhvm: { code: "r", taking: "d c" },
  lua: { code: "e", taking: "l" },
  luajit: { code: "e", taking: "l j b" },
  rscript: { code: "e" },
  r: { code: "e", taking: "f file" },
  octave: { code: "eval", taking: "p path" },
  julia: { code: "e E eval print", taking: "L load J sysimage project t threads p" },
  groovy: { code: "e", taking: "cp classpath" },
  scala: { code: "e E", taking: "cp classpath" },
  "scala-cli": { code: "e execute-script", taking: "S" },
  kotlin: { code: "e", taking: "cp classpath" },
  swift: { code: "e" },
  elixir: { code: "e eval", taking: "r S pa" },
  iex: { code: "e eval", taking: "r S" },
  erl: { code: "eval", taking: "sname name s pa", noInput: true },
  guile: { code: "c", taking: "L l" },
  racket: { code: "e eval", taking: "l t r" },
  sbcl: { code: "eval", taking: "load" },
  clisp: { code: "x", taking: "i" },
  emacs: { code: "eval execute", taking: "l load f funcall", noInput: true },
  clojure: { code: "e eval", taking: "Sdeps" },
  clj: { code: "e eval", taking: "Sdeps" },
  bb: { code: "e eval", taking: "cp" },
  ghc: { code: "e", taking: "package", noInput: true },
  runghc: { code: "e" },
  ocaml: { code: "e", taking: "I open" },
  gnuplot: { code: "e" },
  rake: {
    code: "e E p execute execute-print execute-continue",
    taking: "f rakefile r require",
    noInput: true,
  },
  rails: { code: "", taking: "e environment", noInput: true },
  matlab: { code: "batch r", noInput: true },
  jrunscript: { code: "e", taking: "cp l f" },
  zx: { code: "e eval", taking: "cwd prefix shell", noInput: true },
  "manage.py": { code: "", noInput: true },
  "django-admin": { code: "", taking: "settings pythonpath", noInput: true },
  osascript: { code: "e", taking: "l s" },
  expect: { code: "c", taking: "f" },
};
const PLAIN: OptionSpec = { code: "e" };
const AWK: OptionSpec = {
  code: "e source",
  taking: "F v f i l E assign field-separator file include exec",
  noInput: true,
};
const AWK_FILES: ReadonlySet<string> = new Set(["f", "file", "i", "include", "E", "exec"]);

/** The code in a command of an interpreter; undefined for every other program. */
export function inlineCode(command: SimpleCommand): InlineCode | undefined {
  const known = languageOf(command.program);
  if (known === undefined) return undefined;
  const { base, language } = known;
  const spec =
    language.name === "awk" ? AWK : ((Object.hasOwn(SPECS, base) ? SPECS[base] : undefined) ?? PLAIN);
  // `-s init stop` names a function to call, in front of the code as well as behind it.
  const args =
    base === "erl" ? command.args.filter(({ text }) => !/^(?:-s|-run|init|stop)$/.test(text)) : command.args;
  const read = readArguments(args, spec);
  if (language.name === "awk") return awkCode({ language, read });
  const { texts, module } = read;
  const [given] = read.operands;
  const script = given !== undefined && isStandardInput(given) ? { ...given, text: "-" } : given;
  if (script?.text === spec.verb && spec.verb !== undefined) {
    const code = read.operands.slice(1).find(({ text }) => !text.startsWith("-"));
    return { language, texts: code === undefined ? [] : [code], fromInput: false };
  }
  if (module !== undefined && language.name === "python") {
    const run = moduleCode(module.text, read.operands);
    if (run !== undefined) return { language, ...run };
  }
  const framework = frameworkCode(base, read.operands);
  if (framework !== undefined) return { language, texts: framework, fromInput: false };
  const fromInput =
    texts.length === 0 &&
    module === undefined &&
    (script === undefined || script.text === "-") &&
    spec.noInput !== true;
  return {
    language,
    texts,
    // What follows `-m module` is for the module.
    script: script?.text === "-" || texts.length > 0 || module !== undefined ? undefined : script,
    fromInput,
  };
}

/** The very standard input, as `-` or by its name as a file. */
export function isStandardInput({ text }: ShellWord): boolean {
  return text === "-" || /^\/(?:dev\/(?:stdin|fd\/0)|proc\/self\/fd\/0)$/.test(text);
}

/** Modules of Python that run code given in their words: `-m timeit CODE`, `-m pdb -c '!CODE' x.py`, `-m code < CODE`. */
function moduleCode(
  name: string,
  words: readonly ShellWord[],
): Pick<InlineCode, "texts" | "fromInput" | "script"> | undefined {
  switch (name.toLowerCase()) {
    case "timeit": {
      const { values, operands } = parseOptions(words, {
        taking: "s setup n number r repeat u unit".split(" "),
      });
      const texts = [...(values.get("s") ?? []), ...(values.get("setup") ?? []), ...operands];
      const [first] = texts;
      const text = texts.map((word) => word.text).join("\n");
      return { texts: first === undefined ? [] : [{ ...first, text }], fromInput: false };
    }
    case "pdb":
    case "ipdb":
    case "pudb": {
      const { values, operands } = parseOptions(words, { taking: ["c", "command", "m"] });
      const orders = [...(values.get("c") ?? []), ...(values.get("command") ?? [])];
      const texts = orders.map((word) => ({ ...word, text: word.text.replace(/^\s*(?:!|pp?\s)\s*/, "") }));
      return { texts, script: operands[0], fromInput: false };
    }
    case "code":
    case "asyncio":
    case "ipython":
    case "idlelib":
      return words.some(({ text }) => text === "-c")
        ? { texts: optionTexts(words, /^-c$/), fromInput: false }
        : { texts: [], fromInput: true };
    case "cprofile":
    case "profile":
    case "trace":
    case "coverage":
    case "kernprof":
    case "memray":
    case "runpy":
    case "doctest": {
      const { values, operands } = parseOptions(words, { taking: ["o", "s", "c", "m", "outfile", "sort"] });
      const script = operands.find(({ text }) => text !== "run");
      return { texts: values.get("c") ?? [], script, fromInput: false };
    }
    default:
      return undefined;
  }
}

/** Code given to a framework that runs it inside the application: `rails runner CODE`, `manage.py shell -c CODE`. */
function frameworkCode(base: string, operands: readonly ShellWord[]): readonly ShellWord[] | undefined {
  const words = /^(?:rails|manage\.py|django-admin)$/.test(base) ? operands : operands.slice(1);
  const script = words === operands ? base : (operands[0]?.text.split("/").at(-1) ?? "");
  const [verb, ...rest] = words;
  if (script === "rails" && /^(?:runner|r)$/.test(verb?.text ?? ""))
    return rest.filter(({ text }) => !/^-|\.rb$/.test(text)).slice(0, 1);
  if (/^(?:manage\.py|django-admin)$/.test(script) && /^shell(?:_plus)?$/.test(verb?.text ?? ""))
    return optionTexts(rest, /^(?:-c|--command)$/);
  if (script === "artisan" && verb?.text === "tinker") return optionTexts(rest, /^--execute$/);
  return undefined;
}

function optionTexts(args: readonly ShellWord[], option: RegExp): readonly ShellWord[] {
  return args.flatMap((word, index) => {
    if (option.test(args[index - 1]?.text ?? "")) return [word];
    const cut = word.text.indexOf("=");
    return cut > 0 && option.test(word.text.slice(0, cut))
      ? [{ ...word, text: word.text.slice(cut + 1) }]
      : [];
  });
}

interface ReadArguments {
  readonly texts: readonly ShellWord[];
  readonly operands: readonly ShellWord[];
  /** `python -m module`. */
  readonly module?: ShellWord | undefined;
  /** Files with code that options name. */
  readonly files: readonly ShellWord[];
}

function awkCode({ language, read }: { language: Language; read: ReadArguments }): InlineCode {
  const [program] = read.operands;
  const texts =
    read.texts.length > 0 || read.files.length > 0 || program === undefined ? read.texts : [program];
  const script = read.files.find((file) => !isStandardInput(file));
  return { language, texts, script, fromInput: read.files.some(isStandardInput) };
}

const splitTexts = new Map<string, ReadonlySet<string>>();

/** The names in one text of a row above; there are few of them. */
function split(text = ""): ReadonlySet<string> {
  const known = splitTexts.get(text);
  if (known !== undefined) return known;
  const names = new Set(text === "" ? [] : text.split(" "));
  splitTexts.set(text, names);
  return names;
}

function readArguments(args: readonly ShellWord[], spec: OptionSpec): ReadArguments {
  const code = split(spec.code);
  const taking = split(spec.taking);
  const attached = split(spec.attached);
  const texts: ShellWord[] = [];
  const files: ShellWord[] = [];
  let module: ShellWord | undefined;
  let index = 0;
  const take = (name: string, rest: ShellWord | undefined): void => {
    const value = rest ?? args[++index];
    if (value === undefined) return;
    if (code.has(name)) texts.push(value);
    else if (spec === AWK && AWK_FILES.has(name)) files.push(value);
    else if (name === "m" && spec === PYTHON) module = value;
  };
  for (; index < args.length; index++) {
    const word = args[index] as ShellWord;
    const { text } = word;
    if (text === "--") {
      index++;
      break;
    }
    if (!text.startsWith("-") || text === "-" || text.startsWith(UNKNOWN)) break;
    const cut = text.indexOf("=");
    const name = text.replace(/^--?/, "").slice(0, cut < 0 || !text.startsWith("--") ? undefined : cut - 2);
    if (code.has(name) || taking.has(name))
      take(name, text.startsWith("--") && cut >= 0 ? { ...word, text: text.slice(cut + 1) } : undefined);
    else if (!text.startsWith("--"))
      for (let at = 1; at < text.length; at++) {
        const letter = text[at] as string;
        if (attached.has(letter)) break;
        if (!code.has(letter) && !taking.has(letter)) continue;
        take(letter, at + 1 < text.length ? { ...word, text: text.slice(at + 1) } : undefined);
        break;
      }
    if ((spec.codeIsLast === true && texts.length > 0) || module !== undefined) {
      index++;
      break;
    }
  }
  return { texts, module, files, operands: args.slice(index) };
}
