import { languageOf } from "../code/languages.js";
import type { ShellWord, SimpleCommand } from "../types.js";

/** Most commands that are followed back; no pipe that is judged at all is longer. */
const FURTHEST = 1_024;
const NOBODY: readonly SimpleCommand[] = [];

const SHELLS = new Set("sh bash zsh ksh mksh dash ash csh tcsh fish rbash busybox".split(" "));
const DOWNLOADERS = new Set(
  "curl wget wget2 fetch aria2c axel lynx w3m links elinks http https xh xhs curlie lwp-request lwp-download get ftp tftp lftp nc ncat netcat socat telnet dig drill nslookup host gsutil ssh scp sftp rsync invoke-webrequest iwr".split(
    " ",
  ),
);
/** Programs through which text leaves the machine. */
const SENDERS = new Set(
  "curl wget wget2 http https xh xhs curlie nc ncat netcat socat telnet ftp tftp lftp scp sftp rsync ssh mail mailx sendmail mutt msmtp swaks dig drill nslookup host ping ping6 traceroute whois gh glab gist slackcat rclone gsutil s3cmd mc azcopy croc wormhole magic-wormhole transfer ffsend irc ntfy openssl logger-remote smbclient neomutt s-nail sendemail mpack pastebinit wgetpaste fpaste hastebin haste sprunge termbin onionshare onionshare-cli warp localsend kdeconnect-cli".split(
    " ",
  ),
);

const producers = new WeakMap<SimpleCommand, readonly SimpleCommand[]>();

/** Every command whose output, through any number of pipes, reaches this one; the nearest first. */
export function producersOf(command: SimpleCommand): readonly SimpleCommand[] {
  if (command.input.kind !== "commands") return NOBODY;
  const known = producers.get(command);
  if (known !== undefined) return known;
  // What stands in front of a producer that was reached already has been reached with it.
  const found = new Set<SimpleCommand>();
  producers.set(command, NOBODY);
  for (const producer of command.input.from.toReversed()) {
    if (found.size >= FURTHEST) break;
    if (found.has(producer)) continue;
    found.add(producer);
    for (const further of producersOf(producer)) found.add(further);
  }
  const all = [...found];
  producers.set(command, all);
  return all;
}

/** Commands whose output became part of the word, and what those read. */
export function producersOfWord(word: ShellWord): readonly SimpleCommand[] {
  const outputs = word.outputs ?? [];
  return [...outputs, ...outputs.flatMap((command) => producersOf(command))];
}

export function isShell(program: string): boolean {
  return SHELLS.has(program);
}

/** A shell or any other program that runs text as code. */
export function runsCode(program: string): boolean {
  if (isShell(program)) return true;
  const language = languageOf(program)?.language.name;
  return language !== undefined && language !== "awk";
}

export function isDownload(command: SimpleCommand): boolean {
  if (DOWNLOADERS.has(command.program)) return true;
  const words = command.args
    .slice(0, 4)
    .map(({ text }) => text)
    .join(" ");
  if (command.program === "aws") return /^s3 cp .* -$/.test(words) || /^ssm |^secretsmanager /.test(words);
  if (command.program === "gh") return /^(?:api|gist view|release download)/.test(words);
  if (command.program === "openssl") return words.startsWith("s_client");
  return command.program === "git" && /^archive --remote/.test(words);
}

/** Turns text nobody can read into text that is run. */
export function isDecoder(command: SimpleCommand): boolean {
  const { program } = command;
  const options = command.args.map(({ text }) => text);
  if (/^(?:base64|base32|basenc|gbase64|uudecode|uuencode)$/.test(program))
    return program === "uudecode" || options.some((text) => /^(?:-[a-zA-Z]*[dD]|--decode|-di)/.test(text));
  if (program === "xxd") return options.some((text) => /^-[a-z]*r/.test(text));
  if (program === "openssl") return options.includes("-d") || options.includes("-decrypt");
  if (/^(?:gpg2?|age|sops|ccrypt|mcrypt)$/.test(program))
    return options.some((text) => /^(?:-d|--decrypt|decrypt)$/.test(text));
  return /^(?:rev|tr|iconv|gunzip|zcat|bunzip2|bzcat|unxz|xzcat|zstdcat|uncompress|hexdump|od|rot13|brotli)$/.test(
    program,
  );
}

/** True for commands that send what they read, or what they are given, somewhere else. */
export function isSender(command: SimpleCommand): boolean {
  if (!SENDERS.has(command.program) && command.program !== "aws" && command.program !== "xargs") return false;
  const words = command.args.slice(0, 3).map(({ text }) => text);
  if (command.program === "aws") return words.includes("s3") && words.includes("cp");
  if (command.program === "gh") return words[0] === "gist" || words[0] === "api" || words[0] === "issue";
  if (command.program === "openssl") return words[0] === "s_client";
  if (command.program === "xargs")
    return command.args.some(({ text }) => SENDERS.has(text.slice(text.lastIndexOf("/") + 1)));
  return true;
}

/** `gh auth token | docker login --password-stdin`: what it prints is used, not shown. */
export function logsInWith(command: SimpleCommand): boolean {
  return command.feeds.some(({ args }) => args.some(({ text }) => text === "login"));
}
