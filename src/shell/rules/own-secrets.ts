import { plainNames } from "../../places/match-place.js";
import type { Rule, ShellWord, SimpleCommand } from "../types.js";
import { placeOf, segmentIn } from "./segments.js";
import { danger } from "./verb-table.js";

const KEYS = "reads the runtime's own keys, with which its questions can be answered";
const ANSWERS = "talks to the runtime's own list of questions and can answer them";

const HOMES: ReadonlySet<string> = new Set([".hermes", "hermes_home"]);
const FILES: ReadonlySet<string> = new Set(plainNames("$HERMES", ({ read }) => read !== "allow"));
/** Names nobody else uses. */
const DISTINCT: ReadonlySet<string> = new Set(plainNames("**/", ({ what }) => what === "hermes-secrets"));
/** Programs that tell about a file without its content. */
const LOOKING = new Set(
  (
    "ls exa eza lsd tree stat test [ [[ file wc du chmod touch mkdir echo printf realpath readlink dirname basename cd " +
    "pushd md5sum sha256sum getfacl lsattr namei rm unlink git"
  ).split(" "),
);

/** A file of the runtime's home that holds keys or what was asked and answered, or the whole home. */
export function isOwnSecret(word: ShellWord): boolean {
  if (!couldName(word)) return false;
  const { segments } = placeOf(word);
  const name = segments.at(-1) ?? "";
  if (DISTINCT.has(name)) return true;
  const moved = word.variables?.includes("HERMES_HOME") === true;
  const home = moved ? 0 : segments.findIndex((part) => part.startsWith(".h") && segmentIn(part, HOMES));
  if (home < 0) return false;
  const next = segments[home + 1];
  return next === undefined || (next === "*" ? true : segmentIn(next, FILES));
}

/** Every command is asked: most words are told from a path to a key at a glance. */
function couldName({ text, variables }: ShellWord): boolean {
  return /\.h[\w*?[]|server\.token|approvals\.key|anthropic_oauth/i.test(text) || variables !== undefined;
}

/** `cat ~/.hermes/server.token`, `curl -d @…/approvals.key`, `sqlite3 …/state.db`: whatever reads them. */
export const readsOwnSecrets: Rule = (command) => {
  for (const { kind, target } of command.redirects)
    if (kind === "read" && isOwnSecret(target) && placeOf(target).segments.at(-1) !== ".hermes")
      return danger("own-process.secret", KEYS, target);
  if (LOOKING.has(command.program)) return undefined;
  for (const word of command.args) {
    const path = pathIn(word);
    if (path !== undefined && isOwnSecret(path) && !isOnlySearched(command, path))
      return danger("own-process.secret", KEYS, word);
  }
  return undefined;
};

/** The path in `@path`, `if=path`, `--post-file=path`, `key:path`. */
function pathIn(word: ShellWord): ShellWord | undefined {
  if (!couldName(word)) return undefined;
  const cut = /^(?:-[a-zA-Z](?=[~/.])|--?[\w-]+[=:]|[\w.-]*=?[@<]|[\w-]+=)/.exec(word.text)?.[0] ?? "";
  return cut === "" ? word : { ...word, text: word.text.slice(cut.length) };
}

/** The home as a whole is searched, listed or copied to; only packing or copying it away takes the keys along. */
function isOnlySearched({ program, args }: SimpleCommand, path: ShellWord): boolean {
  if (placeOf(path).segments.at(-1) !== ".hermes") return false;
  if (/^(?:cp|rsync|scp|mv|ln)$/.test(program)) return args.at(-1)?.text === path.text;
  return (
    !/^(?:tar|zip|7z|gtar|bsdtar|cpio|sftp|rclone|curl|ag|rg|cat)$/.test(program) && !greps(program, args)
  );
}

function greps(program: string, args: readonly ShellWord[]): boolean {
  return (
    /^[efz]?grep$/.test(program) &&
    args.some(({ text }) => /^-[a-zA-Z]*[rR]|^--(?:deref.*|r)ecursive/.test(text))
  );
}

const LOCAL_QUESTIONS =
  /\/v1\/approvals\b|(?:\/\/|@)(?:127\.|localhost|\[::1?\]|0\.0\.0\.0|0x7f|2130706433|\uFFFC)[^\s?#]*\/approvals\b/i;

/** A request to the server that answers questions, from a program or as text into a connection. */
export const answersByRequest: Rule = (command) => {
  const word = command.args.find(
    ({ text }) => /approvals|%[46]1/i.test(text) && LOCAL_QUESTIONS.test(decoded(text)),
  );
  if (word !== undefined && !PRINTERS.has(command.program))
    return danger("own-process.approvals", ANSWERS, word);
  const { input } = command;
  return input.kind === "text" &&
    CONNECTORS.has(command.program) &&
    LOCAL_QUESTIONS.test(decoded(input.text.text))
    ? danger("own-process.approvals", ANSWERS, input.text)
    : undefined;
};
const PRINTERS = new Set(
  "echo printf grep egrep rg ag git cat sed awk gawk less head tail ls find jq tee gh".split(" "),
);
const CONNECTORS = new Set("nc ncat netcat socat telnet openssl curl bash sh".split(" "));

/** Longer words are no address; what a request needs stands in their beginning. */
const LONGEST_ADDRESS = 4000;

function decoded(whole: string): string {
  const text = whole.slice(0, LONGEST_ADDRESS);
  return text.includes("%")
    ? text.replace(/%([2-7][0-9a-f])/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
    : text;
}

const RUNTIMES =
  /^(?:node|nodejs|bun|deno|tsx|ts-node|npx|bunx|pnpx|npm|pnpm|yarn|uvx|pipx|python[\d.]*|corepack)$/;
const OWN_PROGRAM =
  /(?:^|[/@\\])hermes(?:[-_](?:tools|agent|cli))?(?:@[\w.^~-]+)?(?:\.[cm]?[jt]s|\.cmd|\.exe)?$|hermes[^\s]*\.[cm]?[jt]s$|(?:^|\/)(?:dist|src|build|lib)\/cli\/(?:main|index|program)\.[cm]?[jt]s$|^hermes[-_]?\w*$/i;

/** Only the end of a path matters, and only so much of it is looked at. */
function isOwnProgram(word: ShellWord | undefined): boolean {
  return OWN_PROGRAM.test((word?.text ?? "").slice(-200));
}

/** The runtime's own program reached by its file: `node dist/cli/main.js approvals approve 3`. */
export function asOwnProgram(command: SimpleCommand): SimpleCommand | undefined {
  if (isOwnProgram(command.name)) return command;
  if (!RUNTIMES.test(command.program)) return undefined;
  const limit = Math.min(command.args.length, 12);
  for (let at = 0; at < limit; at++)
    if (isOwnProgram(command.args[at])) return { ...command, args: command.args.slice(at + 1) };
  return asksOfQuestions(command);
}

/** Whatever the file is called: these two words together belong to this runtime. */
function asksOfQuestions(command: SimpleCommand): SimpleCommand | undefined {
  const at = command.args.findIndex(({ text }) => text === "approvals");
  const verb = command.args[at + 1]?.text ?? "";
  return at > 0 && /^(?:approve|deny|resume|revoke|grant)$/.test(verb)
    ? { ...command, args: command.args.slice(at) }
    : undefined;
}
