import { type ShellWord, UNKNOWN } from "../types.js";
import { joinWords, local, type Opener, type Opening } from "./opening.js";

/** Shells that read bash, or something near enough. */
const SHELLS =
  "sh bash zsh dash ksh ksh93 mksh lksh ash rbash yash posh osh ysh oil fish csh tcsh nu elvish xonsh".split(
    " ",
  );
/** Their language differs: what the parser refuses may still be fine there. */
const FOREIGN = new Set(["zsh", "ysh", "fish", "csh", "tcsh", "nu", "elvish", "xonsh"]);

function isStandardInput({ text }: ShellWord): boolean {
  return /^\/+(?:dev\/+stdin|dev\/+fd\/+0|proc\/+(?:self|thread-self|\$\$|\d+|\uFFFC)\/+fd\/+0)$/.test(text);
}

const openShell: Opener = (args, { program, fed }) => {
  const wrapper = local(program);
  const foreign = FOREIGN.has(program);
  const openings: Opening[] = [];
  let wantsText = false;
  let wantsInput = false;
  let at = 0;
  for (; at < args.length; at++) {
    const word = args[at] as ShellWord;
    const { text } = word;
    if (text === UNKNOWN && args.slice(at + 1).some((later) => /^-\w*c/.test(later.text))) continue;
    if (!/^[-+]/.test(text)) break;
    if (text === "--" || text === "-") {
      at++;
      break;
    }
    const inline = /^--(?:command|init-command)=([\s\S]*)$/.exec(text);
    if (inline !== null) {
      openings.push({ kind: "text", text: { ...word, text: inline[1] ?? "" }, wrapper, foreign });
    } else if (text.startsWith("--")) {
      if (text === "--version" || text === "--help") return [];
      const next = args[at + 1];
      if (/^--(?:rcfile|init-file)$/.test(text) && next !== undefined) {
        openings.push({ kind: "script", path: next, wrapper });
        at++;
      } else if (text === "--command") wantsText = true;
    } else if (/^-\w*n/.test(text) && !FOREIGN.has(program)) return [];
    else {
      if (text.includes("c")) wantsText = true;
      if (text.includes("s") && text.startsWith("-")) wantsInput = true;
      if (/[oO]/.test(text)) at++;
    }
  }
  const [first, ...rest] = args.slice(at);
  if (wantsText) {
    if (first === undefined) return openings;
    const [zero, ...positional] = rest;
    return [...openings, { kind: "text", text: first, wrapper, foreign, positional, zero }];
  }
  if (first === undefined || wantsInput) {
    const positional = args.slice(at);
    return fed ? [...openings, { kind: "input", wrapper, foreign, positional }] : openings;
  }
  if (isStandardInput(first)) {
    return [...openings, { kind: "input", wrapper, foreign, positional: rest }];
  }
  return [...openings, { kind: "script", path: first, wrapper, positional: rest }];
};

const openEval: Opener = (args) =>
  args.length === 0
    ? []
    : [
        {
          kind: "text",
          text: joinWords(args[0]?.text === "--" ? args.slice(1) : args),
          wrapper: local("eval"),
          here: true,
        },
      ];

const openSource: Opener = (args, { program }) => {
  const wrapper = local(program);
  const [path, ...positional] = args[0]?.text === "--" ? args.slice(1) : args;
  if (path === undefined) return [];
  if (isStandardInput(path)) {
    return [{ kind: "input", wrapper, here: true }];
  }
  return [
    { kind: "script", path, wrapper, here: true, positional: positional.length > 0 ? positional : undefined },
  ];
};

/** `trap 'cmd' SIGNAL`: runs later, in this shell. */
const openTrap: Opener = (args) => {
  const [text, ...signals] = args[0]?.text === "--" ? args.slice(1) : args;
  if (text === undefined || signals.length === 0 || text.text === "-" || text.text === "") return [];
  if (/^-[lp]/.test(text.text)) return [];
  return [{ kind: "text", text, wrapper: local("trap"), here: true, later: true }];
};

/** What an alias will run is judged when it is defined: who uses it later sees only its name. */
const openAlias: Opener = (args, { program }) =>
  args.flatMap((word): readonly Opening[] => {
    const cut = word.text.indexOf("=");
    const text = { ...word, text: word.text.slice(cut + 1), glob: false };
    return cut < 1 ? [] : [{ kind: "text", text, wrapper: local(program), foreign: true }];
  });

/** Commands that the shell itself calls back. */
function openCallback(option: string): Opener {
  return (args, { program }) => {
    const at = args.findIndex((word) => word.text === option);
    const given = at < 0 ? undefined : args[at + 1];
    if (given === undefined) return [];
    const text = { ...given, text: given.text.replace(/^"[^"]*":\s*/, "") };
    return [{ kind: "text", text, wrapper: local(program), here: true, foreign: true }];
  };
}

const openAbbreviation: Opener = (args, { program }) => {
  const at = args.findIndex((word) => word.text === "-a" || word.text === "--add");
  const words = args.slice(at + 1).filter((word) => !word.text.startsWith("-"));
  if (at < 0 || words.length < 2) return [];
  return [{ kind: "text", text: joinWords(words.slice(1)), wrapper: local(program), foreign: true }];
};

export const SHELL_OPENERS: Readonly<Record<string, Opener>> = {
  ...Object.fromEntries(SHELLS.map((shell) => [shell, openShell])),
  eval: openEval,
  source: openSource,
  ".": openSource,
  trap: openTrap,
  alias: openAlias,
  abbr: openAbbreviation,
  mapfile: openCallback("-C"),
  readarray: openCallback("-C"),
  complete: openCallback("-C"),
  compgen: openCallback("-C"),
  bind: openCallback("-x"),
};
