import { dirname } from "node:path/posix";
import { isBelow } from "../../base/path.js";
import { handedOver, printsSecrets } from "../rules/credential-sends.js";
import { isSender, producersOf } from "../rules/flows.js";
import { isDownloadPlace } from "../rules/places.js";
import { type ShellWord, type SimpleCommand, type Span, UNKNOWN } from "../types.js";
import { type Context, type Invocation, report } from "./context.js";
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
  const made = state.files.size === 0 ? undefined : state.files.get(keyOf(path));
  return made ?? fileOnDisk(state, path);
}

/** What was written before this line, by the same session. */
function fileOnDisk({ disk }: ShellState, path: string): MadeFile | undefined {
  if (disk === undefined || path === "" || path.startsWith("/dev/") || /[\n\uFFFC*?]/.test(path))
    return undefined;
  const moved = disk.folder === undefined || /^[/~]/.test(path) ? undefined : `${disk.folder}/${path}`;
  const text = (moved === undefined ? undefined : disk.textOf(moved)) ?? disk.textOf(path);
  return text === undefined ? undefined : { ...NOTHING, content: { kind: "text", text, from: [] } };
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
    case "gcc":
    case "g++":
    case "cc":
    case "c++":
    case "clang":
    case "clang++":
    case "rustc":
    case "go":
    case "ghc":
    case "nim":
    case "zig":
      noteCompiled(command, state);
      return;
    case "mkfifo":
      // Whatever somebody writes into it.
      for (const { text } of parseOptions(args, { taking: ["m", "mode"] }).operands)
        writeFile(state, text, {
          content: { kind: "text", text: `${UNKNOWN}\n`, from: [] },
          append: false,
          certain,
        });
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
    case "tar":
    case "zip":
    case "7z":
      notePacked(command, state);
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

const SOURCE =
  /^(?:\.{1,2}\/)*[\w][\w./+-]*\.(?:c|cc|cpp|cxx|m|rs|go|hs|nim|zig|s)$|^\.{1,2}(?:\/[\w./-]*)?$/i;

/** A program made from sources of the project is as good as they are, wherever it is put. */
function noteCompiled({ program, args }: SimpleCommand, state: ShellState): void {
  const before = (index: number): string => args[index - 1]?.text ?? "";
  const output = args.find((_, index) => before(index) === "-o");
  const others = args.filter((word) => word !== output);
  const sources = args.filter(
    ({ text }, index) =>
      !text.startsWith("-") && !/^-(?:o|I|L|D|isystem|ldflags|tags|C)$/.test(before(index)),
  );
  const isOwn = ({ text, known }: ShellWord): boolean =>
    known && SOURCE.test(text) && !state.files.has(keyOf(text));
  const own = /^(?:go|zig)$/.test(program) ? sources.slice(1) : sources;
  if (output?.known !== true || own.length === 0 || !own.every(isOwn)) return;
  if (others.some((word) => !word.known || isForeignInput(word))) return;
  state.files.set(keyOf(output.text), { ...NOTHING, compiled: true });
}

/** Options that bring other text or code into what is compiled. */
function isForeignInput({ text }: ShellWord): boolean {
  return (
    /^-(?:x|include|imacros|specs|fplugin|wrapper|B|toolexec|overlay)/.test(text) || /\/tmp\/|^@/.test(text)
  );
}

const PROGRAM_FOLDER = /^(?:\/usr(?:\/local)?|\/opt\/[\w.-]+|\/snap)?\/s?bin\/[^/]+$/;

/** Another name for what a file holds: a text of this line, what stands on the input, or a program. */
function noteCopy(command: SimpleCommand, { state, input }: Context): void {
  const { args } = command;
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
        : printsSecrets(command)
          ? { filledBy: command }
          : undefined));
  if (change === undefined) return;
  note(state, target, change);
  note(state, `${target.replace(/\/+$/, "")}/${last}`, change);
}

/** `tar czf a.tgz x`, `zip -r a.zip x`, `7z a a.7z x`. */
function notePacked(command: SimpleCommand, state: ShellState): void {
  const { program, args } = command;
  const isMade = program === "zip" || /^-?[a-zA-Z]*[acru]/.test(args[0]?.text ?? "");
  const archive =
    program === "tar"
      ? args.find((_, index) => /^(?:-?[a-zA-Z]*f|--file)$/.test(args[index - 1]?.text ?? "") && index < 4)
      : args.slice(program === "zip" ? 0 : 1).find(({ text }) => !text.startsWith("-"));
  if (isMade && archive !== undefined && archive.text !== "-" && printsSecrets(command))
    note(state, archive.text, { filledBy: command });
}

/** `env > a.txt; curl -T a.txt https://…`: what the same line put into the file is what it sends. */
export function judgeSentFiles(command: SimpleCommand, { context, span }: Invocation): void {
  const { state } = context;
  if (state.files.size === 0 || !isSender(command)) return;
  const isSecret = handedOver(command).some(({ text }) => {
    const made = state.files.get(keyOf(text));
    const { content, filledBy } = made ?? {};
    const from = content?.kind === "text" ? content.from : [];
    const all = [...from, ...from.flatMap(producersOf), ...(filledBy === undefined ? [] : [filledBy])];
    return all.some(printsSecrets);
  });
  if (isSecret) report(context, "credentials.sent", { span, command });
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

/** Code that lies among fetched and throw-away files, and is neither the project's own nor the agent's check of its work. */
export function isLooseCode(path: ShellWord, { run: { workspace } }: Context): boolean {
  if (!isDownloadPlace(path) || /\/hermes-verify-[^/]*$/.test(path.text)) return false;
  return workspace === undefined || !isBelow(path.text, workspace) || !isFolderOfItsOwn(workspace);
}

/** `/tmp/project`, not `/tmp`: a session that was opened there has everybody's files around it. */
function isFolderOfItsOwn(workspace: string): boolean {
  return isDownloadPlace({ text: dirname(workspace), known: true, glob: false });
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
  else if (content?.kind === "text") {
    // A script that starts itself again says nothing new.
    const key = `file ${content.text}`;
    if (context.run.openScripts.has(key)) return;
    context.run.openScripts.add(key);
    run.onText(content.text, content.from);
    context.run.openScripts.delete(key);
  } else if (content !== undefined || /^\/(?:dev|proc\/self)\/fd\//.test(path.text)) {
    report(context, "opaque.shell-input", place);
  } else if (run.direct && made?.executable === true) report(context, "opaque.made-executable", place);
  else if (made?.compiled !== true && isLooseCode(path, context)) {
    report(context, "opaque.untrusted-script", place);
  }
}
