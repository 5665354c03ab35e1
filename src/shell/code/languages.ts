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
  /** `$name`, `@name` are names. */
  readonly sigils?: boolean;
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
const AWK: Language = { name: "awk", lineComments: ["#"], regex: true, concat: set("+"), members: set("") };
/** Read by their texts and a few names only: see other-languages.ts. */
const OTHER: Language = { name: "other", lineComments: [], concat: set("+"), members: set(".") };

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
  osascript: OTHER,
  ruby: RUBY,
  irb: RUBY,
  jruby: RUBY,
  crystal: RUBY,
  perl: PERL,
  raku: PERL,
  php: PHP,
  hhvm: PHP,
  lua: OTHER,
  luajit: OTHER,
  rscript: OTHER,
  r: OTHER,
  julia: OTHER,
  octave: OTHER,
  groovy: OTHER,
  scala: OTHER,
  "scala-cli": OTHER,
  kotlin: OTHER,
  jshell: OTHER,
  swift: OTHER,
  dart: OTHER,
  nim: OTHER,
  elixir: OTHER,
  iex: OTHER,
  erl: OTHER,
  tclsh: OTHER,
  wish: OTHER,
  expect: OTHER,
  guile: OTHER,
  racket: OTHER,
  sbcl: OTHER,
  clisp: OTHER,
  emacs: OTHER,
  clojure: OTHER,
  clj: OTHER,
  bb: OTHER,
  ghc: OTHER,
  ghci: OTHER,
  runghc: OTHER,
  runhaskell: OTHER,
  ocaml: OTHER,
  gnuplot: OTHER,
  rake: RUBY,
  rails: RUBY,
  matlab: OTHER,
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
  const base = baseName(program);
  const language = Object.hasOwn(BY_PROGRAM, base) ? BY_PROGRAM[base] : undefined;
  return language === undefined ? undefined : { base, language };
}

/** Not the second version of a language, but programs of their own. */
const OWN_NAMES = /^(?:r2|m4|s3|c8|k6|k9s|p4|b2|w3)$/;

function baseName(program: string): string {
  if (Object.hasOwn(BY_PROGRAM, program) || OWN_NAMES.test(program)) return program;
  return program.replace(/(?:-?\d[\d.]*)?[a-z]?$/, (end) => (/\d/.test(end) ? "" : end));
}
