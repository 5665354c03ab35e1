import { carriesCommands } from "./carried.js";

/** How the text of a programming language is cut into tokens; only what separates code from data. */
export interface Language {
  readonly name: string;
  readonly lineComments: readonly string[];
  readonly blockComments?: readonly (readonly [open: string, close: string])[];
  /** Python's `'''`, prefixes (`rb"…"`) and neighbours that join. */
  readonly pythonStrings?: boolean;
  readonly backtick?: "command" | "template";
  /** What opens an expression inside double quotes. */
  readonly interpolation?: "$" | "#{" | "${";
  readonly regex?: boolean;
  /** `q{}`, `qx//`, `s///` of Perl; `%x()` and `%w()` of Ruby. */
  readonly quoteWords?: "perl" | "ruby";
  readonly longBrackets?: boolean;
  /** `$name`, `@name` are names. */
  readonly sigils?: boolean;
  /** Names may hold dashes: `delete-directory`. */
  readonly dashedNames?: boolean;
  /** A call needs no parentheses: `system "ls"`. */
  readonly bareCalls?: boolean;
  readonly concat: ReadonlySet<string>;
  readonly members: ReadonlySet<string>;
}

const set = (text: string): ReadonlySet<string> => new Set(text.split(" "));
const C_COMMENTS = [["/*", "*/"]] as const;

const PYTHON: Language = {
  name: "python",
  lineComments: ["#"],
  pythonStrings: true,
  concat: set("+"),
  members: set("."),
};
const JAVASCRIPT: Language = {
  name: "javascript",
  lineComments: ["//"],
  blockComments: C_COMMENTS,
  backtick: "template",
  regex: true,
  concat: set("+"),
  members: set(". ?."),
};
const RUBY: Language = {
  name: "ruby",
  lineComments: ["#"],
  backtick: "command",
  interpolation: "#{",
  regex: true,
  quoteWords: "ruby",
  sigils: true,
  bareCalls: true,
  concat: set("+ <<"),
  members: set(". :: &."),
};
const PERL: Language = {
  name: "perl",
  lineComments: ["#"],
  backtick: "command",
  interpolation: "$",
  regex: true,
  quoteWords: "perl",
  sigils: true,
  bareCalls: true,
  concat: set("."),
  members: set(":: ->"),
};
const PHP: Language = {
  name: "php",
  lineComments: ["//", "#"],
  blockComments: C_COMMENTS,
  backtick: "command",
  interpolation: "$",
  sigils: true,
  bareCalls: true,
  concat: set("."),
  members: set(":: -> ?->"),
};
const LUA: Language = {
  name: "lua",
  lineComments: ["--"],
  longBrackets: true,
  bareCalls: true,
  concat: set(".."),
  members: set(". :"),
};
const R: Language = { name: "r", lineComments: ["#"], concat: set("+"), members: set(":: ::: $") };
const JULIA: Language = {
  name: "julia",
  lineComments: ["#"],
  pythonStrings: true,
  backtick: "command",
  concat: set("*"),
  members: set("."),
};
const AWK: Language = { name: "awk", lineComments: ["#"], regex: true, concat: set("+"), members: set("") };
/** Groovy, Scala, Kotlin, Swift, Java: near enough to each other for the few calls that matter. */
const JVM: Language = {
  name: "jvm",
  lineComments: ["//"],
  blockComments: C_COMMENTS,
  pythonStrings: true,
  concat: set("+"),
  members: set(". ?."),
};
const ELIXIR: Language = {
  name: "elixir",
  lineComments: ["#"],
  pythonStrings: true,
  interpolation: "#{",
  bareCalls: true,
  concat: set("<> ++"),
  members: set(". :"),
};
const APPLESCRIPT: Language = {
  name: "applescript",
  lineComments: ["--"],
  concat: set("&"),
  members: set(""),
};
/** Lisps, Tcl and others: words and strings are told apart, little else. */
const WORDS: Language = {
  name: "words",
  lineComments: ["#", ";;"],
  bareCalls: true,
  dashedNames: true,
  concat: set("&"),
  members: set(". /"),
};

/** No language: the command lines that options of other programs hold (`rsync -e`, `tar -I`, `man -P`). */
const CARRIED: Language = { name: "carried", lineComments: [], concat: set("+"), members: set(".") };

const BY_PROGRAM: Readonly<Record<string, Language>> = {
  python: PYTHON,
  pypy: PYTHON,
  ipython: PYTHON,
  bpython: PYTHON,
  micropython: PYTHON,
  jython: PYTHON,
  sage: PYTHON,
  node: JAVASCRIPT,
  nodejs: JAVASCRIPT,
  deno: JAVASCRIPT,
  bun: JAVASCRIPT,
  tsx: JAVASCRIPT,
  "ts-node": JAVASCRIPT,
  qjs: JAVASCRIPT,
  d8: JAVASCRIPT,
  jsc: JAVASCRIPT,
  osascript: APPLESCRIPT,
  ruby: RUBY,
  irb: RUBY,
  jruby: RUBY,
  crystal: RUBY,
  perl: PERL,
  raku: PERL,
  php: PHP,
  hhvm: PHP,
  lua: LUA,
  luajit: LUA,
  rscript: R,
  r: R,
  julia: JULIA,
  octave: R,
  groovy: JVM,
  scala: JVM,
  "scala-cli": JVM,
  kotlin: JVM,
  jshell: JVM,
  swift: JVM,
  elixir: ELIXIR,
  iex: ELIXIR,
  erl: ELIXIR,
  tclsh: WORDS,
  wish: WORDS,
  expect: WORDS,
  guile: WORDS,
  racket: WORDS,
  sbcl: WORDS,
  clisp: WORDS,
  emacs: WORDS,
  clojure: WORDS,
  clj: WORDS,
  bb: WORDS,
  ghc: WORDS,
  ghci: WORDS,
  runghc: WORDS,
  runhaskell: WORDS,
  ocaml: WORDS,
  gnuplot: WORDS,
  rake: RUBY,
  rails: RUBY,
  matlab: R,
  jrunscript: JAVASCRIPT,
  jjs: JAVASCRIPT,
  zx: JAVASCRIPT,
  "manage.py": PYTHON,
  "django-admin": PYTHON,
  awk: AWK,
  gawk: AWK,
  mawk: AWK,
  nawk: AWK,
};

interface KnownLanguage {
  readonly base: string;
  readonly language: Language;
}

/** Of names that have been asked for; every rule about code asks for every command. */
const asked = new Map<string, KnownLanguage | undefined>();
const MOST_ASKED = 1_000;

/** `python3.11` and `pypy3` are python; undefined for programs that run no inline code. */
export function languageOf(program: string): KnownLanguage | undefined {
  const known = asked.get(program);
  if (known !== undefined || asked.has(program)) return known;
  const answer = findLanguage(program);
  if (asked.size >= MOST_ASKED) asked.clear();
  if (program.length < 64) asked.set(program, answer);
  return answer;
}

function findLanguage(program: string): KnownLanguage | undefined {
  if (carriesCommands(program)) return { base: program, language: CARRIED };
  const base = baseName(program);
  const language = Object.hasOwn(BY_PROGRAM, base) ? BY_PROGRAM[base] : undefined;
  return language === undefined ? undefined : { base, language };
}

function baseName(program: string): string {
  if (Object.hasOwn(BY_PROGRAM, program)) return program;
  return program.replace(/(?:-?\d[\d.]*)?[a-z]?$/, (end) => (/\d/.test(end) ? "" : end));
}
