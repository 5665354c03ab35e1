import type { ShellWord, Wrapper } from "../types.js";
import { local, type Opener, type OpenerInput, type Opening, wordOf } from "./opening.js";
import { readWrapper, type WrapperSpec } from "./wrapper-options.js";

/** Another environment or another user around a command. */

const ENV: WrapperSpec = {
  flags: "i 0 v ignore-environment null debug block-signal default-signal ignore-signal list-signal-handling",
  taking: "u C S a P unset chdir split-string argv0",
  idle: "help version",
  assignments: true,
};

const openEnv: Opener = (args) => {
  const bare = args[0]?.text === "-" ? args.slice(1) : args;
  const read = readWrapper(bare, ENV);
  if (read === undefined || read.given.has("help") || read.given.has("version")) return [];
  const wrapper = local("env");
  const openings: Opening[] = read.doubtful ? [{ kind: "opaque" }] : [];
  const folder = read.given.get("C") ?? read.given.get("chdir");
  const split = read.given.get("S") ?? read.given.get("split-string");
  for (const rest of read.rests) {
    if (split !== undefined) {
      const words = splitString(split);
      openings.push(...openEnv([...words, ...rest], NO_STDIN));
    } else if (rest[0]?.text === "-") openings.push(...openEnv(rest.slice(1), NO_STDIN));
    else if (rest.length > 0)
      openings.push({ kind: "argv", argv: rest, wrapper, assignments: read.assignments, folder });
  }
  return openings;
};

const NO_STDIN: OpenerInput = {
  program: "env",
  stdin: undefined,
  fed: false,
  assignments: [],
  fileText: () => undefined,
};

/** `env -S` cuts at blanks and at `\_`, with quotes and backslashes of its own. */
function splitString(word: ShellWord): readonly ShellWord[] {
  const spaced = word.text.replace(
    /("(?:\\[\s\S]|[^"\\])*"|'(?:\\[\s\S]|[^'\\])*')|\\_/g,
    (_whole, quoted) => quoted ?? " ",
  );
  return [...spaced.matchAll(/(?:"(?:\\[\s\S]|[^"\\])*"|'(?:\\[\s\S]|[^'\\])*'|\\[\s\S]|[^\s"'\\])+/g)].map(
    ([part]) =>
      wordOf(
        part
          .replace(
            /"((?:\\[\s\S]|[^"\\])*)"|'((?:\\[\s\S]|[^'\\])*)'/g,
            (_whole, double, single) => double ?? single,
          )
          .replace(/\\_/g, " ")
          .replace(/\\([\s\S])/g, "$1"),
        word,
      ),
  );
}

const SU: WrapperSpec = {
  flags: "l m p P f login preserve-environment pty fast session-command",
  taking: "g G s w T group supp-group shell whitelist-environment",
  idle: "h V help version",
  text: "c command session-command",
};

/** `su [options] [-] [user [words]]`; options may also follow the user. */
const openSu: Opener = (args, { program, fed }) => {
  const read = readWrapper(
    args.filter((word) => word.text !== "-"),
    SU,
  );
  if (read === undefined || read.given.has("help") || read.given.has("version")) return [];
  const wrapper: Wrapper = { program, kind: "root" };
  const after = readWrapper(read.rests.at(-1)?.slice(1) ?? [], SU);
  const text =
    read.given.get("c") ?? read.given.get("command") ?? after?.given.get("c") ?? after?.given.get("command");
  if (text !== undefined) return [{ kind: "text", text, wrapper }];
  return fed ? [{ kind: "input", wrapper }] : [];
};

const openRunuser: Opener = (args, input) => {
  const named = args.findIndex((word) => /^(?:-u|--user)$/.test(word.text));
  if (named < 0) return openSu(args, input);
  const rest = args.slice(named + 2);
  const argv = rest[0]?.text === "--" ? rest.slice(1) : rest;
  return argv.length === 0 ? [] : [{ kind: "argv", argv, wrapper: { program: input.program, kind: "root" } }];
};

export const USER_OPENERS: Readonly<Record<string, Opener>> = {
  env: openEnv,
  genv: openEnv,
  su: openSu,
  sg: openSu,
  newgrp: openSu,
  runuser: openRunuser,
};
