import { type ShellWord, UNKNOWN } from "../types.js";
import { joinWords, local, type Opener, type Opening, wordOf } from "./opening.js";
import { readWrapper, type WrapperSpec } from "./wrapper-options.js";

/** Terminal multiplexers, git and package runners: programs with sub-commands that run something. */

const TMUX_STARTS =
  /^(?:new|new-session|neww|new-window|splitw|split-window|respawnp|respawn-pane|respawnw|respawn-window|popup|display-popup)$/;
const TMUX_TEXT = /^(?:run|run-shell|if|if-shell|pipep|pipe-pane)$/;
const TMUX_TAKING = new Set("-t -s -n -c -F -x -y -e -l -f -T -S -L".split(" "));
const TMUX_POPUP = new Set([...TMUX_TAKING, "-w", "-h"]);

const openTmux: Opener = (args) => {
  const wrapper = local("tmux");
  const openings: Opening[] = [];
  for (let at = 0; at < args.length; at++) {
    const verb = args[at]?.text ?? "";
    const end = args.findIndex((word, index) => index > at && word.text === ";");
    const own = args.slice(at + 1, end < 0 ? undefined : end);
    // `-h` is a height for a popup, a direction for a split.
    const taking = /popup/.test(verb) ? TMUX_POPUP : TMUX_TAKING;
    const operands = withoutOptions(own, taking);
    if (TMUX_STARTS.test(verb) && operands.length > 0) {
      openings.push({ kind: "text", text: joinWords(operands), wrapper });
    } else if (TMUX_TEXT.test(verb)) {
      for (const text of operands) openings.push({ kind: "text", text, wrapper });
    } else if (verb === "send" || verb === "send-keys") {
      const typed = operands.filter(
        (word) => !/^(?:Enter|C-[a-z]|KPEnter|Space|Tab|Escape)$/i.test(word.text),
      );
      if (typed.length > 0) openings.push({ kind: "text", text: joinWords(typed), wrapper });
    } else continue;
    at = end < 0 ? args.length : end;
  }
  return openings;
};

function withoutOptions(args: readonly ShellWord[], taking: ReadonlySet<string>): readonly ShellWord[] {
  const operands: ShellWord[] = [];
  for (let at = 0; at < args.length; at++) {
    const word = args[at] as ShellWord;
    if (word.text === "--") return [...operands, ...args.slice(at + 1)];
    if (operands.length === 0 && taking.has(word.text)) at++;
    else if (operands.length > 0 || !/^-./.test(word.text)) operands.push(word);
  }
  return operands;
}

const openScreen: Opener = (args) => {
  const wrapper = local("screen");
  const stuff = args.findIndex((word) => word.text === "stuff");
  const typed = args[stuff + 1];
  if (stuff >= 0 && typed !== undefined) {
    const text = typed.text.replace(/\^M|\\n|\\r|\r/g, "\n");
    return [{ kind: "text", text: wordOf(text, typed), wrapper }];
  }
  const read = readWrapper(args, SCREEN);
  if (read === undefined || ["ls", "list", "wipe", "r", "x", "R", "v"].some((name) => read.given.has(name)))
    return [];
  const rests = read.given.has("X")
    ? read.rests.filter((rest) => rest[0]?.text === "exec").map((rest) => rest.slice(1))
    : read.rests;
  return rests.filter((argv) => argv.length > 0).map((argv): Opening => ({ kind: "argv", argv, wrapper }));
};

const SCREEN: WrapperSpec = {
  flags: "4 6 a A d D i l L m M O q Q r R RR U v w x X ls list wipe",
  taking: "c e h p s S t T Logfile",
  lenient: true,
};

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
  "for-each-repo": /^$/,
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

export const SESSION_OPENERS: Readonly<Record<string, Opener>> = {
  tmux: openTmux,
  byobu: openTmux,
  screen: openScreen,
  git: openGit,
  npx: openPackage([]),
  bunx: openPackage([]),
  pnpx: openPackage([]),
  uvx: openPackage([]),
  npm: openPackage(["exec", "x"]),
  pnpm: openPackage(["dlx", "exec"]),
  yarn: openPackage(["dlx", "exec", "run"]),
  bun: openPackage(["x"]),
  pipx: openPackage(["run"]),
};
