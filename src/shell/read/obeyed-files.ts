import { codeScript } from "../rules/interpreters.js";
import type { ShellWord, SimpleCommand } from "../types.js";
import type { ShellState } from "./state.js";
import { madeFile } from "./written-files.js";

/**
 * Programs that do what a file says. When the same line or session wrote that file, the command is judged once more as if
 * the text had been given to it directly.
 */
export function withScriptFile(command: SimpleCommand, state: ShellState): SimpleCommand | undefined {
  if (state.files.size === 0 && state.disk === undefined) return undefined;
  const fileText: FileText = (path) => textOf(state, path);
  const obey = Object.hasOwn(OBEYING, command.program) ? OBEYING[command.program] : undefined;
  const obeyed = obey?.(command, fileText);
  if (obeyed !== undefined || (obey !== undefined && command.program !== "bun")) return obeyed;
  const module = command.args[command.args.findIndex(({ text }) => text === "-m") + 1]?.text ?? "";
  if (/^python/.test(command.program) && Object.hasOwn(OBEYING, module))
    return OBEYING[module]?.({ ...command, program: module }, fileText);
  const script = codeScript(command);
  const stands = SPEAKS_NODE.has(command.program) ? { ...command, program: "node" } : command;
  const paths = stands === command ? [script?.text ?? ""] : command.args.slice(0, 8).map(({ text }) => text);
  const text = paths.map(fileText).find((one) => one !== undefined);
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
  const wanted = command.args.map((word) => word.text).filter((word) => !/^-|=/.test(word));
  const args = [wordOf("-f"), wordOf("-"), ...command.args];
  return asInput({ ...command, args }, recipesFor(text, wanted));
};

/** A makefile without the recipes of targets that are not made: `make test` does not run those of `clean`. */
function recipesFor(text: string, wanted: readonly string[]): string {
  const blocks: {
    readonly targets: readonly string[];
    readonly needs: readonly string[];
    lines: string[];
  }[] = [];
  for (const line of text.split("\n")) {
    const [, names = "", needs = ""] = /^([^\s#:=][^:=#]*?)\s*::?(?!=)([^=;]*)/.exec(line) ?? [];
    const last = blocks.at(-1);
    if (names !== "") blocks.push({ targets: names.split(/\s+/), needs: needs.split(/\s+/), lines: [line] });
    else if (line.startsWith("\t") && last !== undefined) last.lines.push(line);
    else blocks.push({ targets: [], needs: [], lines: [line] });
  }
  const named = blocks.flatMap(({ targets }) => targets.filter((name) => !name.startsWith(".")));
  const open = wanted.filter((name) => named.includes(name));
  if (open.length === 0) open.push(...named.slice(0, 1));
  const made = new Set(open);
  for (const name of made)
    for (const { targets, needs } of blocks)
      if (targets.includes(name)) for (const need of needs) made.add(need);
  // A pattern may stand for anything that is needed.
  const counts = (name: string): boolean => made.has(name) || /[%$]/.test(name);
  return blocks
    .filter(({ targets }) => targets.length === 0 || targets.some(counts))
    .flatMap(({ lines }) => lines)
    .join("\n");
}

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

/** The file behind an option, as `--opt FILE` or `--opt=FILE`. */
function behind(command: SimpleCommand, options: RegExp): readonly string[] {
  return command.args.flatMap(({ text }, index) => {
    if (options.test(command.args[index - 1]?.text ?? "")) return [text];
    const [, name = "", value] = /^(--?[\w-]+)[=:](.*)$/s.exec(text) ?? [];
    return value !== undefined && options.test(name) ? [value] : [];
  });
}

/** Scripts in a language of their own that a program loads: `pandoc --lua-filter FILE`, `emacs -l FILE`. */
const obeyScript =
  (options: RegExp, stands: (text: string) => Pick<SimpleCommand, "program" | "args">): Obey =>
  (command, fileText) => {
    const texts = behind(command, options)
      .map((path) => fileText(path.replace(/^lua_script:/, "")))
      .filter((text) => text !== undefined);
    return texts.length === 0 ? undefined : { ...command, ...stands(texts.join("\n")) };
  };
const asLua = (text: string): Pick<SimpleCommand, "program" | "args"> => ({
  program: "lua",
  args: [wordOf("-e"), wordOf(text)],
});
const asLisp = (text: string): Pick<SimpleCommand, "program" | "args"> => ({
  program: "emacs",
  args: [wordOf("--eval"), wordOf(text)],
});

/** `curl -K FILE`, `wget --config=FILE`: the lines of the file are options. */
const obeyOptions: Obey = (command, fileText) => {
  const texts = behind(command, /^(?:-[a-zA-Z]*K|--config|--conf-path)$/)
    .map(fileText)
    .filter((text) => text !== undefined);
  if (texts.length === 0) return undefined;
  const lines = texts
    .join("\n")
    .slice(0, 20_000)
    .matchAll(/^[ \t]*-{0,2}([\w-]+)(?:[ \t]*[=:\s][ \t]*"?([^"\n]*?)"?)?[ \t]*$/gm);
  const added = [...lines].flatMap(([, name = "", value = ""]) =>
    value === "" ? [`--${name}`] : [`--${name}`, value],
  );
  return { ...command, args: [...command.args, ...added.map(wordOf)] };
};

const COMPOSE_FILES = ["compose", "docker-compose", "compose.override", "docker-compose.override"].flatMap(
  (name) => [`${name}.yml`, `${name}.yaml`],
);

/** Services as a file describes them that this line wrote. */
const obeyCompose: Obey = (command, fileText) => {
  if (!/compose$/.test(command.program) && command.args.every(({ text }) => text !== "compose"))
    return undefined;
  const says = (word: RegExp): boolean => command.args.some(({ text }) => word.test(text));
  if (!says(/^(?:up|run|create|start|watch)$/) || says(/^--(?:help|dry-run)$/)) return undefined;
  const named = behind(command, /^(?:-f|--file)$/);
  const texts = (named.length === 0 ? COMPOSE_FILES : named)
    .map(fileText)
    .filter((text) => text !== undefined);
  if (texts.length === 0) return undefined;
  // What is run inside reads other input.
  const args = [...(/compose$/.test(command.program) ? [] : ["compose"]), "-f", "-", "up"].map(wordOf);
  return asInput({ ...command, args }, texts.join("\n"));
};

/** Scripts of `package.json` that a package manager runs for a verb. */
const obeyPackage: Obey = (command, fileText) => {
  const folder =
    command.args[command.args.findIndex(({ text }) => /^(?:--prefix|-C|--dir|--cwd)$/.test(text)) + 1];
  const at = command.args.some(({ text }) => /^(?:--prefix|-C|--dir|--cwd)$/.test(text))
    ? `${folder?.text}/`
    : "";
  const text = fileText(`${at}package.json`);
  if (text === undefined) return undefined;
  const scripts = scriptsOf(text);
  const words = command.args.map((word) => word.text).filter((word) => !word.startsWith("-"));
  const verb = words[0] ?? "install";
  const named = /^(?:run|run-script|rum|urn)$/.test(verb) ? (words[1] ?? "") : verb;
  const names = /^(?:i|install|ci|add|rebuild|pack|publish|link)$/.test(verb)
    ? [
        "preinstall",
        "install",
        "postinstall",
        "prepublish",
        "preprepare",
        "prepare",
        "postprepare",
        "prepack",
      ]
    : [`pre${named}`, named === "t" || named === "tst" ? "test" : named, `post${named}`];
  const lines = names.flatMap((name) => (Object.hasOwn(scripts, name) ? (scripts[name] ?? []) : []));
  return lines.length === 0 ? undefined : asInput({ ...command, program: "sh", args: [] }, lines.join("\n"));
};

function scriptsOf(text: string): Readonly<Record<string, string>> {
  try {
    const { scripts } = JSON.parse(text) as { readonly scripts?: unknown };
    if (typeof scripts !== "object" || scripts === null) return {};
    return Object.fromEntries(Object.entries(scripts).filter(([, line]) => typeof line === "string"));
  } catch {
    return {};
  }
}

/** `pip install .`, `python -m build`: the project's own build script. */
const obeySetup: Obey = (command, fileText) => {
  const places = command.args.filter(({ text }) => /^\.{1,2}(?:\/|$|\[)|^[/~]/.test(text));
  const text = places
    .map((word) => fileText(/^\./.test(word.text) ? "setup.py" : `${word.text.replace(/\/+$/, "")}/setup.py`))
    .find((one) => one !== undefined);
  return text === undefined ? undefined : asInput({ ...command, program: "python3", args: [] }, text);
};

/** Programs that start a script for somebody: `coverage run FILE`, `nodemon FILE`. */
const obeyStarted =
  (interpreter: string, kind: RegExp): Obey =>
  (command, fileText) => {
    const path = command.args.slice(0, 12).find(({ text }) => kind.test(text));
    const text = fileText(path?.text ?? "");
    return text === undefined ? undefined : asInput({ ...command, program: interpreter, args: [] }, text);
  };
const STARTS_PYTHON =
  "coverage kernprof scalene pyinstrument viztracer memray py-spy pudb pudb3 ipdb3 streamlit bokeh panel marimo fastapi watchmedo hupper torchrun accelerate deepspeed mpremote blender manim locust";
const STARTS_NODE =
  "nodemon pm2 forever node-dev ts-node-dev supervisor c8 nyc 0x clinic esr jiti vite-node babel-node swc-node zx k6 wrangler";

const CLIENTS =
  "psql pgcli usql mysql mariadb mycli sqlite3 sqlite duckdb litecli clickhouse-client sqlcmd cqlsh snowsql hive beeline sqlplus mongosh mongo redis-cli vim vi nvim ex ed view gdb lldb bc ftp sftp lftp";

const OBEYING: Readonly<Record<string, Obey>> = {
  ...Object.fromEntries(CLIENTS.split(" ").map((program) => [program, obeyAny])),
  ...Object.fromEntries(
    STARTS_PYTHON.split(" ").map((program) => [program, obeyStarted("python3", /\.pyw?$/)]),
  ),
  ...Object.fromEntries(
    STARTS_NODE.split(" ").map((program) => [program, obeyStarted("node", /\.[mc]?[jt]s$/)]),
  ),
  npm: obeyPackage,
  pnpm: obeyPackage,
  yarn: obeyPackage,
  bun: obeyPackage,
  pip: obeySetup,
  pip3: obeySetup,
  build: obeySetup,
  pandoc: obeyScript(/^(?:-L|--lua-filter|-t|--to|-w|--write)$/, asLua),
  nmap: obeyScript(/^--script$/, asLua),
  mpv: obeyScript(/^--scripts?$/, asLua),
  tshark: obeyScript(/^-X$/, asLua),
  wireshark: obeyScript(/^-X$/, asLua),
  emacs: obeyScript(/^(?:-l|--load|--script|-x)$/, asLisp),
  docker: obeyCompose,
  podman: obeyCompose,
  "docker-compose": obeyCompose,
  "podman-compose": obeyCompose,
  curl: obeyOptions,
  wget: obeyOptions,
  make: obeyMakefile,
  gmake: obeyMakefile,
  awk: obeyProgram([]),
  gawk: obeyProgram([]),
  mawk: obeyProgram([]),
  sed: obeyProgram(["-e"]),
  gsed: obeyProgram(["-e"]),
};
