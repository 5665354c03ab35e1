import type { ShellWord, Wrapper } from "../types.js";
import { joinWords, local, type Opener, type Opening, wordOf } from "./opening.js";

/** Tools for building, watching and many hosts: their options, operands and files hold commands. */

/** Every operand is a command line of its own. */
function openEach(taking: readonly string[]): Opener {
  return (args, { program }) => {
    const wrapper = local(program);
    const openings: Opening[] = [];
    for (let at = 0; at < args.length; at++) {
      const word = args[at] as ShellWord;
      if (taking.includes(word.text)) at++;
      else if (!word.text.startsWith("-")) openings.push({ kind: "text", text: word, wrapper });
    }
    return openings;
  };
}

/** Options whose value is a command line, wherever they stand. */
function openOptions(options: readonly string[]): Opener {
  return (args, { program }) => {
    const wrapper = local(program);
    return args.flatMap((word, index): readonly Opening[] => {
      if (options.includes(word.text)) {
        const text = args[index + 1];
        return text === undefined ? [] : [{ kind: "text", text, wrapper }];
      }
      const name = options.find((option) => option.startsWith("--") && word.text.startsWith(`${option}=`));
      return name === undefined
        ? []
        : [{ kind: "text", text: wordOf(word.text.slice(name.length + 1), word), wrapper }];
    });
  };
}

/** `cargo watch -s 'text' -x 'verb of cargo' -- cmd`. */
const openCargo: Opener = (args, input) => {
  if (args[0]?.text !== "watch") return [];
  const wrapper = local("cargo watch");
  const dashes = args.findIndex((word) => word.text === "--");
  const argv = dashes < 0 ? [] : args.slice(dashes + 1);
  const texts = openOptions(["-s", "--shell"])(args, input);
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

/** A makefile on standard input, or one given in an option: its recipes are lines for a shell. */
const openMake: Opener = (args, { program, stdin }) => {
  const wrapper = local(program);
  const openings: Opening[] = [];
  for (const [index, word] of args.entries()) {
    const given = /^--eval(?:=([\s\S]*))?$/.exec(word.text);
    if (given !== null) openings.push(...recipes(given[1] ?? args[index + 1]?.text ?? "", wrapper));
  }
  const fromInput = args.some(
    (word, index) => /^(?:-f|--file|--makefile)$/.test(word.text) && args[index + 1]?.text === "-",
  );
  if (fromInput || args.some((word) => /^(?:-f-|--(?:make)?file=-)$/.test(word.text))) {
    openings.push(...(stdin === undefined ? [{ kind: "opaque" } as const] : recipes(stdin, wrapper)));
  }
  return openings;
};

function recipes(makefile: string, wrapper: Wrapper): readonly Opening[] {
  return makefile.split("\n").flatMap((line): readonly Opening[] => {
    const recipe =
      /^\t[@+-]*\s*(.+)$/.exec(line)?.[1] ?? /^[^\s#:=][^:=]*:[^;=]*;\s*[@+-]*(.+)$/.exec(line)?.[1];
    const text = recipe?.replaceAll("$$", "$");
    return text === undefined ? [] : [{ kind: "text", text: wordOf(text), wrapper, foreign: true }];
  });
}

/** Tools for many hosts: the command is text for each of them. */
const openAnsible: Opener = (args, { program }) => {
  const module =
    args[args.findIndex((word) => /^(?:-m|--module-name)$/.test(word.text)) + 1]?.text ?? "command";
  const at = args.findIndex((word) => /^(?:-a|--args)$/.test(word.text));
  const text = args[at + 1];
  if (at < 0 || text === undefined || !/(?:^|\.)(?:shell|command|raw|script)$/.test(module)) return [];
  return [{ kind: "text", text, wrapper: { program, kind: "remote" } }];
};

const openSalt: Opener = (args, { program }) => {
  const at = args.findIndex((word) => /^cmd\.(?:run|shell|run_all)$/.test(word.text));
  const words = at < 0 ? [] : args.slice(at + 1).filter((word) => !/^\w+=/.test(word.text));
  return words.length === 0
    ? []
    : [{ kind: "text", text: joinWords(words), wrapper: { program, kind: "remote" } }];
};

export const TOOL_OPENERS: Readonly<Record<string, Opener>> = {
  hyperfine: openEach([
    "-w",
    "-m",
    "-M",
    "-r",
    "-N",
    "-S",
    "-L",
    "-P",
    "-u",
    "--warmup",
    "--runs",
    "--min-runs",
    "--shell",
    "--export-json",
    "--export-markdown",
    "--export-csv",
    "-n",
    "--command-name",
  ]),
  concurrently: openEach([
    "-n",
    "-c",
    "-m",
    "-p",
    "-l",
    "-t",
    "-s",
    "--names",
    "--prefix-colors",
    "--max-processes",
    "--prefix",
    "--success",
  ]),
  nodemon: openOptions(["-x", "--exec"]),
  chokidar: openOptions(["-c", "--command"]),
  cargo: openCargo,
  just: openJust,
  "nix-shell": openOptions(["--run", "--command"]),
  nix: openNix,
  make: openMake,
  gmake: openMake,
  ansible: openAnsible,
  salt: openSalt,
  "salt-call": openSalt,
  man: openOptions(["-P", "--pager"]),
  rsync: openOptions(["-e", "--rsh"]),
  sort: openOptions(["--compress-program"]),
  scp: openOptions(["-S"]),
  sftp: openOptions(["-S"]),
};
