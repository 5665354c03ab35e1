import { assignmentsOf, isCommandVariable } from "../rules/environment-variables.js";
import { Verdicts } from "../rules/rule-index.js";
import type { ShellWord, SimpleCommand } from "../types.js";
import { type Context, type Invocation, type Run, report } from "./context.js";
import { deletions, embeddedCommands } from "./embedded-commands.js";
import { commandLinesIn } from "./project-recipes.js";
import { ShellState } from "./state.js";
import { local, wordOf } from "./wrapper-spec.js";

/** Programs whose words are data: text to show, search, compare or store, names of files and packages. */
const DATA_PROGRAMS = new Set(
  (
    ": [ ack ag apropos apt-cache aspell at atq awk banner basename bat batcat bc cal case cat cheat chronyc cksum cloc cmp " +
    "code column comm compgen cowsay csplit cut cvs date dc declare df diff dig dir dirname du ed egrep emacs espeak exa " +
    "exiftool exit export expr eza factor false fgrep figlet file fmt fold getent getopt gettext gh git glab glow grep " +
    "groups hash head help hexdump hg history host hostname hub iconv id identify info jj join jobs journalctl jq last lastb " +
    "lastlog let less link ll " +
    "logger look ls lsb_release lsof mail mailx man md5sum mkdir mktemp more mutt nano ncal nl nm nslookup numfmt objdump " +
    "od pandoc paste pathchk pgrep ping pr printenv printf ps pstree ptx pwd read readelf readlink realpath return rg " +
    "say seq set sha1sum sha256sum sha512sum shift shuf size sleep sort spell split stat strings subl sum svn tac tail " +
    "test tldr toilet top touch tput tr tree true tsort type uname uniq units vdir wall wc whatis whence where whereis " +
    "which who write xdg-open xmllint yes yq zcat zgrep zless echo notify-send ctags cscope ava jest mocha pytest rspec tap " +
    "vitest playwright cypress todo task todo.sh llm claude codex gemini aider ollama sgpt chatgpt"
  ).split(" "),
);

/** Names of programs that are ordinary words as well: `supervisor stop web`. */
const ORDINARY_WORDS = new Set(
  (
    "at batch stop start restart reload halt hostname service security nuke scrub curator john np slay format erase " +
    "install link split test time watch script make find set host date who which type login mail"
  ).split(" "),
);

/** Options whose value many programs hand to a shell: `--command`, `--exec-asap`, `--pre-invoke`, `--notify-cmd`. */
const ORDERS =
  "command|cmd|exec|execute|run|shell|call|build\\.cmd|runner|wrapper|launcher|pager|editor|viewer|speller|hook|invoke|on|callback|action|opener|browser|extbrowser|downloader|prepare|cleanup|preview|prefix|under|exe|eval|cron|program";
const TEXT_OPTION = new RegExp(`^(?:-[cexsr]|--?(?:[\\w-]*[-_])?(?:${ORDERS})(?:[-_][\\w-]*)?)$`);
/** The same of programs that are known otherwise: only what no other meaning of the option explains. */
const LONG_ORDER =
  /^--?(?:(?:[\w-]*[-_])?(?:exec|hook|invoke|cmd|pager|editor|viewer|ext-?browser|callback|action|opener|downloader)(?:[-_][\w-]*)?|on-[\w-]+)$/;
/** Options whose value is told to people or sent away as it is. */
const DATA_OPTION =
  /^(?:-[dmH]|--?(?:data[\w-]*|text|msg|query|sql|filter|message|body|title|notes|header|form|json|description|comment|subject|grep|pattern|regexp?|name|label|annotation|tag|env))$/;
/** Words in front of a command given as one word: `pueue add 'rm -rf x'`. */
const RUNNING_VERB = /^(?:run|exec|execute|shell|command|cmd|add|start|launch|spawn|ssh|type|--)$/;
/** Places in one command that are looked at. */
const MOST_PLACES = 4;
/** Longer lists are names of files. */
const MOST_WORDS = 100;

/**
 * A program nobody here knows may run what stands in its words, and most programs run what stands behind marks for it
 * (`|cmd`, `system("cmd")`). Whatever of it looks like a dangerous command is reported, as a danger at most: the
 * program may as well only print it.
 */
export function judgeUnknownProgram(command: SimpleCommand, invocation: Invocation): void {
  const { context } = invocation;
  const { program, args } = command;
  if (program === "" || context.run.isTrial || DATA_PROGRAMS.has(program)) return;
  const { notablePrograms } = context.run;
  const isKnown = notablePrograms.has(program);
  const marked = markedTexts(command);
  // `consul exec rm -rf x`: what a program of its own rules is told to run elsewhere.
  const words = isKnown ? args.slice(args.findIndex(({ text }) => text === "exec") + 1 || args.length) : args;
  const lines = [
    ...commandLines(words, notablePrograms),
    ...codeLines(command),
    ...(isKnown ? [] : quotedLines(command, notablePrograms)),
  ];
  const texts = [...marked, ...commandTexts(command, notablePrograms, isKnown)];
  if (lines.length + texts.length === 0) return;
  if (wouldHarm({ lines, texts, isRun: isKnown && marked.length === 0 }, command, invocation))
    report(context, "opaque.carried", { span: invocation.span, command });
}

/** `FZF_DEFAULT_COMMAND='rm -rf x' fzf`: a command line that some program finds in its environment. */
export function judgeAssignedCommands(command: SimpleCommand, invocation: Invocation): void {
  const { context } = invocation;
  if (command.assignments.length === 0 && !DECLARES.has(command.program)) return;
  const texts = assignmentsOf(command)
    .filter(({ name, value }) => /\S\s+\S/.test(value.text) && isCommandVariable(name))
    .map(({ value }) => value);
  if (texts.length === 0 || context.run.isTrial) return;
  if (wouldHarm({ texts: texts.slice(0, MOST_PLACES) }, command, invocation))
    report(context, "opaque.carried", { span: invocation.span, command });
}

const DECLARES = new Set(["export", "declare", "typeset"]);

/** Whether any of the commands, tried without becoming part of what the line is known to run, is one to ask about. */
export function wouldHarm(
  {
    lines = [],
    texts,
    isRun = false,
  }: {
    readonly lines?: readonly (readonly ShellWord[])[];
    readonly texts: readonly ShellWord[];
    /** They will be run: a path among them is a script then, and not perhaps a file to read. */
    readonly isRun?: boolean;
  },
  command: SimpleCommand,
  invocation: Invocation,
): boolean {
  const { context } = invocation;
  const run = trialRun(context.run);
  const state = new ShellState(context.state);
  const inner: Context = {
    ...context,
    run,
    state,
    out: undefined,
    wrappers: [...context.wrappers, local(command.program)],
    depth: context.depth + 1,
  };
  for (const argv of lines)
    run.runArgv({
      argv,
      assignments: [],
      redirects: [],
      context: inner,
      span: invocation.span,
      wrapped: true,
    });
  for (const { text } of texts)
    run.runText({ text, context: inner, span: invocation.span, carrier: command, foreign: true });
  return hasFindings(run) || (isRun && run.findings.some(({ rule }) => SCRIPTS.has(rule)));
}

const SCRIPTS = new Set(["opaque.untrusted-script", "opaque.downloaded-script"]);

/** Programs that only hand on what they are given, or whose code is read by rules of its own. */
const TAKES_TEXT = new Set(
  "curl wget wget2 http https xh tee cp mv rm docker podman kubectl aws gcloud az find".split(" "),
);

/** What stands behind marks in the words and in the input. */
function markedTexts({ program, args, input }: SimpleCommand): readonly ShellWord[] {
  if (TAKES_TEXT.has(program)) return [];
  const texts: ShellWord[] = [];
  for (const [index, word] of args.entries()) {
    if (word.text.length < 4 || !/[\s/]/.test(word.text)) continue;
    if (DATA_OPTION.test(args[index - 1]?.text ?? "")) continue;
    const value = word.text.replace(/^(?:--?)?[\w.-]+[=<]/, "");
    for (const text of embeddedCommands(value)) texts.push(wordOf(text, word));
  }
  if (input.kind === "text")
    for (const text of embeddedCommands(input.text.text)) texts.push(wordOf(text, input.text));
  return texts.slice(0, MOST_MARKED);
}

const MOST_MARKED = 16;

const CODE_OPTION =
  /^--?(?:[cex]|(?:[\w-]*-)?(?:eval|exec\w*|expr\w*|hook|js|javascript|python|py|script|code|run|command)(?:-[\w-]+)?)$/;
const READS_AS: readonly (readonly [sign: RegExp, program: string, option: string])[] = [
  [/\brequire\s*\(\s*["'`]|\bprocess\.\w+|\bchild_process\b|\bDeno\./, "node", "-e"],
  [/\bimport\s+\w|\b__import__\b|\b(?:os|subprocess|shutil)\.\w+\s*\(/, "python3", "-c"],
];

/** `mongosh --eval 'require("fs")…'`, `blender --python-expr 'import os…'`: code of a language that many programs speak. */
function codeLines({ program, args }: SimpleCommand): readonly (readonly ShellWord[])[] {
  if (TAKES_TEXT.has(program)) return [];
  return args.flatMap((word, index) => {
    if (!word.text.includes("(") || word.text.length > 4_096) return [];
    const [, named, value] = /^(--?[\w.-]+)=([\s\S]+)$/.exec(word.text) ?? [];
    if (!CODE_OPTION.test(named ?? args[index - 1]?.text ?? "")) return [];
    const text = value ?? word.text;
    const speaks = READS_AS.find(([sign]) => sign.test(text));
    return speaks === undefined
      ? []
      : [[wordOf(speaks[1], word), wordOf(speaks[2], word), wordOf(text, word)]];
  });
}

/** Programs of interpreters nobody here knows: what they delete, and what they quote that reads like a command. */
function quotedLines(
  { program, args, input }: SimpleCommand,
  notable: ReadonlySet<string>,
): readonly (readonly ShellWord[])[] {
  const codes = args
    .slice(0, MOST_WORDS)
    .filter(
      ({ text }, index) =>
        /["'`(]/.test(text) && text.length <= 4_096 && !DATA_OPTION.test(args[index - 1]?.text ?? ""),
    );
  if (input.kind === "text" && input.text.text.length <= 4_096) codes.push(input.text);
  if (codes.length === 0 || TAKES_TEXT.has(program)) return [];
  return codes.slice(0, MOST_PLACES).flatMap((word) => {
    const before = args[args.indexOf(word) - 1]?.text ?? "";
    const isCode =
      word.text.startsWith("(") || CODE_OPTION.test(before) || /^-(?:g|B|q|-query-goal)$/.test(before);
    const orders = (isCode ? commandLinesIn(word.text) : []).filter((line) => {
      const first = /^([\w./-]+)\s/.exec(line)?.[1]?.split("/").at(-1) ?? "";
      return (
        line !== word.text && notable.has(first) && !ORDINARY_WORDS.has(first) && /\s(?:-\w|[/~])/.test(line)
      );
    });
    return [...deletions(word.text), ...orders].map((line) =>
      ["sh", "-c", line].map((text) => wordOf(text, word)),
    );
  });
}

/** Words from `--` on, and from each name of a program that some rule knows. */
function commandLines(
  args: readonly ShellWord[],
  notable: ReadonlySet<string>,
): readonly (readonly ShellWord[])[] {
  const lines: (readonly ShellWord[])[] = [];
  for (const [index, word] of args.entries()) {
    if (lines.length >= MOST_PLACES) break;
    const isDashes = word.text === "--";
    if (isDashes || (index + 1 < args.length && isProgramName(word, notable))) {
      const rest = args.slice(index + (isDashes ? 1 : 0));
      if (rest.length > 0) lines.push(rest);
    }
  }
  return lines;
}

function isProgramName({ text, known, glob }: ShellWord, notable: ReadonlySet<string>): boolean {
  if (!known || glob) return false;
  if (ORDINARY_WORDS.has(text)) return false;
  return notable.has(/^(?:\/[\w.-]+)*\/s?bin\/([^/]+)$/.exec(text)?.[1] ?? text);
}

/** Values of options that name a command, and single words that read like one. */
function commandTexts(
  { program, args }: SimpleCommand,
  notable: ReadonlySet<string>,
  isKnown: boolean,
): readonly ShellWord[] {
  if (isKnown && TAKES_TEXT.has(program)) return [];
  const texts: ShellWord[] = [];
  for (const [index, word] of args.entries()) {
    if (texts.length >= MOST_PLACES) break;
    if (!/\S\s+\S/.test(word.text) || word.text.length > 4_096) continue;
    const [, named, value] = /^(--?[\w.-]+)=([\s\S]+)$/.exec(word.text) ?? [];
    const before = args[index - 1]?.text ?? "";
    const option = named ?? before;
    // `-o extbrowser=CMD`: a setting behind an option that takes settings.
    const [, setting, set] = named === undefined ? (/^([a-z][\w.-]*)=([\s\S]+)$/.exec(word.text) ?? []) : [];
    const text = (value ?? set ?? word.text).replace(LEAD, "");
    const isOrder = [option, `--${setting}`].some((name) => (isKnown ? LONG_ORDER : TEXT_OPTION).test(name));
    if (isOrder || (!isKnown && readsAsOrder(text, { option, before, notable })))
      texts.push(wordOf(text, word));
  }
  return texts;
}

/** `exec:CMD` names how it is run, five fields of time when. */
const LEAD =
  /^(?:exec|shell|cmd|system|sh-c|(?:before|after|pre|post)[\w-]*|video|playlist):\s*|^(?:[\d*/,-]+\s+){5}/;

/** A program some rule knows, with options or places: prose has neither ("reboot the server tomorrow"). */
function readsAsOrder(
  text: string,
  {
    option,
    before,
    notable,
  }: { readonly option: string; readonly before: string; readonly notable: ReadonlySet<string> },
): boolean {
  const first = /^\s*([\w./-]+)\s/.exec(text)?.[1]?.split("/").at(-1) ?? "";
  if (!notable.has(first) || ORDINARY_WORDS.has(first) || !/\s(?:-\w|--\w|[/~.*$])/.test(text)) return false;
  return RUNNING_VERB.test(before) || (/^--?[a-zA-Z]/.test(option) && !DATA_OPTION.test(option));
}

/** Looks at something without making it part of what the line is known to run. */
function trialRun(run: Run): Run {
  return {
    ...run,
    isTrial: true,
    commands: [],
    variants: new Map(),
    carriers: new Set(),
    findings: [],
    sinks: [],
    later: [],
    choice: { picked: run.choice.picked, asked: undefined },
  };
}

/** That something is hidden is no news about a program nobody knows; only what was really seen counts. */
function hasFindings(run: Run): boolean {
  if (run.findings.some(({ level, rule }) => level === "hardline" && rule !== "hardline.unparseable"))
    return true;
  const verdicts = new Verdicts(run.commands.length);
  return run.commands.some((command) => {
    const all = [command, ...(run.variants.get(command) ?? [])];
    return all.some((one) => verdicts.of(one).length > 0);
  });
}
