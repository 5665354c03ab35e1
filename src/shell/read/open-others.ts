import { UNKNOWN } from "../types.js";
import { joinWords, local, type Opener, type Opening, wordOf } from "./opening.js";
import { quoteText } from "./quote.js";
import { readWrapper, type WrapperSpec } from "./wrapper-options.js";

/** Programs that carry a command in a way of their own. */

const WATCH: WrapperSpec = {
  flags:
    "b c C d e g p r t w x beep color no-color differences errexit chgexit precise no-rerun no-title no-wrap exec permanent",
  taking: "n q s interval equexit shotsdir",
  idle: "h v help version",
};

const openWatch: Opener = (args) => {
  const read = readWrapper(args, WATCH);
  if (read === undefined) return [];
  const wrapper = local("watch");
  const direct = read.given.has("x") || read.given.has("exec");
  const openings: Opening[] = read.doubtful ? [{ kind: "opaque" }] : [];
  for (const rest of read.rests) {
    if (rest.length === 0) continue;
    if (direct) openings.push({ kind: "argv", argv: rest, wrapper, repeated: true });
    else openings.push({ kind: "text", text: joinWords(rest), wrapper, repeated: true });
  }
  return openings;
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

const SCRIPT: WrapperSpec = {
  flags: "a e f q F k r p append return flush force quiet",
  taking: "E I O B T m o t echo log-in log-out log-io log-timing logging-format output-limit",
  text: "c command",
  idle: "h V help version",
  operands: 1,
};

/** On Linux the command is a text behind `-c`; elsewhere it follows the file. */
const openScript: Opener = (args, { fed }) => {
  const read = readWrapper(args, SCRIPT);
  if (read === undefined) return [];
  const wrapper = local("script");
  const text = read.given.get("c") ?? read.given.get("command");
  if (text !== undefined) return [{ kind: "text", text, wrapper }];
  const openings = read.rests
    .filter((rest) => rest.length > 0)
    .map((argv): Opening => ({ kind: "argv", argv, wrapper }));
  return openings.length === 0 && fed ? [{ kind: "input", wrapper }] : openings;
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

const openGdb: Opener = (args) => {
  const wrapper = local("gdb");
  const openings = args.flatMap((word): readonly Opening[] => {
    const code = /^(?:python|py|script)\s+([\s\S]+)$/.exec(word.text)?.[1];
    if (code !== undefined)
      return [{ kind: "text", text: wordOf(`python3 -c ${quoteText(code)}`, word), wrapper }];
    const shell = /^(?:shell|!)\s*([\s\S]+)$/.exec(word.text)?.[1];
    return shell === undefined ? [] : [{ kind: "text", text: wordOf(shell, word), wrapper }];
  });
  const at = args.findIndex((word) => /^--?args$/.test(word.text));
  const argv = at < 0 ? [] : args.slice(at + 1);
  return argv.length === 0 ? openings : [...openings, { kind: "argv", argv, wrapper }];
};

/** `--bind FROM TO` takes two words, most others one; the command is the first word that belongs to none. */
const TWO_WORDS = /^--(?:(?:ro-|dev-)?bind(?:-try)?|symlink|setenv|file|(?:ro-)?bind-data|chmod|overlay)$/;
const ONE_WORD =
  /^--(?:chdir|proc|dev|tmpfs|dir|mqueue|uid|gid|hostname|unsetenv|lock-file|args|argv0|userns2?|pidns|seccomp|add-seccomp-fd|block-fd|userns-block-fd|info-fd|json-status-fd|sync-fd|exec-label|file-label|cap-add|cap-drop|perms|size|remount-ro|overlay-src|tmp-overlay|ro-overlay)$/;

const openBwrap: Opener = (args) => {
  let at = 0;
  while (at < args.length && args[at]?.text.startsWith("-") === true && args[at]?.text !== "--") {
    const text = args[at]?.text ?? "";
    at += TWO_WORDS.test(text) ? 3 : ONE_WORD.test(text) ? 2 : 1;
  }
  if (args[at]?.text === "--") at++;
  const argv = args.slice(at);
  return argv.length === 0 ? [] : [{ kind: "argv", argv, wrapper: local("bwrap") }];
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

/** `vim -c '!cmd'`, `ex +!cmd`: a colon command that is handed to a shell. */
const openVim: Opener = (args, { program }) =>
  args.flatMap((word): readonly Opening[] => {
    const text = /^(?:\+|--cmd=?|-c)?:?(?:silent!?\s+)?!\s*([\s\S]+)$/.exec(word.text)?.[1];
    return text === undefined || text === UNKNOWN
      ? []
      : [{ kind: "text", text: wordOf(text, word), wrapper: local(program) }];
  });

/** The dynamic loader started by name runs the program it is given. */
const openLoader: Opener = (args, { program }) => {
  let at = 0;
  while (args[at]?.text.startsWith("--") === true)
    at += /^--(?:library-path|preload|argv0|audit|inhibit-rpath)$/.test(args[at]?.text ?? "") ? 2 : 1;
  const argv = args.slice(at);
  return argv.length === 0 ? [] : [{ kind: "argv", argv, wrapper: local(program) }];
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

/** Everything behind `--` is for a shell: `capsh --drop=all -- -c 'cmd'`. */
const openCapsh: Opener = (args, { fed, program }) => {
  const at = args.findIndex((word) => word.text === "--" || word.text === "==");
  if (at < 0) return [];
  const argv = [wordOf("bash"), ...args.slice(at + 1)];
  return argv.length === 1 && !fed ? [] : [{ kind: "argv", argv, wrapper: local(program) }];
};

/** With `-s` the words are one text for a shell. */
const openEntr: Opener = (args, { program }) => {
  const read = readWrapper(args, { flags: "a c d n p r s z x" });
  const wrapper = local(program);
  return (read?.rests ?? [])
    .filter((rest) => rest.length > 0)
    .map(
      (argv): Opening =>
        read?.given.has("s") === true
          ? { kind: "text", text: joinWords(argv), wrapper, repeated: true }
          : { kind: "argv", argv, wrapper, repeated: true },
    );
};

export const OTHER_OPENERS: Readonly<Record<string, Opener>> = {
  watch: openWatch,
  flock: openFlock,
  script: openScript,
  at: openAt,
  batch: openAt,
  gdb: openGdb,
  lldb: openGdb,
  bwrap: openBwrap,
  "ld.so": openLoader,
  setarch: openSetarch,
  arch: openSetarch,
  capsh: openCapsh,
  entr: openEntr,
  "start-stop-daemon": openStartStop,
  expect: openExpect,
  vim: openVim,
  vi: openVim,
  nvim: openVim,
  ex: openVim,
  view: openVim,
};
