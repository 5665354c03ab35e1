import { codeScript } from "../rules/interpreters.js";
import { obeysInput } from "../rules/obeyed-words.js";
import type { ShellWord, SimpleCommand } from "../types.js";
import type { Invocation } from "./context.js";
import { report } from "./context.js";
import { deletions } from "./embedded-commands.js";
import { PROJECT_CODE } from "./project-code.js";
import { commandLinesIn, recipeFiles } from "./project-recipes.js";
import type { ShellState } from "./state.js";
import { wouldHarm } from "./unknown-programs.js";
import { madeFile } from "./written-files.js";

/**
 * Files that this line or session wrote and that a tool of the project loads by itself: settings that are programs,
 * recipes with command lines in them, modules that are imported.
 */

const wordOf = (text: string): ShellWord => ({ text, known: true, glob: false });

function textOf(state: ShellState, path: string): string | undefined {
  const content = madeFile(state, path)?.content;
  return content?.kind === "text" ? content.text : undefined;
}

/** Texts under these names, of which `*.x` stands for every file of that kind that the line wrote. */
function textsOf(state: ShellState, names: Iterable<string>): readonly string[] {
  const found = new Set<string>();
  for (const name of names) {
    if (!name.includes("*")) {
      const text = textOf(state, name);
      if (text !== undefined) found.add(text);
      continue;
    }
    const end = name.slice(name.indexOf("*") + 1);
    const folder = name.slice(0, name.indexOf("*"));
    for (const path of state.files.keys())
      if (path.startsWith(folder) && path.endsWith(end) && found.size < MOST_FILES) {
        const text = textOf(state, path);
        if (text !== undefined) found.add(text);
      }
  }
  return [...found];
}
const MOST_FILES = 32;

/** Options behind which a file stands that the tool loads. */
const LOADING =
  /^(?:-c|-f|-r|-C|-S|-p|-I|-b|-i|-e|-t|--config(?:-file|-path)?|--file|--require|--import|--plugin|--rulesdir|--globalSetup|--setupFiles\w*|--rakefile|--justfile|--taskfile|--build-file|--init-script|--settings|--cross-file|--native-file|--bazelrc|--inventory|--manifest-path|--project|--preset|--toolchain|--initial-cache)$/;

function loadedWords({ args }: SimpleCommand): readonly string[] {
  return args.flatMap(({ text }, index) => {
    if (LOADING.test(args[index - 1]?.text ?? "")) return [text];
    const [, name = "", value = ""] = /^(--?[\w-]+)[=:](.+)$/s.exec(text) ?? [];
    return LOADING.test(name) ? [value] : [];
  });
}

/** Tools that do what the files say that are given to them as operands. */
const OBEYS_OPERANDS = new Set(
  "ansible-playbook packer puppet nextflow snakemake salt-call rpmbuild mock flatpak-builder cmake gem nix-build nix-shell nim msbuild dotnet mocha jest vitest ava rspec behave cucumber".split(
    " ",
  ),
);
const SHOWS_ONLY = /^(?:--?help|--?version|-h|-V)$/;

function isIdle({ args }: SimpleCommand): boolean {
  return args.length > 0 && args.every(({ text }) => SHOWS_ONLY.test(text));
}

/** Folders of the files and options that are given to a tool: its settings may lie beside them. */
function folders({ args }: SimpleCommand): readonly string[] {
  const found = new Set<string>();
  for (const [index, { text }] of args.entries()) {
    const folder = /^(?!-)(.*\/)/.exec(text)?.[1];
    if (folder !== undefined) found.add(folder);
    if (
      /^(?:-C|-S|-H|--cwd|--dir|--directory|--prefix|-chdir|--source|--rootDir|--root|--project-dir|-p)$/.test(
        args[index - 1]?.text ?? "",
      )
    )
      found.add(`${text.replace(/\/+$/, "")}/`);
    const given = /^(?:-chdir|--cwd|--dir|--root|-S|--directory)=?([\w./-]+)$/.exec(text)?.[1];
    if (given !== undefined) found.add(`${given.replace(/\/+$/, "")}/`);
    if (!text.startsWith("-") && /^[\w.-]+$/.test(text)) found.add(`${text}/`);
  }
  return [...found].slice(0, MOST_FOLDERS);
}
const MOST_FOLDERS = 4;

function named(names: readonly string[], command: SimpleCommand): ReadonlySet<string> {
  const first = names.filter((name) => !name.includes("/")).slice(0, 3);
  const words = OBEYS_OPERANDS.has(command.program)
    ? command.args.map(({ text }) => text).filter((text) => !text.startsWith("-"))
    : [];
  return new Set([
    ...names,
    ...folders(command).flatMap((folder) => first.map((name) => `${folder}${name}`)),
    ...loadedWords(command),
    ...words,
  ]);
}

/** The settings of a tool that are programs, as input of the interpreter that reads them. */
export function loadedPrograms(command: SimpleCommand, state: ShellState): readonly SimpleCommand[] {
  if ((state.files.size === 0 && state.disk === undefined) || isIdle(command)) return [];
  const module = command.args[command.args.findIndex(({ text }) => text === "-m") + 1]?.text ?? "";
  const tool = /^python[\d.]*$/.test(command.program) ? module : command.program;
  const rows = PROJECT_CODE.get(tool) ?? [];
  const programs = rows.map(({ interpreter, files }) => ({
    interpreter,
    texts: textsOf(state, named(files, command)),
  }));
  programs.push(...importedBy(command, state));
  return programs.flatMap(({ interpreter, texts }) =>
    texts.length === 0
      ? []
      : [
          {
            ...command,
            program: interpreter,
            args: [],
            input: { kind: "text" as const, text: wordOf(texts.join("\n")) },
          },
        ],
  );
}

/** What interpreters load before, and because of, the code they are given. */
function importedBy(
  command: SimpleCommand,
  state: ShellState,
): readonly { readonly interpreter: string; readonly texts: readonly string[] }[] {
  const language = /^(?:python|pypy)[\d.]*$/.test(command.program)
    ? PYTHON
    : /^(?:node|nodejs|bun|deno|tsx|ts-node)$/.test(command.program)
      ? NODE
      : /^(?:ruby|irb)$/.test(command.program)
        ? RUBY
        : /^perl[\d.]*$/.test(command.program)
          ? PERL
          : OTHERS.find(({ interpreter }) => command.program.startsWith(interpreter));
  if (language === undefined) return [];
  const script = codeScript(command);
  const own = script === undefined ? undefined : textOf(state, script.text);
  const given = [
    ...command.args.map(({ text }) => text),
    ...(command.input.kind === "text" ? [command.input.text.text] : []),
    ...(own === undefined ? [] : [own]),
  ];
  const folder = /^(.*\/)/.exec(script?.text ?? "")?.[1] ?? "";
  const names = new Set(language.always);
  for (const text of given)
    for (const match of text.slice(0, LONGEST).matchAll(language.imports)) {
      if (names.size >= MOST_FILES) break;
      const stem = (match.slice(1).find((each) => each !== undefined) ?? "").replace(/^\.\//, "");
      for (const each of stem.split(/\s*,\s*/))
        for (const path of language.paths(each.replace(/\s+as\s.*$/, ""))) names.add(`${folder}${path}`);
    }
  return [{ interpreter: language.interpreter, texts: textsOf(state, names).filter((text) => text !== own) }];
}
const LONGEST = 40_000;

interface Importing {
  readonly interpreter: string;
  readonly always: readonly string[];
  readonly imports: RegExp;
  paths(name: string): readonly string[];
}

const PYTHON: Importing = {
  interpreter: "python3",
  always: ["sitecustomize.py", "usercustomize.py"],
  imports:
    /(?:^|[\n;"'])\s*(?:import\s+([\w., ]+)|from\s+([\w.]+)\s+import)|^-m$|^([a-z_]\w*)$|\b(?:exec|eval|compile|execfile)\s*\([^\n]{0,200}?(?:open|Path)\s*\(\s*["']([^"']+)["']|\b(?:open|Path)\s*\(\s*["']([^"'\n]+)["'][^\n]{0,200}?\b(?:exec|eval)\s*\(|\brun_path\s*\(\s*["']([^"']+)["']|\b(?:spec_from_file_location|SourceFileLoader)\s*\([^)\n]{0,200},\s{0,9}["']([^"']+)["']/g,
  paths: (name) => [
    name,
    `${name.replaceAll(".", "/")}.py`,
    `${name.replaceAll(".", "/")}/__init__.py`,
    `${name.replaceAll(".", "/")}/__main__.py`,
  ],
};
const NODE: Importing = {
  interpreter: "node",
  always: [],
  imports:
    /(?:require|import)\s*\(?\s*["'](\.{1,2}\/[^"']+)["']|from\s*["'](\.{1,2}\/[^"']+)["']|^(\.{1,2}\/\S+)$|\b(?:eval|runIn\w+|Function|Script|compileFunction)\s*\([^\n]{0,200}?readFile(?:Sync)?\s*\(\s*["'`]([^"'`]+)["'`]/g,
  paths: (name) => [name, ...["js", "mjs", "cjs", "ts"].map((end) => `${name}.${end}`), `${name}/index.js`],
};
const RUBY: Importing = {
  interpreter: "ruby",
  always: [],
  imports:
    /(?:require_relative|require|load)\s*\(?\s*["']([^"']+)["']|^-r(.+)$|^(\.{1,2}\/\S+)$|\b(?:\w+_)?eval\b[^\n]{0,200}?\b(?:File|IO)\.read\s*\(?\s*["']([^"']+)["']/g,
  paths: (name) => [name, `${name}.rb`],
};
const PERL: Importing = {
  interpreter: "perl",
  always: [],
  imports: /(?:^|[\n;{])\s*(?:use|require|do)\s+["']?([\w:./]+)|^-[mM]([\w:]+)/g,
  paths: (name) => [name, `${name.replaceAll("::", "/")}.pm`, `lib/${name.replaceAll("::", "/")}.pm`],
};

const OTHERS: readonly Importing[] = [
  {
    interpreter: "php",
    always: [],
    imports: /\b(?:include|require)(?:_once)?\b\s*\(?\s*["']([^"']+)["']/g,
    paths: (name) => [name],
  },
  {
    interpreter: "lua",
    always: [],
    imports: /\b(?:dofile|loadfile|require)\b\s*\(?\s*["']([^"']+)["']/g,
    paths: (name) => [name, `${name.replaceAll(".", "/")}.lua`],
  },
];

/** Recipes of a tool: each piece of them that may be a command line is tried. */
export function judgeRecipes(command: SimpleCommand, invocation: Invocation): void {
  const { context } = invocation;
  const { run } = context;
  if (run.isTrial) return;
  for (const text of recipesOf(command, invocation)) {
    if (!run.budget.spend("parsed", text.length)) return;
    const texts = [...commandLinesIn(text), ...deletions(text)].map(wordOf);
    if (texts.length > 0 && wouldHarm({ texts, isRun: true }, command, invocation)) {
      report(context, "opaque.recipe", { span: invocation.span, command });
      return;
    }
  }
}

/** What the command is given to obey on standard input, and what it looks up. */
function recipesOf(command: SimpleCommand, { context: { state } }: Invocation): readonly string[] {
  const { program, input, args } = command;
  const isGiven =
    input.kind === "text" &&
    args.length > 0 &&
    !READ_OTHERWISE.test(program) &&
    (obeysInput(command) || namesInput(command));
  const given = isGiven ? [input.text.text] : [];
  if (state.files.size === 0 && state.disk === undefined) return given;
  const files = recipeFiles(program);
  return files === undefined || isIdle(command)
    ? given
    : [...given, ...textsOf(state, named(files, command))];
}

/** A tool that has recipes, told to read something from standard input. */
const namesInput = ({ program, args }: SimpleCommand): boolean =>
  args.some(({ text }) => /^-$|(?:^|[=:])\/dev\/(?:stdin|fd\/0)$|=-$/.test(text)) &&
  recipeFiles(program) !== undefined;

/** What they are given to obey is no recipe: statements, scripts of their own, addresses and manifests. */
const READ_OTHERWISE =
  /^(?:psql|pgcli|usql|duckdb|g?sed|[gmn]?awk|curl|wget2?|ssh|scp|sftp|docker|docker-compose|podman|podman-compose|nerdctl|kubectl|oc|helm|make|gmake|crontab|at|batch|bc|dc|(?:ba|z|k|da|fi|c|tc)?sh)$/;
