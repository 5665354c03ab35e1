import { withHome } from "../rules/mentioned-paths.js";
import { type ShellWord, UNKNOWN } from "../types.js";
import { quoteText } from "./canonical.js";
import {
  joinWords,
  local,
  type Opener,
  type OpenerInput,
  type Opening,
  openBySpec,
  readWrapper,
  textsOf,
  type WrapperSpec,
  wordOf,
} from "./wrapper-spec.js";

/** Terminals, editors, viewers, debuggers and clients: programs a person talks to, and what they start when told so. */

const TMUX_STARTS =
  /^(?:new|new-session|neww|new-window|splitw|split-window|respawnp|respawn-pane|respawnw|respawn-window|popup|display-popup)$/;
/** Orders that are kept for later: `set-hook -g after-new-window 'run-shell "x"'`. */
const TMUX_LATER = /^(?:set-hook|bind|bind-key)$/;
const TMUX_TEXT = /^(?:run|run-shell|if|if-shell|pipep|pipe-pane)$/;
const TMUX_TAKING = new Set("-t -s -n -c -F -x -y -e -l -f -T -S -L".split(" "));
const TMUX_POPUP = new Set([...TMUX_TAKING, "-w", "-h"]);

const openTmux: Opener = (args) => {
  const wrapper = local("tmux");
  const openings: Opening[] = [];
  for (let at = 0; at < args.length; at++) {
    const verb = args[at]?.text ?? "";
    const end = args.findIndex((word, index) => index > at && word.text === ";");
    const own = args.slice(at + 1, end < 0 ? undefined : end);
    // `-h` is a height for a popup, a direction for a split.
    const taking = /popup/.test(verb) ? TMUX_POPUP : TMUX_TAKING;
    const operands = withoutOptions(own, taking);
    if (TMUX_STARTS.test(verb) && operands.length > 0) {
      openings.push({ kind: "text", text: joinWords(operands), wrapper });
    } else if (TMUX_TEXT.test(verb)) {
      for (const text of operands) openings.push({ kind: "text", text, wrapper });
    } else if (verb === "send" || verb === "send-keys") {
      const typed = operands.filter(
        (word) => !/^(?:Enter|C-[a-z]|KPEnter|Space|Tab|Escape)$/i.test(word.text),
      );
      if (typed.length > 0) openings.push({ kind: "text", text: joinWords(typed), wrapper });
    } else if (TMUX_LATER.test(verb)) {
      const text = operands
        .slice(1)
        .map((word) => word.text)
        .join(" ");
      const order = /(?:run-shell|run|if-shell|pipe-pane)\s+(?:-\w+\s+)*["']?([^"']+)/.exec(text)?.[1];
      if (order !== undefined) openings.push({ kind: "text", text: wordOf(order), wrapper });
    } else continue;
    at = end < 0 ? args.length : end;
  }
  return openings;
};

function withoutOptions(args: readonly ShellWord[], taking: ReadonlySet<string>): readonly ShellWord[] {
  const operands: ShellWord[] = [];
  for (let at = 0; at < args.length; at++) {
    const word = args[at] as ShellWord;
    if (word.text === "--") return [...operands, ...args.slice(at + 1)];
    if (operands.length === 0 && taking.has(word.text)) at++;
    else if (operands.length > 0 || !/^-./.test(word.text)) operands.push(word);
  }
  return operands;
}

const openScreen: Opener = (args) => {
  const wrapper = local("screen");
  const stuff = args.findIndex((word) => word.text === "stuff");
  const typed = args[stuff + 1];
  if (stuff >= 0 && typed !== undefined) {
    const text = typed.text.replace(/\^M|\\n|\\r|\r/g, "\n");
    return [{ kind: "text", text: wordOf(text, typed), wrapper }];
  }
  const read = readWrapper(args, SCREEN);
  if (read === undefined || ["ls", "list", "wipe", "r", "x", "R", "v"].some((name) => read.given.has(name)))
    return [];
  const rests = read.given.has("X")
    ? read.rests.filter((rest) => rest[0]?.text === "exec").map((rest) => rest.slice(1))
    : read.rests;
  return rests.filter((argv) => argv.length > 0).map((argv): Opening => ({ kind: "argv", argv, wrapper }));
};

const SCREEN: WrapperSpec = {
  flags: "4 6 a A d D i l L m M O q Q r R RR U v w x X ls list wipe",
  taking: "c e h p s S t T Logfile",
  lenient: true,
};

const openGdb: Opener = (args, { fileText }) => {
  const wrapper = local("gdb");
  const scripts = args.flatMap((word, index) =>
    /^(?:-i?x|--(?:init-)?command|-s|--source)$/.test(args[index - 1]?.text ?? "") ||
    /^--(?:init-)?command=/.test(word.text)
      ? linesOf(fileText(word.text.replace(/^--[\w-]+=/, "")) ?? "").slice(0, MOST_LINES)
      : [],
  );
  const openings = [...args, ...scripts.map((line) => wordOf(line.trim()))].flatMap(
    (word): readonly Opening[] => {
      const code = /^(?:python|py|script)\s+([\s\S]+)$/.exec(word.text)?.[1];
      if (code !== undefined)
        return [{ kind: "text", text: wordOf(`python3 -c ${quoteText(code)}`, word), wrapper }];
      const shell = /^(?:shell|platform shell|!)\s*([\s\S]+)$/.exec(word.text)?.[1];
      return shell === undefined ? [] : [{ kind: "text", text: wordOf(shell, word), wrapper }];
    },
  );
  const at = args.findIndex((word) => /^--?args$|^--$/.test(word.text));
  const argv = at < 0 ? [] : args.slice(at + 1);
  return argv.length === 0 ? openings : [...openings, { kind: "argv", argv, wrapper }];
};

/** What `expect` does to a program it talks to is a language of its own; the programs it starts are read. */
const openExpect: Opener = (args, { stdin }) => {
  const texts = args.filter((_word, index) => args[index - 1]?.text === "-c").map((word) => word.text);
  const script = [...texts, ...(stdin === undefined ? [] : [stdin])].join("\n");
  const started = [...script.matchAll(/(?:^|[;\n{])\s*(?:spawn|exec|system)\s+(?:-\w+\s+)*([^;\n]+)/g)];
  const openings = started.map(([, text = ""]): Opening => {
    const quoted = text.replace(/\{([^{}]*)\}/g, (_whole, inner: string) => quoteText(inner));
    return { kind: "text", text: wordOf(quoted), wrapper: local("expect"), foreign: true };
  });
  return /\bspawn\b|\bexec\b|\bsystem\b|\uFFFC/.test(script) ? [{ kind: "opaque" }, ...openings] : openings;
};

/** `less '+!cmd' file`. */
const openViewer: Opener = (args, { program }) =>
  textsOf(
    args.flatMap((word) => {
      const text = /^\+{1,2}[\dgG%]*[!|#]\s*(\S[\s\S]*)$/.exec(word.text)?.[1];
      return text === undefined ? [] : [wordOf(text, word)];
    }),
    program,
  );

/** Lines of a session that begin with `!` go to a shell on this side. */
const openClient =
  (options?: WrapperSpec): Opener =>
  (args, { program, fed, stdin = "" }) => {
    const lines = stdin.split("\n").slice(0, MOST_LINES);
    const typed = lines.flatMap(
      (line) => /^\s*(?:\\?!|shell\s|\.shell\s|\.system\s)\s*(\S.*)$/.exec(line)?.[1] ?? [],
    );
    const held = options === undefined ? [] : openBySpec(options, args, { program, fed });
    return [
      ...held,
      ...textsOf(
        typed.map((text) => wordOf(text)),
        program,
      ),
    ];
  };

/** Longer scripts and sessions are not read line by line. */
const MOST_LINES = 400;

/** `!cmd`, `%!cmd`, `r !cmd`, `w !cmd`, with the words that may stand in front. */
const ESCAPE =
  /^[:\s]*(?:(?:silent|sil|noautocmd|keepjumps|execute|exe|normal|term|terminal)!?\s+["']?:?\s*)*(?:[%.$\d,'<>/+-]+\s*)?(?:(?:r|re|read|w|write|b)\s*)?!+\s*(\S[\s\S]*)$/;
const TERMINAL = /^[:\s]*(?:term|terminal|sh|shell)\s+(\S[\s\S]*)$/;
/** Functions of editor languages that reach a shell. */
const CALL =
  /\b(?:system|systemlist|termopen|jobstart|job_start|term_start|os\.execute|io\.popen|os\.system)\s*\(\s*(?:\[\s*)?(["'])((?:(?!\1)[^\\]|\\.)*)\1/g;
/** Functions of vim that act on files. */
const FILE_CALL = /\b(delete|rename|filecopy)\s*\(((?:[^()]|\([^()]*\))*)\)/g;
const DOES: Readonly<Record<string, string>> = { delete: "rm", rename: "mv", filecopy: "cp" };

/** Orders to an editor are shorter. */
const LONGEST_LINE = 4_000;

/** `call delete(expand("~/x"), "rf")` in shell words. */
function fileCommands(line: string): readonly string[] {
  if (line.length > LONGEST_LINE) return [];
  return [...line.matchAll(FILE_CALL)].map(([, name = "", given = ""]) => {
    const texts = [...withHome(given).matchAll(/["']([^"']*)["']|(~\/[^\s"',)]*)["']?/g)].map(
      ([, quoted, bare]) => quoted ?? bare ?? "",
    );
    const isTree = name === "delete" && texts.at(-1) === "rf";
    const paths = (isTree ? texts.slice(0, -1) : texts).map(quoteText);
    return `${DOES[name]} ${isTree ? "-rf " : ""}-- ${paths.length === 0 ? '"$unknown_value"' : paths.join(" ")}`;
  });
}

/** Code in a language that the editor has built in: `py3 import os`, `lua os.execute(…)`. */
const EDITOR_CODE =
  /^[:\s]*(?:silent!?\s+)?(py|py3|pyx|python|python3|pythonx|lua|ruby|rub|perl|pe)\s+(\S[\s\S]*)$/;
const LANGUAGES: Readonly<Record<string, string>> = {
  py: "python3 -c",
  lu: "lua -e",
  ru: "ruby -e",
  pe: "perl -e",
};
/** Scripts that it obeys, from an address or from where anybody can write. */
const SOURCES =
  /^[:\s]*(?:silent!?\s+)?(?:so|sou|source|luafile|luaf|pyfile|py3file|py3f|rubyfile|runtime)!?\s+((?:https?|ftp|scp|rsync):\S+|\/(?:tmp|var\/tmp|dev\/shm)\/\S+)/;
/** The text of one file, put where another one is. */
const WRITES =
  /^[:\s]*(?:[%.$\d,'<>]*\s*)(?:w|wr|write|sav|saveas|up|update)!?\s+(?:\+\+\S+\s+)*(?:>>\s*)?([~/][^\s|]*)\s*$/;
const EMPTIES = /^[:\s]*(?:%|1?,\$?|g\/(?:\^|\.|\.\*)?\/)\s*(?:d|de|del|delete)(?:\s|$|[|_!])/;
const KEEPS = /^[:\s]*(?:x|wq|w|wa|xa|wqa|ZZ|update|up|xit|write)!?(?:\s|$)/;

/** What the commands given to vi, ex, ed and their kin start in a shell. */
const openEditor: Opener = (args, input) => {
  const lines = scriptLines(args, input);
  const texts: string[] = [];
  for (const line of lines) {
    const text = ESCAPE.exec(line)?.[1] ?? TERMINAL.exec(line)?.[1];
    if (text !== undefined) texts.push(text.replace(/["']$/, (end) => (/["']:?!/.test(line) ? "" : end)));
    const source = SOURCES.exec(line)?.[1];
    if (source !== undefined)
      texts.push(source.includes(":/") ? `curl ${quoteText(source)} | sh` : `sh ${quoteText(source)}`);
    const written = WRITES.exec(line)?.[1];
    if (written !== undefined) texts.push(`echo >> ${written}`);
    if (/\(/.test(line)) {
      for (const match of line.matchAll(CALL)) texts.push(match[2] ?? UNKNOWN);
      texts.push(...fileCommands(line));
    }
    const [, language = "", code] = EDITOR_CODE.exec(line) ?? [];
    if (code !== undefined) texts.push(`${LANGUAGES[language.slice(0, 2)]} ${quoteText(code)}`);
  }
  const file = args.findLast(({ text }) => !/^[-+]/.test(text));
  if (
    file !== undefined &&
    lines.some((line) => EMPTIES.test(line)) &&
    lines.some((line) => KEEPS.test(line))
  )
    texts.push(`truncate -s 0 -- ${quoteText(file.text)}`);
  const openings = textsOf(
    texts.map((text) => wordOf(text)),
    input.program,
  );
  return lines.length >= MOST_LINES ? [{ kind: "opaque" }, ...openings] : openings;
};

function scriptLines(args: readonly ShellWord[], input: OpenerInput): readonly string[] {
  const texts: string[] = [];
  for (const [index, { text }] of args.entries()) {
    const before = args[index - 1]?.text ?? "";
    if (/^(?:-c|--cmd|-sc|-Sc|-esc|-sec|-ec|-nc|-es?c|-Es?c)$/.test(before)) texts.push(text);
    else if (/^-[Ssu]$/.test(before)) texts.push(input.fileText(text) ?? "");
    else {
      const attached = /^(?:\+|--cmd=|-c(?=\S))([\s\S]+)$/.exec(text)?.[1];
      if (attached !== undefined) texts.push(attached);
    }
  }
  if (input.stdin !== undefined && readsInput(input.program, args)) texts.push(input.stdin);
  const lines = texts.flatMap(linesOf);
  const sourced = lines.flatMap((line) => {
    const path = /^[:\s]*(?:silent!?\s+)?(?:so|sou|source)!?\s+(\S+)\s*$/.exec(line)?.[1];
    return path === undefined ? [] : linesOf(input.fileText(path) ?? "");
  });
  return [...lines, ...sourced].slice(0, MOST_LINES);
}

/** `ed` always, the others when told to run without a screen. */
function readsInput(program: string, args: readonly ShellWord[]): boolean {
  return /^(?:ed|red|ex)$/.test(program) || args.some(({ text }) => /^-(?:e?s|es|Es|e|E)$/.test(text));
}

/** `|` parts commands unless one of them is a shell command, which takes all the rest. */
function linesOf(text: string): readonly string[] {
  const lines: string[] = [];
  for (const line of text.split("\n").slice(0, MOST_LINES)) {
    const parts = line.split("|");
    for (const [index, part] of parts.entries()) {
      if (ESCAPE.test(part) || /\(/.test(part)) {
        lines.push(parts.slice(index).join("|"));
        break;
      }
      lines.push(part);
    }
  }
  return lines;
}

/** `dc -e '!cmd'`: the rest of a line behind `!` is for a shell, unless it compares. */
const openCalculator: Opener = (args, { program, stdin = "" }) => {
  const given = args.flatMap(({ text }, index) => {
    if (/^(?:-e|--expression)$/.test(args[index - 1]?.text ?? "")) return [text];
    return /^(?:-e|--expression=)([\s\S]+)$/.exec(text)?.[1] ?? [];
  });
  const lines = [...given, stdin].flatMap((text) => text.split("\n")).slice(0, MOST_LINES);
  const texts = lines.flatMap((line) => /!(?![<>=])\s*(\S.*)$/.exec(line)?.[1] ?? []);
  return textsOf(
    texts.map((text) => wordOf(text)),
    program,
  );
};

export const TERMINAL_OPENERS: Readonly<Record<string, Opener>> = {
  tmux: openTmux,
  byobu: openTmux,
  screen: openScreen,
  gdb: openGdb,
  lldb: openGdb,
  expect: openExpect,
  less: openViewer,
  zless: openViewer,
  more: openViewer,
  most: openViewer,
  sftp: openClient({ holds: "S D", taking: "c F i J l o P X B b R s" }),
  lftp: openClient({ holds: "e c", taking: "u p" }),
  ftp: openClient(),
  telnet: openClient(),
  smbclient: openClient(),
  dc: openCalculator,
  ed: openEditor,
  red: openEditor,
  ex: openEditor,
  vi: openEditor,
  vim: openEditor,
  nvim: openEditor,
  view: openEditor,
  gvim: openEditor,
  vimdiff: openEditor,
  rvim: openEditor,
  rview: openEditor,
  rgvim: openEditor,
  gview: openEditor,
  vimx: openEditor,
  nvimdiff: openEditor,
};
