import { codeScript } from "../rules/interpreters.js";
import { isDownloadPlace } from "../rules/places.js";
import { type ShellWord, type SimpleCommand, type Span, UNKNOWN } from "../types.js";
import { type Context, report } from "./context.js";
import { parseOptions } from "./options.js";
import type { MadeFile, ShellState } from "./state.js";
import { MOST_PRODUCERS, type Stream } from "./streams.js";

/** Files that the same command line writes and runs. */

const NOTHING: MadeFile = { foreign: false, executable: false };
/** What these print or write has not been seen by anybody. */
const FOREIGN = new Set(
  "curl wget wget2 fetch aria2c axel http https xh lwp-request lwp-download nc ncat socat base64 base32 xxd openssl gpg uudecode ftp sftp scp".split(
    " ",
  ),
);

function keyOf(path: string): string {
  return path.replace(/^(?:\.\/+)+/, "");
}

export function madeFile(state: ShellState, path: string): MadeFile | undefined {
  return state.files.size === 0 ? undefined : state.files.get(keyOf(path));
}

function note(state: ShellState, path: string, change: Partial<MadeFile>): void {
  if (path === "" || path === "/dev/null") return;
  const key = keyOf(path);
  state.files.set(key, { ...(state.files.get(key) ?? NOTHING), ...change });
}

export function writeFile(
  state: ShellState,
  path: string,
  {
    content,
    append,
    certain,
  }: { readonly content: Stream; readonly append: boolean; readonly certain: boolean },
): void {
  // Where it is written only perhaps, what it held may still be what it holds: both stand in it.
  const before = append || !certain ? madeFile(state, path)?.content : undefined;
  const producers = content.kind === "text" ? content.from : [];
  const foreign = producers.some((command) => FOREIGN.has(command.program)) && hasUnknown(content);
  const whole: Stream =
    before?.kind === "text" && content.kind === "text"
      ? {
          kind: "text",
          text: before.text + content.text,
          from: [...before.from, ...content.from].slice(-MOST_PRODUCERS),
        }
      : content;
  note(state, path, {
    content: whole,
    foreign: foreign || ((append || !certain) && madeFile(state, path)?.foreign === true),
  });
}

function hasUnknown(stream: Stream): boolean {
  return stream.kind !== "text" || stream.text.includes(UNKNOWN);
}

/** What a command leaves behind that a later one may run. */
export function noteMadeFiles(command: SimpleCommand, context: Context): void {
  const { state, certain } = context;
  const { program, args } = command;
  switch (program) {
    case "curl":
    case "wget":
    case "wget2":
    case "aria2c":
    case "fetch":
    case "axel":
    case "xh":
    case "http":
      noteDownload(command, state);
      return;
    case "tee":
    case "sponge": {
      const append = args.some((arg) => /^(?:-\w*a\w*|--append)$/.test(arg.text));
      for (const { text } of parseOptions(args).operands)
        writeFile(state, text, { content: context.input, append, certain });
      return;
    }
    case "dd": {
      const named = (name: string): string | undefined =>
        args.find((arg) => arg.text.startsWith(name))?.text.slice(name.length);
      const [from, to] = [named("if="), named("of=")];
      const content = from === undefined ? context.input : madeFile(state, from)?.content;
      if (to !== undefined && content !== undefined)
        writeFile(state, to, { content, append: false, certain });
      return;
    }
    case "cp":
    case "mv":
    case "install":
    case "ln":
      noteCopy(command, context);
      return;
    case "chmod": {
      const { operands } = parseOptions(args.filter((arg) => !/^-[rwx]+$/.test(arg.text)));
      const [mode, ...files] = operands;
      if (mode === undefined || !/^(?:[ugoa]*[+=]\w*x|[0-7]*[1357][0-7]*$)/.test(mode.text)) return;
      for (const { text } of files) note(state, text, { executable: true });
      return;
    }
    case "scp":
    case "sftp":
    case "rsync": {
      const { operands } = parseOptions(args);
      const [from, to] = [operands.at(-2), operands.at(-1)];
      if (from !== undefined && to !== undefined && /^[^/]+:/.test(from.text))
        note(state, to.text, { foreign: true });
      return;
    }
  }
}

const PROGRAM_FOLDER = /^(?:\/usr(?:\/local)?|\/opt\/[\w.-]+|\/snap)?\/s?bin\/[^/]+$/;

/** Another name for what a file holds: a text of this line, what stands on the input, or a program. */
function noteCopy({ args }: SimpleCommand, { state, input }: Context): void {
  const { operands, values } = parseOptions(args, { taking: ["m", "o", "g", "t", "S", "target-directory"] });
  const folder = (values.get("t") ?? values.get("target-directory"))?.[0]?.text;
  const [from, to] = operands;
  const target = folder ?? to?.text;
  if (from === undefined || target === undefined) return;
  const last = from.text.split("/").at(-1) ?? "";
  const change: Partial<MadeFile> | undefined = /^(?:-|\/dev\/stdin|\/dev\/fd\/0|\/proc\/self\/fd\/0)$/.test(
    from.text,
  )
    ? { content: input }
    : (madeFile(state, from.text) ??
      (PROGRAM_FOLDER.test(from.text) || from.outputs?.some(namesPrograms) === true
        ? { program: last }
        : undefined));
  if (change === undefined) return;
  note(state, target, change);
  note(state, `${target.replace(/\/+$/, "")}/${last}`, change);
}

function namesPrograms({ program }: SimpleCommand): boolean {
  return program === "which" || program === "command" || program === "type" || program === "readlink";
}

function noteDownload(command: SimpleCommand, state: ShellState): void {
  const taking = ["o", "O", "output", "output-document", "d", "dir", "P", "H", "X", "u", "A", "e"];
  const curl = command.program === "curl";
  const spec = { taking: curl ? taking.filter((name) => name !== "O" && name !== "P") : taking };
  const { values, operands } = parseOptions(command.args, spec);
  const named = ["o", "O", "output", "output-document"].flatMap((name) => values.get(name) ?? []);
  for (const { text } of named) note(state, text, { foreign: true });
  if (named.length > 0) return;
  for (const { text } of operands) {
    const last = text
      .replace(/[?#].*$/s, "")
      .split("/")
      .at(-1);
    if (last !== undefined && last !== "" && last !== UNKNOWN) note(state, last, { foreign: true });
  }
}

/** A shell script, or a program given by its path, is about to run: what is known about the file? */
export function judgeFileRun(run: {
  readonly path: ShellWord;
  readonly context: Context;
  readonly span: Span;
  readonly command: SimpleCommand;
  /** True for `./x`, false for `sh x`. */
  readonly direct: boolean;
  /** Walks the text when it is known. */
  onText(text: string, from: readonly SimpleCommand[]): void;
}): void {
  const { path, context, span, command } = run;
  const made = madeFile(context.state, path.text);
  const place = { span: path.span ?? span, command };
  const { content } = made ?? {};
  if (made?.foreign === true) report(context, "opaque.downloaded-script", place);
  else if (content?.kind === "text") run.onText(content.text, content.from);
  else if (content !== undefined || /^\/(?:dev|proc\/self)\/fd\//.test(path.text)) {
    report(context, "opaque.shell-input", place);
  } else if (run.direct && made?.executable === true) report(context, "opaque.made-executable", place);
  else if (isDownloadPlace(path) && !/\/hermes-verify-[^/]*$/.test(path.text)) {
    report(context, "opaque.untrusted-script", place);
  }
}

/**
 * Programs that do what a file says. When the same line wrote that file, the command is judged once more as if
 * the text had been given to it directly.
 */
export function withScriptFile(command: SimpleCommand, state: ShellState): SimpleCommand | undefined {
  if (state.files.size === 0) return undefined;
  const obey = Object.hasOwn(OBEYING, command.program) ? OBEYING[command.program] : undefined;
  if (obey !== undefined) return obey(command, (path) => textOf(state, path));
  const script = codeScript(command);
  const stands = SPEAKS_NODE.has(command.program) ? { ...command, program: "node" } : command;
  const paths = stands === command ? [script?.text ?? ""] : command.args.slice(0, 8).map(({ text }) => text);
  const text = paths.map((path) => textOf(state, path)).find((one) => one !== undefined);
  return text === undefined ? undefined : asInput({ ...stands, args: [] }, text);
}

/** These take no program on standard input, but speak the language of one that does. */
const SPEAKS_NODE = new Set(["bun", "deno", "tsx", "ts-node"]);

type FileText = (path: string) => string | undefined;
type Obey = (command: SimpleCommand, fileText: FileText) => SimpleCommand | undefined;

function textOf(state: ShellState, path: string): string | undefined {
  const content = madeFile(state, path)?.content;
  return content?.kind === "text" ? content.text : undefined;
}

const wordOf = (text: string): ShellWord => ({ text, known: true, glob: false });

function asInput(command: SimpleCommand, text: string): SimpleCommand {
  return { ...command, input: { kind: "text", text: wordOf(text) } };
}

/** Words of the command that may name a file: whole, or behind the name of an option. */
function namedIn({ args }: SimpleCommand): readonly string[] {
  return args.flatMap(({ text }) => [
    text,
    text.replace(/^--?[\w-]+=/, ""),
    text.replace(/^-\w/, ""),
    // `.read FILE`, `source FILE`, `\i FILE`.
    ...(text.match(/(?<=(?:^|[\s;])(?:\.read|source|\\\.|\\ir?)\s+)[^\s;'"]+/g) ?? []),
  ]);
}

const obeyAny: Obey = (command, fileText) => {
  const texts = namedIn(command).map(fileText);
  const known = texts.filter((text) => text !== undefined);
  return known.length === 0 ? undefined : asInput(command, known.join("\n"));
};

const MAKEFILES = ["GNUmakefile", "makefile", "Makefile"];

const obeyMakefile: Obey = (command, fileText) => {
  const folder = command.args[command.args.findIndex(({ text }) => text === "-C") + 1];
  const inFolder = folder === undefined ? [] : MAKEFILES.map((name) => `${folder.text}/${name}`);
  const text = [...namedIn(command), ...inFolder, ...MAKEFILES]
    .map(fileText)
    .find((one) => one !== undefined);
  if (text === undefined) return undefined;
  return asInput({ ...command, args: [wordOf("-f"), wordOf("-"), ...command.args] }, text);
};

/** `awk -f FILE`, `sed -f FILE`: the text takes the place of the program given in words. */
const obeyProgram =
  (option: readonly string[]): Obey =>
  (command, fileText) => {
    const at = command.args.findIndex(({ text }) => text === "-f" || text === "--file");
    const text = fileText(command.args[at + 1]?.text ?? "");
    if (at < 0 || text === undefined) return undefined;
    const rest = [...command.args.slice(0, at), ...command.args.slice(at + 2)];
    return { ...command, args: [...option.map(wordOf), wordOf(text), ...rest] };
  };

const CLIENTS =
  "psql pgcli usql mysql mariadb mycli sqlite3 sqlite duckdb litecli clickhouse-client sqlcmd cqlsh snowsql hive beeline sqlplus mongosh mongo redis-cli vim vi nvim ex ed view gdb lldb bc ftp sftp lftp expect tclsh";

const OBEYING: Readonly<Record<string, Obey>> = {
  ...Object.fromEntries(CLIENTS.split(" ").map((program) => [program, obeyAny])),
  make: obeyMakefile,
  gmake: obeyMakefile,
  awk: obeyProgram([]),
  gawk: obeyProgram([]),
  mawk: obeyProgram([]),
  sed: obeyProgram(["-e"]),
  gsed: obeyProgram(["-e"]),
};
