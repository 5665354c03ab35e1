import { parseOptions } from "../read/options.js";
import type { ShellWord, SimpleCommand } from "../types.js";
import { fileEdits } from "./edits.js";
import { isHomeLike } from "./places.js";
import { UNPACKERS, unpacked } from "./unpacked-files.js";

/** A file a command writes, and how. */
export interface Write {
  readonly word: ShellWord;
  /**
   * `inside` is a name that arises in a folder (`cp .bashrc ~/`), `many` are files that nobody named, below a folder;
   * `touch` leaves the content alone.
   */
  readonly how: "replace" | "append" | "edit" | "inside" | "touch" | "many";
  /** What the content comes from, when it is a file. */
  readonly from?: ShellWord | undefined;
}

const WRITES = new WeakMap<SimpleCommand, readonly Write[]>();

/** Every file a command writes: redirections first, then what its own arguments name. */
export function writesOf(command: SimpleCommand): readonly Write[] {
  const known = WRITES.get(command);
  if (known !== undefined) return known;
  const writes: Write[] = [];
  for (const { kind, target } of command.redirects) {
    if (kind !== "read") writes.push({ word: target, how: kind === "write" ? "replace" : "append" });
  }
  const own = Object.hasOwn(WRITERS, command.program) ? WRITERS[command.program] : undefined;
  writes.push(...(own?.(command.args) ?? [...fileEdits(command), ...namedOutputs(command)]));
  WRITES.set(command, writes);
  return writes;
}

/** The rest of a word that names an output: `--output=FILE`, `--out-dir FILE`, `-o FILE`, `-oFILE`. */
const OUTPUT = /^(?:--out(?:put|file)?(?:[-_]?(?:file|dir|path|directory|document))?(?:=|$)|-o(?=[~/.]|$))/;
/** `-o` means something else there. */
const OTHER_O =
  /^(?:[efz]?grep|rg|ag|ack|ls|ps|lsof|pgrep|pkill|find|test|\[|\[\[|set|ssh|sshfs|mount|useradd)$/;

/** Whatever the program is called: what an option for output names, when it is a place and not a format. */
function namedOutputs({ program, args }: Pick<SimpleCommand, "program" | "args">): readonly Write[] {
  return args.flatMap((word, index): Write[] => {
    const option = OUTPUT.exec(word.text)?.[0];
    if (option === undefined || (option === "-o" && OTHER_O.test(program))) return [];
    const value =
      word.text.length > option.length ? { ...word, text: word.text.slice(option.length) } : args[index + 1];
    return value !== undefined && /^[~/.\uFFFC]./.test(value.text) ? [replace(value)] : [];
  });
}

export type Writer = (args: readonly ShellWord[]) => readonly Write[];

const replace = (word: ShellWord): Write => ({ word, how: "replace" });
/** The value behind `name=`, for programs in the manner of `dd`. */
export function assigned(args: readonly ShellWord[], name: string): ShellWord | undefined {
  const word = args.find(({ text }) => text.toLowerCase().startsWith(`${name}=`));
  return word === undefined ? undefined : { ...word, text: word.text.slice(name.length + 1) };
}

function copies(taking: readonly string[]): Writer {
  return (args) => {
    const parsed = parseOptions(args, {
      taking,
      long: ["target-directory", "no-target-directory", "dry-run"],
    });
    if (parsed.flags.has("dry-run")) return [];
    const folder = parsed.values.get("t")?.at(-1) ?? parsed.values.get("target-directory")?.at(-1);
    const sources = folder === undefined ? parsed.operands.slice(0, -1) : parsed.operands;
    const target = withoutHost(folder ?? (parsed.operands.length > 1 ? parsed.operands.at(-1) : undefined));
    if (target === undefined) return [];
    const direct: Write = { word: target, how: "replace", from: sources[0] };
    // What lies in a folder, hidden files too, and not the folder itself.
    const isContent =
      sources.some(({ text }) => /(?:^|\/)\.?(?:\*|\.\*)$|\/\.?$/.test(text)) || parsed.flags.has("T");
    if (isContent && isHomeLike(target)) return [direct, unpacked(target), ...inside(target, sources, true)];
    return [direct, ...inside(target, sources, folder !== undefined)];
  };
}

/** The hidden names that copied files get when the target is plainly a folder; others are nobody's concern. */
function inside(folder: ShellWord, sources: readonly ShellWord[], sure: boolean): Write[] {
  if (!sure && !/(?:^|\/)\.{0,2}$/.test(folder.text) && !isHomeLike(folder)) return [];
  const writes: Write[] = [];
  for (const source of sources) {
    const name = /(?:^|\/)(\.[^/]*|hermes[^/]*)\/*$/i.exec(source.text)?.[1];
    if (name !== undefined)
      writes.push({ word: { ...folder, text: `${folder.text}/${name}` }, how: "inside", from: source });
  }
  return writes;
}

/** `host:/path` names a path of another machine, which is judged like one of this. */
function withoutHost(word: ShellWord | undefined): ShellWord | undefined {
  const cut = word === undefined ? null : /^[\w.@\uFFFC-]+::?(?=[/~.\w])/.exec(word.text);
  return word === undefined || cut === null ? word : { ...word, text: word.text.slice(cut[0].length) };
}

const installs: Writer = (args) => {
  const { flags, operands } = parseOptions(args, { taking: INSTALL_TAKING, long: ["directory"] });
  return flags.has("d") || flags.has("directory") ? operands.map(replace) : copies(INSTALL_TAKING)(args);
};
const INSTALL_TAKING = "m o g t S mode owner group target-directory suffix strip-program".split(" ");

/** Options whose value is a file to be written. */
function optionFiles(written: string, otherTaking = ""): Writer {
  const options = written.split(" ");
  const taking = [...options, ...otherTaking.split(" ")];
  return (args) => {
    const { values } = parseOptions(args, { taking });
    return options.flatMap((name) => (values.get(name) ?? []).map(replace));
  };
}

/** Programs whose long options have one dash (`openssl … -out key.pem`). */
function singleDashFiles(...options: string[]): Writer {
  return (args) =>
    args.flatMap((word, index) => (options.includes(args[index - 1]?.text ?? "") ? [replace(word)] : []));
}

const curl: Writer = (args) => {
  const { flags, values, operands } = parseOptions(args, { taking: CURL_TAKING });
  const folder = values.get("output-dir")?.at(-1);
  const named = [...(values.get("o") ?? []), ...(values.get("output") ?? [])];
  const others = [
    "c",
    "cookie-jar",
    "D",
    "dump-header",
    "trace",
    "trace-ascii",
    "stderr",
    "etag-save",
    "hsts",
    "alt-svc",
  ];
  const writes = others.flatMap((name) => (values.get(name) ?? []).map(replace));
  // `-w '%output{>>FILE}text'` prints into a file.
  for (const word of [...(values.get("w") ?? []), ...(values.get("write-out") ?? [])])
    for (const [, path = ""] of word.text.matchAll(/%output\{(?:>>)?([^}]*)\}/g))
      writes.push(replace({ ...word, text: path }));
  for (const word of named)
    writes.push(folder === undefined ? replace(word) : { ...replace(folder), word: joined(folder, word) });
  if (flags.has("O") || flags.has("remote-name") || flags.has("remote-name-all")) {
    const base = folder ?? operands[0];
    if (base !== undefined)
      writes.push(...operands.map((url) => replace(joined(folder ?? { ...base, text: "." }, lastPart(url)))));
  }
  return writes;
};
const CURL_TAKING = (
  "o output output-dir d data data-raw data-binary data-urlencode json H header X request u user A user-agent b " +
  "cookie c cookie-jar D dump-header e referer F form T upload-file K config w write-out m max-time x proxy C " +
  "continue-at r range E cert key cacert capath y Y z t Q P connect-timeout retry retry-delay max-redirs resolve " +
  "limit-rate interface url trace trace-ascii stderr proxy-header connect-to unix-socket etag-save hsts alt-svc"
).split(" ");

function joined(folder: ShellWord, name: ShellWord): ShellWord {
  return { ...name, text: `${folder.text}/${name.text}`, known: folder.known && name.known };
}

function lastPart(url: ShellWord): ShellWord {
  return {
    ...url,
    text:
      url.text
        .replace(/[?#].*$/, "")
        .split("/")
        .at(-1) ?? "",
    glob: false,
  };
}

const wget: Writer = (args) => {
  const { values, operands } = parseOptions(args, {
    taking:
      "O output-document P directory-prefix o output-file a append-output U header e execute i T t w Q".split(
        " ",
      ),
    long: ["output-document", "directory-prefix", "output-file"],
  });
  const files = ["O", "output-document", "o", "output-file", "a", "append-output"].flatMap(
    (name) => values.get(name) ?? [],
  );
  const folders = ["P", "directory-prefix"].flatMap((name) => values.get(name) ?? []);
  const inFolders = folders.flatMap((folder) =>
    operands.map((url) => replace(joined(folder, lastPart(url)))),
  );
  return [...files.filter(({ text }) => text !== "-").map(replace), ...folders.map(replace), ...inFolders];
};

function lastOperand(taking: string): Writer {
  return (args) =>
    parseOptions(args, { taking: taking.split(" ") })
      .operands.slice(-1)
      .map(replace);
}

const allOperands =
  (how: Write["how"], taking = ""): Writer =>
  (args) =>
    parseOptions(args, { taking: taking.split(" ") }).operands.map((word) => ({ word, how }));

const secondOperand: Writer = (args) => {
  const [from, target] = parseOptions(args).operands;
  return target === undefined ? [] : [{ word: target, how: "replace", from }];
};

const tee: Writer = (args) => {
  const { flags, operands } = parseOptions(args);
  const how = flags.has("a") || flags.has("append") ? "append" : "replace";
  return operands.map((word) => ({ word, how }));
};

const outOf: Writer = (args) => {
  const target = assigned(args, "of");
  return target === undefined ? [] : [{ word: target, how: "replace", from: assigned(args, "if") }];
};

const links: Writer = (args) => {
  const { operands } = parseOptions(args, { taking: ["t", "S", "target-directory", "suffix"] });
  return operands.length === 1 ? [] : copies(["t", "S", "target-directory", "suffix"])(args);
};

const COPY = ["t", "S", "target-directory", "suffix"];
const RSYNC = (
  "e f T B M rsh exclude include filter files-from exclude-from include-from rsync-path log-file backup-dir suffix " +
  "chmod chown bwlimit port password-file partial-dir temp-dir compare-dest link-dest copy-dest max-size min-size " +
  "timeout block-size info out-format"
).split(" ");
const rsync: Writer = (args) => {
  const { flags } = parseOptions(args, { taking: RSYNC });
  return flags.has("n") || flags.has("dry-run") ? [] : copies(RSYNC)(args);
};
/** `git config -f FILE key value` writes any file in the manner of an ini file. */
function settingsFile(args: readonly ShellWord[]): readonly Write[] {
  if (args.some(({ text }) => /^--(?:get\w*|list)$|^-l$|^(?:get|list)$/.test(text))) return [];
  return args.flatMap((word, index) => {
    if (/^(?:-f|--file)$/.test(args[index - 1]?.text ?? ""))
      return args.length > index + 2 ? [replace(word)] : [];
    return word.text.startsWith("--file=") ? [replace({ ...word, text: word.text.slice(7) })] : [];
  });
}

/** `git clone URL FOLDER` and the other verbs that make a file or folder where they are told. */
const git: Writer = (args) => {
  const { operands } = parseOptions(args, { taking: "C c b o u branch origin depth reference".split(" ") });
  const [verb, ...rest] = operands.map(({ text }) => text);
  const target = operands.at(-1);
  const makes =
    (verb === "clone" && rest.length > 1) ||
    (verb === "init" && rest.length > 0) ||
    (verb === "worktree" && rest[0] === "add" && rest.length > 1) ||
    (verb === "bundle" && rest[0] === "create" && rest.length > 1);
  const made = verb === "worktree" || verb === "bundle" ? operands[2] : target;
  const tree = args.find(({ text }) => text.startsWith("--work-tree="));
  const fills =
    tree !== undefined &&
    /^(?:checkout|reset|restore|apply|pull|merge|switch|stash|read-tree|checkout-index|am|cherry-pick|rebase)$/.test(
      verb ?? "",
    );
  return [
    ...(fills ? [unpacked({ ...tree, text: tree.text.slice("--work-tree=".length) })] : []),
    ...(verb === "config" ? settingsFile(args) : []),
    ...(makes && made !== undefined ? [replace(made)] : []),
    ...namedOutputs({ program: "git", args }),
  ];
};
/** `cmake -E copy FROM TO` and its kin. */
const cmake: Writer = (args) =>
  args[0]?.text === "-E" &&
  /^(?:copy|rename|create_|touch|make_)/.test(args[1]?.text ?? "") &&
  args.length > 2
    ? args.slice(-1).map(replace)
    : [];
const compiler = optionFiles("o", "I L l D include");

const WRITERS: Readonly<Record<string, Writer>> = {
  ...UNPACKERS,
  tee,
  sponge: allOperands("replace"),
  cp: copies(COPY),
  gcp: copies(COPY),
  mv: copies(COPY),
  gmv: copies(COPY),
  rsync,
  scp: copies("c F i J l o P S D X".split(" ")),
  install: installs,
  ginstall: installs,
  ln: links,
  link: links,
  dd: outOf,
  dcfldd: outOf,
  dc3dd: outOf,
  curl,
  wget,
  wget2: wget,
  aria2c: optionFiles("o d out dir", "x s j"),
  axel: optionFiles("o output", "n"),
  http: optionFiles("o output", "a A"),
  https: optionFiles("o output", "a A"),
  fetch: optionFiles("o"),
  script: lastOperand("c command o O I B T t m E log-in log-out log-io log-timing"),
  logsave: (args) => parseOptions(args).operands.slice(0, 1).map(replace),
  history: (args) =>
    args.some(({ text }) => /^-[aw]$/.test(text))
      ? args.filter(({ text }) => !text.startsWith("-")).map(replace)
      : [],
  touch: allOperands("touch", "d t r date reference"),
  truncate: allOperands("edit", "s r size reference"),
  sort: optionFiles("o output", "k t S T"),
  shuf: optionFiles("o output", "n i"),
  uniq: secondOperand,
  xxd: secondOperand,
  objcopy: secondOperand,
  ddrescue: secondOperand,
  openssl: singleDashFiles("-out", "-keyout"),
  keytool: singleDashFiles("-keystore", "-file"),
  gpg: optionFiles("o output", "u r"),
  gpg2: optionFiles("o output", "u r"),
  age: optionFiles("o output", "r R i"),
  iconv: optionFiles("o output", "f t"),
  strace: optionFiles("o output", "e p s"),
  tcpdump: optionFiles("w", "i c r"),
  pg_dump: optionFiles("f file", "h p U d n t F"),
  mysqldump: optionFiles("r result-file", "u p h"),
  git,
  cmake,
  gcc: compiler,
  "g++": compiler,
  cc: compiler,
  "c++": compiler,
  clang: compiler,
  "clang++": compiler,
  ld: compiler,
  go: compiler,
  rustc: compiler,
  mkfifo: allOperands("replace", "m mode"),
  mknod: allOperands("replace", "m mode"),
  find: singleDashFiles("-fprint", "-fprint0", "-fprintf", "-fls"),
};
