import { inlineCode } from "../code/inline.js";
import { parseOptions } from "../read/options.js";
import type { Finding, Rule, RuleSet, ShellWord, SimpleCommand } from "../types.js";
import {
  consumersOf,
  isDecoder,
  isDownload,
  isShell,
  producersOf,
  producersOfWord,
  runsCode,
} from "./flows.js";
import { danger, forPrograms, valuesOf } from "./verb-table.js";

const FETCHED = "runs code that is fetched from the network";
const DECODED = "runs code that is decoded first, so that nobody can read it";
const PRINTED = "runs whatever another command prints as code";

/** Programs that hand a file on as it is; a project file that is piped into an interpreter was named by somebody. */
const PLAIN_READERS = new Set(
  "cat bat head tail sed grep envsubst tee nl dos2unix cpp m4 jinja2 echo printf sort uniq git".split(" "),
);

/** An interpreter whose program comes through a pipe or a substitution. */
const pipedCode: Rule = (command) => {
  if (!runsCode(command.program)) return undefined;
  for (const word of codeWords(command)) {
    if (!isShell(command.program) && /^\/(?:dev|proc\/self)\/fd\/\d+$/.test(word.text))
      return danger("remote-code.printed", PRINTED, word);
    const finding = judgeProducers(producersOfWord(word), word);
    if (finding !== undefined) return finding;
  }
  if (!readsProgram(command)) return undefined;
  if (command.input.kind === "file" && /^\/dev\/(?:tcp|udp)\//.test(command.input.path.text))
    return danger("remote-code.socket", FETCHED, command.input.path);
  const producers = producersOf(command);
  const finding = judgeProducers(producers);
  if (finding !== undefined || producers.length === 0 || isShell(command.program)) return finding;
  return producers.every(({ program }) => PLAIN_READERS.has(program))
    ? undefined
    : danger("remote-code.printed", PRINTED);
};

function judgeProducers(producers: readonly SimpleCommand[], word?: ShellWord): Finding | undefined {
  if (producers.some(isDownload)) return danger("remote-code.piped", FETCHED, word);
  return producers.some(isDecoder) ? danger("remote-code.decoded", DECODED, word) : undefined;
}

/** Words that are code or name the file with it. */
function codeWords(command: SimpleCommand): readonly ShellWord[] {
  const code = inlineCode(command);
  if (code !== undefined) return code.script === undefined ? code.texts : [...code.texts, code.script];
  const [first, second] = command.args.filter(({ text }) => !/^[-+][a-zA-Z]+$/.test(text) || text === "-");
  const given = command.args.some(({ text }) => /^-[a-z]*c$/.test(text));
  return [first, given ? second : undefined].filter((word) => word !== undefined);
}

function readsProgram(command: SimpleCommand): boolean {
  const code = inlineCode(command);
  if (code !== undefined) return code.fromInput;
  const operands = command.args.filter(({ text }) => !text.startsWith("-") && !text.startsWith("+"));
  return operands.length === 0 || command.args.some(({ text }) => /^-[a-z]*s[a-z]*$/.test(text));
}

/** Programs that take statements, or code in the words of `source`, from a pipe. */
const fedByDownload: Rule = (command) => {
  const { program, args } = command;
  const reads =
    (/^(?:source|\.)$/.test(program) &&
      (args.length === 0 || /^(?:-|\/dev\/stdin)$/.test(args[0]?.text ?? ""))) ||
    (program === "deno" && args[0]?.text === "run" && args.some(({ text }) => text === "-")) ||
    (program === "bun" && args[0]?.text === "run" && args.some(({ text }) => text === "-")) ||
    (program === "go" && args[0]?.text === "run" && args.some(({ text }) => text === "/dev/stdin")) ||
    (CLIENTS.has(program) &&
      !args.some(({ text }) => /^(?:-c|-e|--command|--execute|--eval|-f|--file)$/.test(text)));
  return reads && producersOf(command).some(isDownload) ? danger("remote-code.piped", FETCHED) : undefined;
};
const CLIENTS = new Set(
  "psql mysql mariadb sqlite3 mongosh mongo redis-cli cqlsh clickhouse-client at batch crontab".split(" "),
);

/** A shell whose output goes back over the network. */
const shellOverNetwork: Rule = (command) => {
  if (!isShell(command.program)) return undefined;
  const sender = consumersOf(command).find(({ program }) =>
    /^(?:nc|ncat|netcat|socat|telnet|openssl)$/.test(program),
  );
  return sender === undefined || !readsProgram(command)
    ? undefined
    : danger("remote-code.reverse-shell", "connects a shell to the network", sender.name);
};

/** Bash opens a connection for `/dev/tcp/host/port`. */
const socketFile: Rule = (command) => {
  const redirect = command.redirects.find(({ target }) => /^\/dev\/(?:tcp|udp)\//.test(target.text));
  return redirect === undefined
    ? undefined
    : danger("remote-code.socket", "opens a network connection as a file", redirect.target);
};

const netcat: Rule = (command) => {
  const options = parseOptions(command.args, {
    taking: ["e", "exec", "c", "sh-exec", "lua-exec", "p", "w", "s", "q", "X", "x", "i"],
  });
  const program = valuesOf(options, "e", "exec", "c", "sh-exec", "lua-exec")[0];
  return program === undefined
    ? undefined
    : danger("remote-code.reverse-shell", "gives a program to whoever connects", program);
};

const socat: Rule = ({ args }) => {
  const word = args.find(({ text }) => /(?:^|!!)(?:exec|system|shell)[:=]/i.test(text));
  return word === undefined
    ? undefined
    : danger("remote-code.reverse-shell", "gives a program to whoever connects", word);
};

export const RULES: RuleSet = {
  family: "remote-code",
  programs: { ...forPrograms(["nc", "ncat", "netcat"], netcat), socat },
  any: [pipedCode, fedByDownload, shellOverNetwork, socketFile],
};
