import { isStandardInput } from "../code/inline.js";
import { type ShellWord, UNKNOWN } from "../types.js";
import { quoteText } from "./canonical.js";
import { parseOptions } from "./options.js";
import {
  joinWords,
  local,
  type Opener,
  type Opening,
  openBySpec,
  readWrapper,
  textsOf,
  type WrapperSpec,
  wordOf,
} from "./wrapper-spec.js";

/** Tools of projects: git, package managers, builders, archivers, and what they run on the side. */

/** The parts of git that run commands: aliases with `!`, `bisect run`, `rebase --exec`, `submodule foreach`, filters. */
const openGit: Opener = (args) => {
  const wrapper = local("git");
  const openings: Opening[] = [];
  const aliases = new Map<string, string>();
  let at = 0;
  for (; at < args.length; at++) {
    const text = args[at]?.text ?? "";
    if (text === "-c" || text === "--config-env") {
      const alias = /^alias\.([^=]+)=([\s\S]*)$/i.exec(args[++at]?.text ?? "");
      if (alias !== null) aliases.set(alias[1] ?? "", alias[2] ?? "");
    } else if (/^(?:-C|--git-dir|--work-tree|--namespace|--exec-path|--super-prefix)$/.test(text)) at++;
    else if (!text.startsWith("-")) break;
  }
  const verb = args[at];
  const rest = args.slice(at + 1);
  const meant = aliases.get(verb?.text ?? "");
  if (meant !== undefined && verb !== undefined) {
    const text = [meant.replace(/^!/, ""), ...rest.map((word) => word.text)].join(" ");
    if (meant.startsWith("!")) openings.push({ kind: "text", text: wordOf(text), wrapper });
    else openings.push({ kind: "text", text: wordOf(`git ${text}`), wrapper });
  }
  if (verb?.text === "bisect" && rest[0]?.text === "run" && rest.length > 1) {
    openings.push({ kind: "argv", argv: rest.slice(1), wrapper, repeated: true });
  }
  if (verb?.text === "submodule" && rest.some((word) => word.text === "foreach")) {
    const words = rest.slice(rest.findIndex((word) => word.text === "foreach") + 1);
    const operands = words.filter((word, index) => !(index === 0 && word.text.startsWith("-")));
    if (operands.length > 0)
      openings.push({ kind: "text", text: joinWords(operands), wrapper, repeated: true });
  }
  return [...openings, ...gitTexts(verb?.text ?? "", rest)];
};

const GIT_TEXT_OPTIONS: Readonly<Record<string, RegExp>> = {
  rebase: /^(?:-x|--exec)(?:=|$)/,
  "filter-branch": /^--(?:tree|index|env|msg|parent|commit|tag-name|setup|subdirectory)-?(?:filter)?(?:=|$)/,
  difftool: /^(?:-x|--extcmd)(?:=|$)/,
  "fetch-pack": /^--(?:exec|upload-pack)=/,
  "send-pack": /^--(?:exec|receive-pack)=/,
  "ls-remote": /^--exec(?:=|$)/,
  daemon: /^--access-hook(?:=|$)/,
  instaweb: /^(?:-d|--httpd)(?:=|$)/,
  "web--browse": /^(?:-b|--browser)(?:=|$)/,
};

function gitTexts(verb: string, args: readonly ShellWord[]): readonly Opening[] {
  const option = Object.hasOwn(GIT_TEXT_OPTIONS, verb) ? GIT_TEXT_OPTIONS[verb] : undefined;
  if (option === undefined) return [];
  return args.flatMap((word, index): readonly Opening[] => {
    if (!option.test(word.text)) return [];
    const cut = word.text.indexOf("=");
    const text = cut < 0 ? args[index + 1] : wordOf(word.text.slice(cut + 1), word);
    return text === undefined ? [] : [{ kind: "text", text, wrapper: local("git"), repeated: true }];
  });
}

const PACKAGE_RUNNER: WrapperSpec = {
  flags: "y q yes no quiet no-install ignore-existing bun silent verbose",
  taking: "p package from with python spec w workspace",
  text: "c call",
  idle: "v version help",
  lenient: true,
};

/** Options in front of the verb that take a word. */
const BEFORE_VERB = new Set(
  "--filter -F --filter-prod -C --dir --prefix -w --workspace --cwd --loglevel --config".split(" "),
);

/** Where the verb of a package manager stands. */
function verbIn(args: readonly ShellWord[]): number {
  let at = 0;
  while (at < args.length && args[at]?.text.startsWith("-") === true)
    at += BEFORE_VERB.has(args[at]?.text ?? "") ? 2 : 1;
  return at;
}

/** `npx rimraf@5 dist`: the program of a package, its version left out. */
function openPackage(verbs: readonly string[]): Opener {
  return (args, { program }) => {
    const words = verbs.length === 0 ? args : behindVerb(args, verbs);
    const read = words === undefined ? undefined : readWrapper(words, PACKAGE_RUNNER);
    if (read === undefined) return [];
    const wrapper = local(program);
    const text = read.given.get("c") ?? read.given.get("call");
    const openings: Opening[] = text === undefined ? [] : [{ kind: "text", text, wrapper }];
    for (const [name, ...rest] of read.rests) {
      if (name === undefined || name.text === UNKNOWN) continue;
      const bare = name.text.replace(/(.)@[^/]*$/, "$1").replace(/\[.*\]$/, "");
      openings.push({ kind: "argv", argv: [wordOf(bare, name), ...rest], wrapper });
    }
    return openings;
  };
}

/** `pnpm --filter x exec …`, `yarn workspace x exec …`, `yarn workspaces foreach -A run …`. */
function behindVerb(args: readonly ShellWord[], verbs: readonly string[]): readonly ShellWord[] | undefined {
  const at = verbIn(args);
  const verb = args[at]?.text ?? "";
  const rest = args.slice(at + 1);
  if (verb === "workspace") return behindVerb(rest.slice(1), verbs);
  if (verb === "workspaces" && rest[0]?.text === "foreach") return behindVerb(rest.slice(1), verbs);
  // One word alone is the name of a script of the project.
  if (verb === "run" && rest.filter(({ text }) => !text.startsWith("-")).length < 2) return undefined;
  return verbs.includes(verb) ? rest : undefined;
}

/** Texts that end up in a package's scripts, or that run inside a package: `npm pkg set scripts.x=…`, `npm explore x -- …`. */
const openNpm: Opener = (args, input) => {
  const { program } = input;
  const wrapper = local(program);
  const own = openPackage(program === "npm" ? ["exec", "x"] : ["dlx", "exec"])(args, input);
  const held = openBySpec({ holds: "editor viewer" }, args, input);
  const at = verbIn(args);
  const [verb, ...rest] = args.slice(at);
  if (verb?.text === "pkg" && rest[0]?.text === "set")
    return [...own, ...textsOf(scriptTexts(rest.slice(1)), program)];
  if (verb?.text === "set-script") return [...own, ...textsOf(rest.slice(1, 2), program)];
  const dashes = rest.findIndex(({ text }) => text === "--");
  if (verb?.text === "explore" && dashes >= 0 && dashes + 1 < rest.length)
    return [...own, { kind: "argv", argv: rest.slice(dashes + 1), wrapper }];
  return [...own, ...held];
};

/** `scripts.test=cmd`, as `npm pkg set` takes them; one called `clean` says itself that it deletes. */
function scriptTexts(words: readonly ShellWord[]): readonly ShellWord[] {
  return words.flatMap((word) => {
    const [, name = "", text] = /^scripts(?:\.|\[)([^=]*)=([\s\S]+)$/.exec(word.text) ?? [];
    return text === undefined || /clean|clear|reset/.test(name) ? [] : [wordOf(text, word)];
  });
}

/** `yarn exec 'cmd'` hands one word to a shell. */
const openYarn: Opener = (args, input) => {
  const own = openPackage(["dlx", "exec", "run"])(args, input);
  const [verb, text, more] = args;
  const isText = verb?.text === "exec" && text !== undefined && more === undefined && /\s/.test(text.text);
  return isText ? [{ kind: "text", text, wrapper: local("yarn") }] : own;
};

/** `composer config scripts.x 'cmd'`, and `composer exec`. */
const openComposer: Opener = (args, input) => {
  const words = args.filter(({ text }) => !text.startsWith("-") && text !== "global");
  if (words[0]?.text === "config" && /^scripts\./.test(words[1]?.text ?? ""))
    return textsOf(words.slice(2, 3), input.program);
  const from = args[0]?.text === "global" ? args.slice(1) : args;
  return openBySpec({ verb: "exec", lenient: true }, from, input);
};

/** `cmake -E env X=1 cmd`, `-E chdir FOLDER cmd`, `-E rm -rf x`: a small shell of its own. */
const openCmake: Opener = (args, { program }) => {
  const wrapper = local(program);
  const [option, verb, ...rest] = args;
  if (option?.text !== "-E" || verb === undefined) return [];
  switch (verb.text) {
    case "env": {
      const argv = rest.slice(rest.findIndex(({ text }) => !/^--|^[A-Za-z_]\w*=/.test(text)));
      return argv.length === 0 ? [] : [{ kind: "argv", argv, wrapper }];
    }
    case "time":
      return rest.length === 0 ? [] : [{ kind: "argv", argv: rest, wrapper }];
    case "chdir":
      return rest.length < 2 ? [] : [{ kind: "argv", argv: rest.slice(1), wrapper, folder: rest[0] }];
    case "rm":
    case "cat":
      return [{ kind: "argv", argv: [verb, ...rest], wrapper }];
    case "remove":
    case "remove_directory":
      return [{ kind: "argv", argv: [wordOf("rm", verb), wordOf("-rf"), ...rest], wrapper }];
    default:
      return [];
  }
};

/** `cargo watch -s 'text' -x 'verb of cargo' -- cmd`. */
const openCargo: Opener = (args, input) => {
  if (args[0]?.text !== "watch") return [];
  const wrapper = local("cargo watch");
  const dashes = args.findIndex((word) => word.text === "--");
  const argv = dashes < 0 ? [] : args.slice(dashes + 1);
  const texts = openBySpec({ holds: "s shell", taking: "x exec" }, args, input);
  return argv.length === 0 ? texts : [...texts, { kind: "argv", argv, wrapper }];
};

const openJust: Opener = (args, { program }) => {
  const at = args.findIndex((word) => /^(?:-c|--command)$/.test(word.text));
  const argv = at < 0 ? [] : args.slice(at + 1);
  const wrapper = local(program);
  if (argv.length === 1 && argv[0] !== undefined) return [{ kind: "text", text: argv[0], wrapper }];
  return argv.length === 0 ? [] : [{ kind: "argv", argv, wrapper }];
};

const openNix: Opener = (args, { program }) => {
  const verb = args.findIndex((word) => word.text === "run" || word.text === "shell");
  const dashes = args.findIndex((word) => word.text === "--");
  const named = args[verb + 1];
  if (args[verb]?.text === "run" && dashes > verb && named !== undefined) {
    const name = wordOf(named.text.replace(/^.*[#/]/, ""), named);
    return [{ kind: "argv", argv: [name, ...args.slice(dashes + 1)], wrapper: local(program) }];
  }
  const at = args.findIndex((word) => /^(?:-c|--command)$/.test(word.text));
  const argv = at < 0 ? [] : args.slice(at + 1);
  return argv.length === 0 ? [] : [{ kind: "argv", argv, wrapper: local(program) }];
};

const MOST_RECIPES = 200;
const LONGEST_LINE = 4000;
const TAKING = "f file makefile C directory I include-dir j jobs l load-average o W E eval".split(" ");

/** Commands of a makefile that is given as text, and of variables that name the shell or a program. */
const openMake: Opener = (args, { program, stdin }) => {
  const { values, operands } = parseOptions(args, { taking: TAKING });
  const texts: string[] = [];
  const files = ["f", "file", "makefile"].flatMap((name) => values.get(name) ?? []);
  const fromInput = files.some(isStandardInput);
  if (fromInput && stdin !== undefined) texts.push(...recipesOf(stdin));
  for (const word of [...(values.get("E") ?? []), ...(values.get("eval") ?? [])])
    texts.push(...recipesOf(word.text.replaceAll("\\n", "\n")));
  for (const { text } of operands) {
    const given = /^(?:SHELL|CC|CXX|LD|AR|AS|CPP|INSTALL|RM|MAKE|\.SHELLFLAGS)\s*[:?+]?=\s*([\s\S]+)$/.exec(
      text,
    )?.[1];
    if (given !== undefined) texts.push(given);
    texts.push(...called(text));
  }
  const openings = textsOf(
    texts.map((text) => wordOf(text)),
    program,
  );
  return fromInput && stdin === undefined ? [{ kind: "opaque" }, ...openings] : openings;
};

/** Lines behind a tab, what follows `;` in a rule, and `$(shell …)` anywhere. */
function recipesOf(text: string): readonly string[] {
  const texts: string[] = [];
  for (const line of text.split("\n").slice(0, MOST_RECIPES)) {
    const recipe = line.startsWith("\t") ? line : /^[^\s#][^#:=]*::?[^=;]*;([\s\S]*)$/.exec(line)?.[1];
    if (recipe !== undefined)
      texts.push(
        recipe
          .trim()
          .replace(/^[@+-]+\s*/, "")
          .replace(/(?<!\$)\$\((\w+)\)/g, "$${$1}")
          .replaceAll("$$", "$"),
      );
    texts.push(...called(line));
  }
  return texts;
}

/** `$(shell cmd)`, with variables of make in it, and `name != cmd`. */
const CALLED = /\$[({]shell\s+((?:[^(){}$]|\$[({]\w+[)}]|\$(?![({]))+)[)}]|!=\s*(.+)$/g;

function called(text: string): readonly string[] {
  if (text.length > LONGEST_LINE || !/shell|!=/.test(text)) return [];
  return [...text.matchAll(CALLED)].map((match) =>
    (match[1] ?? match[2] ?? UNKNOWN).trim().replace(/\$\((\w+)\)/g, "$${$1}"),
  );
}

const TAR: WrapperSpec = {
  holds: "I F use-compress-program to-command rsh-command info-script new-volume-script checkpoint-action",
  taking: "f C T X b H N V L K exclude transform file directory",
};

/** Of the actions at a checkpoint only `exec=` runs something. */
const openTar: Opener = (args, input) =>
  openBySpec(TAR, args, input).flatMap((opening): readonly Opening[] => {
    if (opening.kind !== "text") return [opening];
    const action = /^(exec|dot|echo|sleep|ttyout|totals|wait|bell)(?:=|$)/.exec(opening.text.text)?.[1];
    if (action === undefined) return [opening];
    const text = wordOf(opening.text.text.slice("exec=".length), opening.text);
    return action === "exec" ? [{ ...opening, text }] : [];
  });

/** `gcc -wrapper sh,-c,cmd`. */
const openCompiler: Opener = (args, { program }) =>
  textsOf(
    args.flatMap((word, index) =>
      args[index - 1]?.text === "-wrapper"
        ? [wordOf(word.text.split(",").map(quoteText).join(" "), word)]
        : [],
    ),
    program,
  );

/** `rpm --eval '%(cmd)'`. */
const openRpm: Opener = (args, input) => [
  ...openBySpec({ holds: "pipe", taking: "eval E root" }, args, input),
  ...textsOf(
    args.flatMap((word) =>
      [...word.text.matchAll(/%\(([^()]*)\)/g)].map((match) => wordOf(match[1] ?? "", word)),
    ),
    input.program,
  ),
];

export const PROJECT_OPENERS: Readonly<Record<string, Opener>> = {
  git: openGit,
  npx: openPackage([]),
  bunx: openPackage([]),
  pnpx: openPackage([]),
  uvx: openPackage([]),
  npm: openNpm,
  pnpm: openNpm,
  yarn: openYarn,
  composer: openComposer,
  cmake: openCmake,
  bun: openPackage(["x"]),
  pipx: openPackage(["run"]),
  cargo: openCargo,
  just: openJust,
  nix: openNix,
  make: openMake,
  gmake: openMake,
  tar: openTar,
  gtar: openTar,
  bsdtar: openTar,
  gcc: openCompiler,
  "g++": openCompiler,
  clang: openCompiler,
  cc: openCompiler,
  rpm: openRpm,
};
