import { parseOptions } from "../read/options.js";
import { quoteText, quoteWord } from "../read/quote.js";
import { isDownloadPlace } from "../rules/places.js";
import { commonNames } from "../rules/poison.js";
import { danger } from "../rules/verb-table.js";
import type { Finding, ShellWord, SimpleCommand } from "../types.js";
import { editorEffects } from "./editors.js";
import type { CodeEffects } from "./effects.js";
import { makeEffects } from "./make.js";
import { isWhollyUnknown, shellText } from "./values.js";

/** Programs that run a command line which one of their options, variables or operands holds. */

type Carrier = (command: SimpleCommand) => readonly ShellWord[] | CodeEffects;

/** Options whose value is a command line; `taking` are others that take a word. */
function options(holding: string, taking = ""): Carrier {
  const names = holding.split(" ");
  const spec = { taking: [...names, ...taking.split(" ")], long: names.filter((name) => name.length > 1) };
  return ({ args }) => {
    const { values } = parseOptions(args, spec);
    return names.flatMap((name) => values.get(name) ?? []);
  };
}

/** Programs that spell long options with one dash. */
function dashed(pattern: RegExp, change: (text: string) => string = (text) => text): Carrier {
  return ({ args }) =>
    args.flatMap((word, index) => {
      if (pattern.test(args[index - 1]?.text ?? "")) return [{ ...word, text: change(word.text) }];
      const cut = word.text.indexOf("=");
      return cut > 0 && pattern.test(word.text.slice(0, cut))
        ? [{ ...word, text: change(word.text.slice(cut + 1)) }]
        : [];
    });
}

const tar: Carrier = (command) => {
  const { values } = parseOptions(command.args, {
    taking: (
      "I F f C T X b H N V L K use-compress-program to-command rsh-command info-script new-volume-script " +
      "checkpoint-action exclude transform file directory"
    ).split(" "),
  });
  const named = "I F use-compress-program to-command rsh-command info-script new-volume-script".split(" ");
  const actions = (values.get("checkpoint-action") ?? []).filter(({ text }) => text.startsWith("exec="));
  return [
    ...named.flatMap((name) => values.get(name) ?? []),
    ...actions.map((word) => ({ ...word, text: word.text.slice(5) })),
  ];
};

/** `less '+!cmd' file`. */
const viewer: Carrier = ({ args }) =>
  args.flatMap((word) => {
    const text = /^\+{1,2}[\dgG%]*[!|#]\s*(\S[\s\S]*)$/.exec(word.text)?.[1];
    return text === undefined ? [] : [{ ...word, text }];
  });

/** Everything from the first operand is a program with its words. */
const rest =
  (skip: (args: readonly ShellWord[]) => number): Carrier =>
  ({ args }) => {
    const words = args.slice(skip(args));
    const [first] = words;
    return first === undefined ? [] : [{ ...first, text: words.map(quoteWord).join(" "), glob: false }];
  };

const LOADER_TAKING = new Set(
  "--library-path --preload --audit --argv0 --inhibit-rpath --glibc-hwcaps-mask".split(" "),
);
const loader = rest((args) => {
  let at = 0;
  while (args[at]?.text.startsWith("--") === true) at += LOADER_TAKING.has(args[at]?.text ?? "") ? 2 : 1;
  return at;
});

const sg: Carrier = ({ args }) => {
  const at = args.findIndex(({ text }) => text === "-c");
  const text = at < 0 ? args.filter(({ text: word }) => word !== "-")[1] : args[at + 1];
  return text === undefined ? [] : [text];
};

const RUNS_TEXT =
  /^(?:(?:ansible\.)?builtin\.|ansible\.legacy\.)?(?:shell|command|raw|win_shell|win_command|expect)$/;
const ansible: Carrier = (command) => {
  const { values } = parseOptions(command.args, {
    taking:
      "a args m module-name i inventory e extra-vars u user l limit f forks t tree B P M T c private-key".split(
        " ",
      ),
    long: ["args", "module-name"],
  });
  const given = [...(values.get("a") ?? []), ...(values.get("args") ?? [])];
  const module = [...(values.get("m") ?? []), ...(values.get("module-name") ?? [])].at(-1);
  const name = (module?.text ?? "command").replace(/^ansible\.(?:builtin|legacy|windows)\./, "");
  if (RUNS_TEXT.test(name)) return given.map((word) => ({ ...word, text: withoutSettings(word.text) }));
  const text = given.map((word) => word.text).join(" ");
  const destroys =
    /^(?:reboot|win_reboot|script)$/.test(name) ||
    /\bstate=(?:absent|stopped|restarted|removed|killed)\b/.test(text) ||
    (/^(?:copy|template|lineinfile|file|blockinfile)$/.test(name) &&
      /\b(?:dest|path)=\/(?:etc|usr|boot|root)\b/.test(text));
  return {
    shell: [],
    opaque: false,
    finding: destroys
      ? danger("remote.change", "changes or stops something on many machines", module)
      : undefined,
  };
};

/** `chdir=/srv cmd="ls -l"`: settings of the module in front of the command. */
function withoutSettings(text: string): string {
  const bare = text.replace(/^(?:(?!cmd=)\w+=\S+\s+)*/, "");
  return /^cmd=(["'])([\s\S]*)\1$/.exec(bare)?.[2] ?? bare.replace(/^cmd=/, "");
}

const SALT_RUNS = /^cmd\.(?:run|run_all|run_stdout|shell|script|exec_code|retcode|powershell|run_bg)$/;
const SALT_CHANGES =
  /^(?:system\.(?:reboot|shutdown|halt|poweroff|init)|file\.(?:remove|write|append|replace|manage_file)|service\.(?:stop|restart|disable|mask)|pkg\.(?:remove|purge)|user\.(?:add|delete)|ps\.(?:p?kill\w*)|mount\.umount|disk\.wipe|disk\.format|\w+\.db_remove|key\.\w*delete\w*)$/;
const salt: Carrier = ({ args }) => {
  const at = args.findIndex(({ text }) => SALT_RUNS.test(text));
  const changes = args.find(({ text }) => SALT_CHANGES.test(text));
  if (changes !== undefined)
    return {
      shell: [],
      opaque: false,
      finding: danger("remote.change", "changes or stops something on many machines", changes),
    };
  const text = at < 0 ? undefined : args.slice(at + 1).find((word) => !/^(?:-|\w+=)/.test(word.text));
  return text === undefined ? [] : [text];
};

/** `bind -x '"\C-l": cmd'`: the part behind the key. */
const bind: Carrier = ({ args }) =>
  args.flatMap((word, index) => {
    if (!/^-[a-z]*x$/.test(args[index - 1]?.text ?? "")) return [];
    return [{ ...word, text: word.text.replace(/^\s*(?:"(?:[^"\\]|\\.)*"|[\w\\-]+)\s*:?\s*/, "") }];
  });

/** A common name that from now on means something else; each is judged as if it were typed with a file behind it. */
const renames =
  (
    read: (args: readonly ShellWord[]) => readonly { readonly name: string; readonly word: ShellWord }[],
  ): Carrier =>
  ({ args }) =>
    read(args)
      .filter(
        ({ name, word }) => commonNames.has(name) && !/[;|&\n]/.test(word.text) && word.text.length < 400,
      )
      .map(({ word }) => ({ ...word, text: `${word.text.trim()} ./x` }));

const alias = renames((args) =>
  args.flatMap((word) => {
    const cut = word.text.indexOf("=");
    return cut <= 0
      ? []
      : [{ name: word.text.slice(0, cut), word: { ...word, text: word.text.slice(cut + 1) } }];
  }),
);
const abbreviation = renames((args) => {
  const start = args.findIndex(({ text }) => !text.startsWith("-"));
  const [name, ...words] = start < 0 ? [] : args.slice(start);
  const [first] = words;
  if (name === undefined || first === undefined) return [];
  return [{ name: name.text, word: { ...first, text: words.map(({ text }) => text).join(" ") } }];
});

/** Lines of a session that begin with `!` go to a shell on this side. */
const session: Carrier = (command) => {
  const { input } = command;
  if (input.kind !== "text" || !input.text.text.includes("!")) return [];
  return input.text.text
    .split("\n")
    .slice(0, 200)
    .flatMap((line) => {
      const text = /^\s*(?:\\?!|shell\s|\.shell\s|\.system\s)\s*(\S.*)$/.exec(line)?.[1];
      return text === undefined ? [] : [{ ...input.text, text }];
    });
};

const both =
  (...carriers: readonly Carrier[]): Carrier =>
  (command) =>
    carriers.flatMap((carrier) => {
      const found = carrier(command);
      return "shell" in found ? [] : found;
    });

const SSH_TAKING = "c F i J l o P X B b R s";
const copier = options("S D", SSH_TAKING);
const compiler = dashed(/^-wrapper$/, (text) => text.split(",").map(quoteText).join(" "));
const rsync = options(
  "e rsh rsync-path",
  "f T B M exclude include filter files-from exclude-from include-from log-file backup-dir chmod bwlimit port",
);

const CARRIERS: Readonly<Record<string, Carrier>> = {
  rsync,
  tar,
  gtar: tar,
  bsdtar: tar,
  cpio: options("rsh-command", "F H D"),
  scp: copier,
  sftp: both(copier, session),
  ftp: session,
  lftp: both(options("e c", "u p"), session),
  telnet: session,
  smbclient: session,
  man: options("P pager", "C M S L m e"),
  less: viewer,
  more: viewer,
  most: viewer,
  sort: options("compress-program", "k t S T o"),
  gsort: options("compress-program", "k t S T o"),
  split: options("filter", "b l n a C t"),
  gsplit: options("filter", "b l n a C t"),
  zip: both(options("unzip-command", ""), dashed(/^-TT$/)),
  tcpdump: options("z", "i w r c G W C s F"),
  wget: options("use-askpass", "O P o a U e i T t w Q header"),
  openvpn: dashed(
    /^--(?:up|down|route-up|ipchange|client-connect|tls-verify|auth-user-pass-verify|iproute)$/,
  ),
  gcc: compiler,
  "g++": compiler,
  clang: compiler,
  cc: compiler,
  rpm: both(options("pipe", "eval E root"), ({ args }) =>
    args.flatMap((word) =>
      [...word.text.matchAll(/%\(([^()]*)\)/g)].map((match) => ({ ...word, text: match[1] ?? "" })),
    ),
  ),
  mapfile: options("C", "c d n O s t u"),
  readarray: options("C", "c d n O s t u"),
  complete: options("C", "F A G W P S X o"),
  compgen: options("C", "F A G W P S X o"),
  bind,
  alias,
  abbr: abbreviation,
  sg,
  ansible,
  salt,
  "salt-call": salt,
  "salt-ssh": salt,
  make: makeEffects,
  gmake: makeEffects,
  ed: editorEffects,
  red: editorEffects,
  ex: editorEffects,
  vi: editorEffects,
  vim: editorEffects,
  nvim: editorEffects,
  view: editorEffects,
  gvim: editorEffects,
  vimdiff: editorEffects,
};

const LOADER = /^ld(?:-linux|-musl|64|-uClibc)?[\w.-]*\.so(?:\.\d+)*$/;

export function carriesCommands(program: string): boolean {
  return Object.hasOwn(CARRIERS, program) || LOADER.test(program);
}

/** What the command lines held in a command would run; undefined for programs that hold none. */
export function carriedEffects(command: SimpleCommand): CodeEffects | undefined {
  const carrier = Object.hasOwn(CARRIERS, command.program)
    ? CARRIERS[command.program]
    : LOADER.test(command.program)
      ? loader
      : undefined;
  const found = carrier?.(command);
  if (found === undefined) return undefined;
  if ("shell" in found) return bounded(found);
  const texts = found.filter(({ text }) => text.trim() !== "" && !isWhollyUnknown(text));
  return bounded({
    shell: texts.map(({ text }) => shellText(text)),
    opaque: false,
    finding: texts.map(startsElsewhere).find((finding) => finding !== undefined),
  });
}

/** More command lines than this in one command are not followed one by one. */
const MOST_COMMANDS = 64;

function bounded(effects: CodeEffects): CodeEffects {
  if (effects.shell.length <= MOST_COMMANDS) return effects;
  const finding = danger("interpreter.opaque-command", "holds more command lines than can be judged");
  return {
    shell: effects.shell.slice(0, MOST_COMMANDS),
    opaque: true,
    finding: effects.finding ?? finding,
  };
}

/** A program that lies where downloads lie: nobody knows what it is. */
function startsElsewhere(word: ShellWord): Finding | undefined {
  const program = /^\s*(\S+)/.exec(word.text)?.[1] ?? "";
  return isDownloadPlace({ ...word, text: program })
    ? danger("run.hidden", "runs a program named in an option", word)
    : undefined;
}
