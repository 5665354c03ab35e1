import { commonNames } from "../rules/environment-variables.js";
import { type ShellWord, UNKNOWN, type Wrapper } from "../types.js";
import { parseOptions } from "./options.js";
import {
  joinWords,
  local,
  type Opener,
  type OpenerInput,
  type Opening,
  otherUser,
  readWrapper,
  textsOf,
  type WrapperSpec,
  wordOf,
} from "./wrapper-spec.js";

/** Shells that read bash, or something near enough. */
const SHELLS =
  "sh bash zsh dash ksh ksh93 mksh lksh ash rbash yash posh osh ysh oil fish csh tcsh nu elvish xonsh".split(
    " ",
  );
/** Their language differs: what the parser refuses may still be fine there. */
const FOREIGN = new Set(["zsh", "ysh", "fish", "csh", "tcsh", "nu", "elvish", "xonsh"]);

function isStandardInput({ text }: ShellWord): boolean {
  return /^\/+(?:dev\/+stdin|dev\/+fd\/+0|proc\/+(?:self|thread-self|\$\$|\d+|\uFFFC)\/+fd\/+0)$/.test(text);
}

const openShell: Opener = (args, { program, fed }) => {
  const wrapper = local(program);
  const foreign = FOREIGN.has(program);
  const openings: Opening[] = [];
  let wantsText = false;
  let wantsInput = false;
  let at = 0;
  for (; at < args.length; at++) {
    const word = args[at] as ShellWord;
    const { text } = word;
    if (text === UNKNOWN && args.slice(at + 1).some((later) => /^-\w*c/.test(later.text))) continue;
    if (!/^[-+]/.test(text)) break;
    if (text === "--" || text === "-") {
      at++;
      break;
    }
    const inline = /^--(?:command|init-command)=([\s\S]*)$/.exec(text);
    if (inline !== null) {
      openings.push({ kind: "text", text: { ...word, text: inline[1] ?? "" }, wrapper, foreign });
    } else if (text.startsWith("--")) {
      if (text === "--version" || text === "--help") return [];
      const next = args[at + 1];
      if (/^--(?:rcfile|init-file)$/.test(text) && next !== undefined) {
        openings.push({ kind: "script", path: next, wrapper });
        at++;
      } else if (text === "--command") wantsText = true;
    } else if (/^-\w*n/.test(text) && !FOREIGN.has(program)) return [];
    else {
      if (text.includes("c")) wantsText = true;
      if (text.includes("s") && text.startsWith("-")) wantsInput = true;
      if (/[oO]/.test(text)) at++;
    }
  }
  const [first, ...rest] = args.slice(at);
  if (wantsText) {
    if (first === undefined) return openings;
    const [zero, ...positional] = rest;
    return [...openings, { kind: "text", text: first, wrapper, foreign, positional, zero }];
  }
  if (first === undefined || wantsInput) {
    const positional = args.slice(at);
    return fed ? [...openings, { kind: "input", wrapper, foreign, positional }] : openings;
  }
  if (isStandardInput(first)) {
    return [...openings, { kind: "input", wrapper, foreign, positional: rest }];
  }
  return [...openings, { kind: "script", path: first, wrapper, positional: rest }];
};

const openEval: Opener = (args) =>
  args.length === 0
    ? []
    : [
        {
          kind: "text",
          text: joinWords(args[0]?.text === "--" ? args.slice(1) : args),
          wrapper: local("eval"),
          here: true,
        },
      ];

const openSource: Opener = (args, { program }) => {
  const wrapper = local(program);
  const [path, ...positional] = args[0]?.text === "--" ? args.slice(1) : args;
  if (path === undefined) return [];
  if (isStandardInput(path)) {
    return [{ kind: "input", wrapper, here: true }];
  }
  return [
    { kind: "script", path, wrapper, here: true, positional: positional.length > 0 ? positional : undefined },
  ];
};

/** `trap 'cmd' SIGNAL`: runs later, in this shell. */
const openTrap: Opener = (args) => {
  const [text, ...signals] = args[0]?.text === "--" ? args.slice(1) : args;
  if (text === undefined || signals.length === 0 || text.text === "-" || text.text === "") return [];
  if (/^-[lp]/.test(text.text)) return [];
  return [{ kind: "text", text, wrapper: local("trap"), here: true, later: true }];
};

/**
 * What an alias will run is judged when it is defined: who uses it later sees only its name. One that takes the place
 * of a common command is judged as if it were typed with a file behind it, too.
 */
const openAlias: Opener = (args, { program }) =>
  args.flatMap((word): readonly Opening[] => {
    const cut = word.text.indexOf("=");
    const text = wordOf(word.text.slice(cut + 1), word);
    return cut < 1 ? [] : renamed(word.text.slice(0, cut), text, program);
  });

const openAbbreviation: Opener = (args, { program }) => {
  const start = args.findIndex(({ text }) => !text.startsWith("-"));
  const [name, ...words] = start < 0 ? [] : args.slice(start);
  return name === undefined || words.length === 0 ? [] : renamed(name.text, joinWords(words), program);
};

function renamed(name: string, text: ShellWord, program: string): readonly Opening[] {
  const withFile =
    commonNames.has(name) && !/[;|&\n]/.test(text.text) && text.text.length < 400
      ? [wordOf(`${text.text.trim()} ./x`, text)]
      : [];
  return textsOf([text, ...withFile], program);
}

/** `bind -x '"\\C-l": cmd'`: the part behind the key. */
const openBind: Opener = (args, { program }) =>
  textsOf(
    args.flatMap((word, index) =>
      /^-[a-z]*x$/.test(args[index - 1]?.text ?? "")
        ? [wordOf(word.text.replace(/^\s*(?:"(?:[^"\\]|\\.)*"|[\w\\-]+)\s*:?\s*/, ""), word)]
        : [],
    ),
    program,
  );

const ENV: WrapperSpec = {
  flags: "i 0 v ignore-environment null debug block-signal default-signal ignore-signal list-signal-handling",
  taking: "u C S a P unset chdir split-string argv0",
  idle: "help version",
  assignments: true,
};

const openEnv: Opener = (args) => {
  const bare = args[0]?.text === "-" ? args.slice(1) : args;
  const read = readWrapper(bare, ENV);
  if (read === undefined || read.given.has("help") || read.given.has("version")) return [];
  const wrapper = local("env");
  const openings: Opening[] = read.doubtful ? [{ kind: "opaque" }] : [];
  const folder = read.given.get("C") ?? read.given.get("chdir");
  const split = read.given.get("S") ?? read.given.get("split-string");
  for (const rest of read.rests) {
    if (split !== undefined) {
      const words = splitString(split);
      openings.push(...openEnv([...words, ...rest], NO_STDIN));
    } else if (rest[0]?.text === "-") openings.push(...openEnv(rest.slice(1), NO_STDIN));
    else if (rest.length > 0)
      openings.push({ kind: "argv", argv: rest, wrapper, assignments: read.assignments, folder });
  }
  return openings;
};

const NO_STDIN: OpenerInput = {
  program: "env",
  stdin: undefined,
  fed: false,
  assignments: [],
  fileText: () => undefined,
};

/** `env -S` cuts at blanks and at `\_`, with quotes and backslashes of its own. */
function splitString(word: ShellWord): readonly ShellWord[] {
  const spaced = word.text.replace(
    /("(?:\\[\s\S]|[^"\\])*"|'(?:\\[\s\S]|[^'\\])*')|\\_/g,
    (_whole, quoted) => quoted ?? " ",
  );
  return [...spaced.matchAll(/(?:"(?:\\[\s\S]|[^"\\])*"|'(?:\\[\s\S]|[^'\\])*'|\\[\s\S]|[^\s"'\\])+/g)].map(
    ([part]) =>
      wordOf(
        part
          .replace(
            /"((?:\\[\s\S]|[^"\\])*)"|'((?:\\[\s\S]|[^'\\])*)'/g,
            (_whole, double, single) => double ?? single,
          )
          .replace(/\\_/g, " ")
          .replace(/\\([\s\S])/g, "$1"),
        word,
      ),
  );
}

const SU: WrapperSpec = {
  flags: "l m p P f login preserve-environment pty fast session-command",
  taking: "g G s w T group supp-group shell whitelist-environment",
  idle: "h V help version",
  text: "c command session-command",
};

/** `su [options] [-] [user [words]]`; options may also follow the user. */
const openSu: Opener = (args, { program, fed }) => {
  const read = readWrapper(
    args.filter((word) => word.text !== "-"),
    SU,
  );
  if (read === undefined || read.given.has("help") || read.given.has("version")) return [];
  const wrapper: Wrapper = { program, kind: "root", user: otherUser(read.rests.at(-1)?.[0]) };
  const after = readWrapper(read.rests.at(-1)?.slice(1) ?? [], SU);
  const text =
    read.given.get("c") ?? read.given.get("command") ?? after?.given.get("c") ?? after?.given.get("command");
  if (text !== undefined) return [{ kind: "text", text, wrapper }];
  return fed ? [{ kind: "input", wrapper }] : [];
};

const openRunuser: Opener = (args, input) => {
  const named = args.findIndex((word) => /^(?:-u|--user)$/.test(word.text));
  if (named < 0) return openSu(args, input);
  const rest = args.slice(named + 2);
  const argv = rest[0]?.text === "--" ? rest.slice(1) : rest;
  const wrapper: Wrapper = { program: input.program, kind: "root", user: otherUser(args[named + 1]) };
  return argv.length === 0 ? [] : [{ kind: "argv", argv, wrapper }];
};

/** `sg group [-c] cmd`. */
const openSg: Opener = (args, { program }) => {
  const at = args.findIndex(({ text }) => text === "-c");
  const text = at < 0 ? args.filter(({ text: word }) => word !== "-")[1] : args[at + 1];
  return text === undefined
    ? []
    : [{ kind: "text", text, wrapper: { program, kind: "root", user: otherUser(args[0]) }, foreign: true }];
};

const FLOCK: WrapperSpec = {
  flags: "e x s n u o F nb exclusive shared nonblock unlock close no-fork verbose",
  taking: "w E wait timeout conflict-exit-code",
  idle: "h V help version",
  operands: 1,
};

const openFlock: Opener = (args) => {
  const read = readWrapper(args, FLOCK);
  const wrapper = local("flock");
  const openings: Opening[] = read?.doubtful === true ? [{ kind: "opaque" }] : [];
  for (const rest of read?.rests ?? []) {
    const [first, text] = rest;
    if (first === undefined) continue;
    if (/^(?:-c|--command)$/.test(first.text)) {
      if (text !== undefined) openings.push({ kind: "text", text, wrapper });
    } else openings.push({ kind: "argv", argv: rest, wrapper });
  }
  return openings;
};

/** Each of these reads the commands to run later from standard input. */
const openAt: Opener = (args, { program, fed }) => {
  if (args.some((word) => /^-[lrdcV]$/.test(word.text))) return [];
  const file = args.findIndex((word) => word.text === "-f");
  const path = file < 0 ? undefined : args[file + 1];
  const wrapper = local(program);
  if (path !== undefined) return [{ kind: "script", path, wrapper }];
  return fed ? [{ kind: "input", wrapper }] : [];
};

const openStartStop: Opener = (args) => {
  if (args.some((word) => /^(?:-K|--stop|-T|--status)$/.test(word.text))) return [];
  const at = args.findIndex((word) => /^(?:-x|--exec|-a|--startas)$/.test(word.text));
  const program = args[at + 1];
  if (at < 0 || program === undefined) return [];
  const dashes = args.findIndex((word) => word.text === "--");
  const rest = dashes < 0 ? [] : args.slice(dashes + 1);
  return [{ kind: "argv", argv: [program, ...rest], wrapper: local("start-stop-daemon") }];
};

const MACHINE =
  /^(?:linux(?:32|64)|i[3-6]86|x86_64|amd64|aarch64|arm\w*|ppc\w*|s390x?|mips\w*|sparc\w*|uname26|alpha|ia64)$/;

/** `setarch x86_64 -R cmd`, `setarch -R cmd`: the machine is optional, options stand on both sides. */
const openSetarch: Opener = (args, { program }) => {
  let at = 0;
  const options = (): void => {
    while (args[at]?.text.startsWith("-") === true && args[at]?.text !== "--") at++;
  };
  options();
  if (MACHINE.test(args[at]?.text ?? "")) at++;
  options();
  const argv = args.slice(args[at]?.text === "--" ? at + 1 : at);
  return argv.length === 0 ? [] : [{ kind: "argv", argv, wrapper: local(program) }];
};

/** `compgen -W '$(cmd)'` expands its list, `-C` runs a command and `-F` a function. */
const openCompletion: Opener = (args, { program }) => {
  const { values } = parseOptions(args, { taking: "A C F G o P S V W X".split(" ") });
  const wrapper = local(program);
  const texts = (name: string): readonly ShellWord[] => values.get(name) ?? [];
  return [
    ...textsOf(texts("C"), program),
    ...texts("W").map(
      (word): Opening => ({ kind: "text", text: wordOf(`: ${word.text}`, word), wrapper, here: true }),
    ),
    ...(program === "compgen" ? texts("F") : []).map(
      (text): Opening => ({ kind: "text", text, wrapper, here: true }),
    ),
  ];
};

/** `jobs -x cmd`. */
const openJobs: Opener = (args) =>
  args[0]?.text === "-x" && args.length > 1
    ? [{ kind: "argv", argv: args.slice(1), wrapper: local("jobs") }]
    : [];

/** `fc -e cmd`, `fc -s`: without `-l` an earlier command runs again, and nobody here knows which. */
const openHistory: Opener = (args, { program }) => {
  const { flags, values } = parseOptions(args, { taking: ["e"] });
  if (flags.has("l")) return [];
  return [{ kind: "opaque" }, ...textsOf(values.get("e") ?? [], program)];
};

export const SHELL_OPENERS: Readonly<Record<string, Opener>> = {
  ...Object.fromEntries(SHELLS.map((shell) => [shell, openShell])),
  eval: openEval,
  source: openSource,
  ".": openSource,
  trap: openTrap,
  alias: openAlias,
  abbr: openAbbreviation,
  bind: openBind,
  compgen: openCompletion,
  complete: openCompletion,
  jobs: openJobs,
  fc: openHistory,
  env: openEnv,
  genv: openEnv,
  su: openSu,
  newgrp: openSu,
  sg: openSg,
  runuser: openRunuser,
  flock: openFlock,
  at: openAt,
  batch: openAt,
  "start-stop-daemon": openStartStop,
  setarch: openSetarch,
  arch: openSetarch,
};
