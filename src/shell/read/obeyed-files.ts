import { codeScript } from "../rules/interpreters.js";
import type { ShellWord, SimpleCommand } from "../types.js";
import { madeFile } from "./made-files.js";
import type { ShellState } from "./state.js";

/**
 * Programs that do what a file says. When the same line wrote that file, the command is judged once more as if
 * the text had been given to it directly.
 */
export function withObeyedFile(command: SimpleCommand, state: ShellState): SimpleCommand | undefined {
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
