import { joinWords, local, type Opener, type Opening, wordOf } from "./opening.js";
import { type ShellWord, UNKNOWN, type Wrapper } from "./types.js";
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
    const shell = /^(?:shell|!)\s*([\s\S]+)$/.exec(word.text)?.[1];
    return shell === undefined ? [] : [{ kind: "text", text: wordOf(shell, word), wrapper }];
  });
  const at = args.findIndex((word) => /^--?args$/.test(word.text));
  const argv = at < 0 ? [] : args.slice(at + 1);
  return argv.length === 0 ? openings : [...openings, { kind: "argv", argv, wrapper }];
};

/** Every operand is a command line of its own. */
function openEach(taking: readonly string[]): Opener {
  return (args, { program }) => {
    const wrapper = local(program);
    const openings: Opening[] = [];
    for (let at = 0; at < args.length; at++) {
      const word = args[at] as ShellWord;
      if (taking.includes(word.text)) at++;
      else if (!word.text.startsWith("-")) openings.push({ kind: "text", text: word, wrapper });
    }
    return openings;
  };
}

/** Options whose value is a command line, wherever they stand. */
function openOptions(options: readonly string[]): Opener {
  return (args, { program }) => {
    const wrapper = local(program);
    return args.flatMap((word, index): readonly Opening[] => {
      if (options.includes(word.text)) {
        const text = args[index + 1];
        return text === undefined ? [] : [{ kind: "text", text, wrapper }];
      }
      const name = options.find((option) => option.startsWith("--") && word.text.startsWith(`${option}=`));
      return name === undefined
        ? []
        : [{ kind: "text", text: wordOf(word.text.slice(name.length + 1), word), wrapper }];
    });
  };
}

const openNix: Opener = (args, { program }) => {
  const at = args.findIndex((word) => /^(?:-c|--command)$/.test(word.text));
  const argv = at < 0 ? [] : args.slice(at + 1);
  return argv.length === 0 ? [] : [{ kind: "argv", argv, wrapper: local(program) }];
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

/** What `expect` does to a program it talks to is a language of its own. */
const openExpect: Opener = (args) =>
  args.some(
    (word) =>
      word.text === "-c" &&
      /\bspawn\b|\bexec\b|\bsystem\b|\uFFFC/.test(args.map((one) => one.text).join(" ")),
  )
    ? [{ kind: "opaque" }]
    : [];

/** `vim -c '!cmd'`, `ex +!cmd`: a colon command that is handed to a shell. */
const openVim: Opener = (args, { program }) =>
  args.flatMap((word): readonly Opening[] => {
    const text = /^(?:\+|--cmd=?|-c)?:?(?:silent!?\s+)?!\s*([\s\S]+)$/.exec(word.text)?.[1];
    return text === undefined || text === UNKNOWN
      ? []
      : [{ kind: "text", text: wordOf(text, word), wrapper: local(program) }];
  });

/** A makefile on standard input, or one given in an option: its recipes are lines for a shell. */
const openMake: Opener = (args, { program, stdin }) => {
  const wrapper = local(program);
  const openings: Opening[] = [];
  for (const [index, word] of args.entries()) {
    const given = /^--eval(?:=([\s\S]*))?$/.exec(word.text);
    if (given !== null) openings.push(...recipes(given[1] ?? args[index + 1]?.text ?? "", wrapper));
  }
  const fromInput = args.some(
    (word, index) => /^(?:-f|--file|--makefile)$/.test(word.text) && args[index + 1]?.text === "-",
  );
  if (fromInput || args.some((word) => /^(?:-f-|--(?:make)?file=-)$/.test(word.text))) {
    openings.push(...(stdin === undefined ? [{ kind: "opaque" } as const] : recipes(stdin, wrapper)));
  }
  return openings;
};

function recipes(makefile: string, wrapper: Wrapper): readonly Opening[] {
  return makefile.split("\n").flatMap((line): readonly Opening[] => {
    const recipe =
      /^\t[@+-]*\s*(.+)$/.exec(line)?.[1] ?? /^[^\s#:=][^:=]*:[^;=]*;\s*[@+-]*(.+)$/.exec(line)?.[1];
    const text = recipe?.replaceAll("$$", "$");
    return text === undefined ? [] : [{ kind: "text", text: wordOf(text), wrapper, foreign: true }];
  });
}

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

/** Tools for many hosts: the command is text for each of them. */
const openAnsible: Opener = (args, { program }) => {
  const module =
    args[args.findIndex((word) => /^(?:-m|--module-name)$/.test(word.text)) + 1]?.text ?? "command";
  const at = args.findIndex((word) => /^(?:-a|--args)$/.test(word.text));
  const text = args[at + 1];
  if (at < 0 || text === undefined || !/(?:^|\.)(?:shell|command|raw|script)$/.test(module)) return [];
  return [{ kind: "text", text, wrapper: { program, kind: "remote" } }];
};

const openSalt: Opener = (args, { program }) => {
  const at = args.findIndex((word) => /^cmd\.(?:run|shell|run_all)$/.test(word.text));
  const words = at < 0 ? [] : args.slice(at + 1).filter((word) => !/^\w+=/.test(word.text));
  return words.length === 0
    ? []
    : [{ kind: "text", text: joinWords(words), wrapper: { program, kind: "remote" } }];
};

export const OTHER_OPENERS: Readonly<Record<string, Opener>> = {
  watch: openWatch,
  flock: openFlock,
  script: openScript,
  at: openAt,
  batch: openAt,
  gdb: openGdb,
  lldb: openGdb,
  hyperfine: openEach([
    "-w",
    "-m",
    "-M",
    "-r",
    "-N",
    "-S",
    "-L",
    "-P",
    "-u",
    "--warmup",
    "--runs",
    "--min-runs",
    "--shell",
    "--export-json",
    "--export-markdown",
    "--export-csv",
    "-n",
    "--command-name",
  ]),
  concurrently: openEach([
    "-n",
    "-c",
    "-m",
    "-p",
    "-l",
    "-t",
    "-s",
    "--names",
    "--prefix-colors",
    "--max-processes",
    "--prefix",
    "--success",
  ]),
  nodemon: openOptions(["-x", "--exec"]),
  "cargo-watch": openOptions(["-s", "--shell"]),
  just: openOptions(["-c", "--command"]),
  "nix-shell": openOptions(["--run", "--command"]),
  nix: openNix,
  bwrap: openBwrap,
  make: openMake,
  gmake: openMake,
  "ld.so": openLoader,
  setarch: openSetarch,
  arch: openSetarch,
  capsh: openCapsh,
  entr: openEntr,
  ansible: openAnsible,
  salt: openSalt,
  "salt-call": openSalt,
  man: openOptions(["-P", "--pager"]),
  rsync: openOptions(["-e", "--rsh"]),
  sort: openOptions(["--compress-program"]),
  scp: openOptions(["-S"]),
  sftp: openOptions(["-S"]),
  "start-stop-daemon": openStartStop,
  expect: openExpect,
  vim: openVim,
  vi: openVim,
  nvim: openVim,
  ex: openVim,
  view: openVim,
};
