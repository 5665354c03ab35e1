import { plainNames } from "../../places/match-place.js";
import type { ShellWord, SimpleCommand } from "../types.js";
import { producersOfWord } from "./flows.js";
import { type Condition, names, subject } from "./row.js";
import { placeOf, segmentIn } from "./segments.js";

const STOPS = "stops the runtime that is carrying out this command";
const LOOSENS = "changes what the runtime allows";
const GUARDS = "stops or loosens the runtime that guards this agent";
const KEYS = "reads the runtime's own keys, with which its questions can be answered";
const ANSWERS = "talks to the runtime's own list of questions and can answer them";
const ANSWERED = "gives an answer that only a person gives, on the page or in their own terminal";
const OWN = "agent.self";

const isNamed = (word: ShellWord): boolean => /hermes/i.test(word.text);

/** `pkill -f hermes`, `kill $(pgrep hermes)`, `kill "$(cat ~/.hermes/gateway.pid)"`, the shell's own parent. */
const killsRuntime: Condition = (call) => {
  const { command, args } = call;
  if (/^(?:pkill|killall|skill|snice|xkill)$/.test(command.program))
    return args.find((word) => !word.text.startsWith("-") && isNamed(word));
  if (command.program !== "kill" || call.find(/^-(?:l|L|0|-list|s0)$/) !== undefined) return undefined;
  const word = args.find(
    (each) =>
      each.variables?.includes("PPID") === true ||
      producersOfWord(each).some((producer) => producer.args.some(isNamed)),
  );
  const { input } = command;
  const piped = input.kind === "commands" && input.from.some((producer) => producer.args.some(isNamed));
  return word ?? (piped ? {} : undefined);
};

const KEEPERS = names(
  "systemctl service launchctl rc-service sv supervisorctl pm2 docker podman kubectl brew s6-svc initctl loginctl",
);
const STOP_VERB =
  /^(?:stop|restart|disable|mask|kill|reload|unload|bootout|remove|try-restart|condrestart|force-reload|kickstart|rm|pause|delete|down|edit|set-property|revert)$/;
const stopsRuntime: Condition = (call) =>
  KEEPERS.has(call.command.program) && call.find(STOP_VERB) !== undefined
    ? call.args.find(isNamed)
    : undefined;

const endsTerminal: Condition = (call) =>
  /^(?:tmux|screen|byobu)$/.test(call.command.program) &&
  call.find(/^(?:kill-(?:session|window|pane|server)|quit|kill|respawn-\w+|send-keys|stuff)$/) !== undefined
    ? call.args.find(isNamed)
    : undefined;

/** Variables that switch safeguards off or move them elsewhere; unsetting or reading them does nothing. */
const VARIABLES =
  /^HERMES_(?:YOLO(?:_MODE)?|HOME|CONFIG|APPROVALS?(?:_\w+)?|PERMISSIONS?(?:_\w+)?|TERMINAL_\w+|SECURITY_\w+|COMMAND_\w+|TOOLS_\w+|PLUGINS_\w+|SANDBOX|SESSION_KEY|UNSAFE\w*|ALLOW\w*|DISABLE\w*|PROFILE)$/;
/** Those that loosen something by being on; the others are settings, and their "off" may be what loosens. */
const SWITCHES = /^HERMES_(?:YOLO|UNSAFE|ALLOW|DISABLE)/;
const OWN_PROGRAMS = names("hermes hermes-agent hermes-tools");
const DECLARERS = names("export declare typeset setx set launchctl setenv");
const setsVariable: Condition = ({ command: { program, args, assignments } }) => {
  // In front of the program itself any of its settings can be one that loosens.
  const own = OWN_PROGRAMS.has(program) ? assignments.find(({ name }) => /^HERMES_/i.test(name)) : undefined;
  if (own !== undefined) return { word: own.value, reason: `${LOOSENS} through ${own.name}` };
  const declares = DECLARERS.has(program);
  if (!declares && assignments.length === 0) return undefined;
  const exported = declares
    ? args.flatMap((value) => {
        const [name = "", text] = value.text.split("=", 2);
        return text === undefined ? [] : [{ name, text, value }];
      })
    : [];
  const given = [...assignments.map(({ name, value }) => ({ name, text: value.text, value })), ...exported];
  const found = given.find(
    ({ name, text }) =>
      VARIABLES.test(name) && text !== "" && !(SWITCHES.test(name) && /^(?:0|false|no|off)$/i.test(text)),
  );
  return found && { word: found.value, reason: `${LOOSENS} through ${found.name}` };
};

const HOMES: ReadonlySet<string> = new Set([".hermes", "hermes_home"]);
const FILES: ReadonlySet<string> = new Set(plainNames("$HERMES", ({ read }) => read !== "allow"));
/** Names nobody else uses. */
const DISTINCT: ReadonlySet<string> = new Set(plainNames("**/", ({ what }) => what === "hermes-secrets"));
/** Programs that tell about a file without its content. */
const LOOKING = names(
  "ls exa eza lsd tree stat test [ [[ file wc du chmod touch mkdir echo printf realpath readlink dirname basename cd " +
    "pushd md5sum sha256sum getfacl lsattr namei rm unlink git",
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
  return next === undefined || next === "*" || segmentIn(next, FILES);
}

/** Every command is asked: most words are told from a path to a key at a glance. */
function couldName({ text, variables }: ShellWord): boolean {
  return /\.h[\w*?[]|server\.token|approvals\.key|anthropic_oauth/i.test(text) || variables !== undefined;
}

/** `cat ~/.hermes/server.token`, `curl -d @…/approvals.key`, `sqlite3 …/state.db`: whatever reads them. */
const readsOwnSecrets: Condition = ({ command }) => {
  const typed = command.redirects.find(
    ({ kind, target }) =>
      kind === "read" && isOwnSecret(target) && placeOf(target).segments.at(-1) !== ".hermes",
  );
  if (typed !== undefined) return typed.target;
  if (LOOKING.has(command.program)) return undefined;
  return command.args.find((word) => {
    const path = pathIn(word);
    return path !== undefined && isOwnSecret(path) && !isOnlySearched(command, path);
  });
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
  if (/^(?:tar|zip|7z|gtar|bsdtar|cpio|sftp|rclone|curl|ag|rg|cat)$/.test(program)) return false;
  const isRecursive = ({ text }: ShellWord): boolean => /^-[a-zA-Z]*[rR]|^--(?:deref.*|r)ecursive/.test(text);
  return !(/^[efz]?grep$/.test(program) && args.some(isRecursive));
}

const LOCAL_QUESTIONS =
  /\/v1\/approvals\b|(?:\/\/|@)(?:127\.|localhost|\[::1?\]|0\.0\.0\.0|0x7f|2130706433|\uFFFC)[^\s?#]*\/approvals\b/i;
const PRINTERS = names("echo printf grep egrep rg ag git cat sed awk gawk less head tail ls find jq tee gh");
const CONNECTORS = names("nc ncat netcat socat telnet openssl curl bash sh");

/** A request to the server that answers questions, from a program or as text into a connection. */
const answersByRequest: Condition = ({ command }) => {
  const { program, args, input } = command;
  const word = PRINTERS.has(program)
    ? undefined
    : args.find(({ text }) => /approvals|%[46]1/i.test(text) && LOCAL_QUESTIONS.test(decoded(text)));
  if (word !== undefined || input.kind !== "text" || !CONNECTORS.has(program)) return word;
  return LOCAL_QUESTIONS.test(decoded(input.text.text)) ? input.text : undefined;
};

/** Longer words are no address; what a request needs stands in their beginning. */
const LONGEST_ADDRESS = 4000;

function decoded(whole: string): string {
  const text = whole.slice(0, LONGEST_ADDRESS);
  return text.includes("%")
    ? text.replace(/%([2-7][0-9a-f])/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
    : text;
}

const RUNTIMES = /^(?:node|nodejs|bun|deno|tsx|ts-node|npx|bunx|pnpx|npm|pnpm|yarn|uvx|pipx|python[\d.]*)$/;
/** Whatever the file is called: these two words together belong to this runtime. */
const answersByFile: Condition = ({ command: { program, args } }) =>
  RUNTIMES.test(program)
    ? args.find(
        ({ text }, index) =>
          index > 1 &&
          args[index - 1]?.text === "approvals" &&
          /^(?:approve|deny|resume|revoke|grant)$/.test(text),
      )
    : undefined;

/** The agent may not stop, replace or loosen the runtime that watches it, nor answer its questions. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("own-process", [
  { program: "hermes|hermes-agent|hermes-tools", taking: "config profile session m model home env t toolsets timeout",
    not_match: ["hermes tools list", "hermes config path"], rows: [
    // What a person has to say themselves is never said by a tool, not even when a person lets it run.
    { path: "approval|approvals approve|allow|grant|always|answer|resume", level: "hardline", rule: "own-process.approve",
      reason: ANSWERED, match: ["hermes approvals approve 3", "npx -y hermes-tools approvals resume 3"],
      not_match: ["hermes approvals list"] },
    { path: "mcp approve", level: "hardline", rule: "own-process.approve", reason: ANSWERED,
      match: ["hermes mcp approve evil --yes"], not_match: ["hermes mcp list"] },
    { path: "changes|reload accept|approve", level: "hardline", rule: "own-process.approve", reason: ANSWERED,
      match: ["hermes changes accept"] },
    { path: "skills accept", level: "hardline", rule: "own-process.approve", reason: ANSWERED,
      match: ["hermes skills accept report --anyway"], not_match: ["hermes skills list"] },
    { path: "gateway pair", level: "hardline", rule: "own-process.approve", reason: ANSWERED,
      match: ["hermes gateway pair 123456"], not_match: ["hermes gateway status"] },
    { path: "skills install|remove|reject", rule: OWN, reason: LOOSENS, match: ["hermes skills install ./evil"] },
    { path: "sessions budget", level: "hardline", rule: "own-process.approve", reason: ANSWERED,
      match: ["env -u AI_AGENT hermes sessions budget last 99"] },
    { path: "sessions show|search|export|list|delete", rule: OWN, reason: "reads or deletes conversations past the agent's own tools",
      match: ["hermes sessions export 1"] },
    { options: "home config", rule: OWN, reason: "starts this runtime with other settings than those it works under",
      match: ["hermes --home ./fresh call terminal command=ls"], not_match: ["hermes doctor"] },
    { path: "call|run", options: "profile yes t toolsets", rule: OWN, reason: "starts calls under other rules than those it works under",
      match: ["hermes --profile full call read_file path=x"], not_match: ["hermes call read_file path=x"] },
    { path: "cron add|resume|run|tick", rule: OWN, reason: "makes the runtime call tools by itself",
      match: ["hermes cron add 1h --script ls"], not_match: ["hermes cron list"] },
    { path: "tool|tools register|unregister|import|dev", rule: OWN, reason: LOOSENS, match: ["hermes tools import openapi x.json"],
      not_match: ["hermes tools info terminal"] },
    { path: "update|uninstall|reset|trust|grant|approve", rule: OWN, reason: GUARDS, match: ["hermes update"] },
    { path: "gateway|server|serve|daemon stop|restart|kill|uninstall", rule: OWN, reason: GUARDS,
      match: ["hermes gateway stop"] },
    { path: "config set|unset|edit|import|reset", rule: OWN, reason: GUARDS,
      match: ["hermes config set tools.timeout 5"] },
    { path: "approval|approvals|grants|permission|permissions approve|allow|grant|add|set|edit|import|always|clear|revoke|remove|deny",
      rule: OWN, reason: GUARDS, match: ["hermes approvals deny 3"] },
    { word: /^--yolo$/, rule: OWN, reason: GUARDS, match: ["hermes chat --yolo"],
      not_match: ["hermes doctor"] },
    { word: /^--(?:dangerously-\w[\w-]*|no-approvals?|auto-approve|approve-all|accept-all)$/,
      rule: "own-process.approvals", reason: LOOSENS, match: ["hermes --dangerously-a"],
      not_match: ["hermes --help"] },
    { path: "service stop|restart|kill|uninstall", reason: STOPS, match: ["hermes service stop"] },
    { path: "upgrade|self-update|downgrade", reason: "replaces or removes the runtime",
      match: ["hermes upgrade"] },
    { path: "config add|remove|trust|untrust", reason: LOOSENS, match: ["hermes config trust"] },
    { path: "approvals mode", reason: "answers the runtime's own questions", match: ["hermes approvals mode off"] },
    { path: "tools|toolsets|toolset enable", reason: LOOSENS, match: ["hermes tools enable terminal"] },
    { path: "allowlist add|approve|set|import", reason: LOOSENS, match: ["hermes allowlist add"] },
    { path: "permissions use|reset", reason: LOOSENS, match: ["hermes permissions use full"] },
    { path: "permissions propose", options: "write", reason: LOOSENS, match: ["hermes permissions propose --write"],
      not_match: ["hermes permissions propose --json"] },
    // What is switched off may be what watches calls.
    { path: "plugins|hooks|mcp install|add|enable|trust|disable", reason: LOOSENS,
      match: ["hermes plugins enable weather"] },
    { path: "chat|acp", rule: OWN, reason: "starts another agent, which knows nothing of what was read here",
      match: ['hermes chat -q "remember this"'] },
    { path: "yolo", reason: LOOSENS, match: ["hermes yolo"] },
  ] },
  { program: "*", when: killsRuntime, rule: "own-process.kill", reason: STOPS, match: ["kill -9 $PPID"] },
  { program: "*", when: stopsRuntime, rule: "own-process.service", reason: STOPS,
    match: ["docker stop hermes"] },
  { program: "*", when: endsTerminal, rule: "own-process.kill", reason: STOPS,
    match: ["screen -S hermes -X quit"] },
  { program: "*", when: setsVariable, rule: "own-process.variable", reason: LOOSENS,
    match: ["export HERMES_YOLO_MODE=1"] },
  { program: "*", when: readsOwnSecrets, rule: "own-process.secret", reason: KEYS, match: ["cat ~/.hermes/*"] },
  { program: "*", when: answersByRequest, rule: "own-process.approvals", reason: ANSWERS,
    match: ["http POST :9119/v1/approvals id=3"] },
  { program: "*", when: answersByFile, rule: "own-process.approvals", reason: ANSWERS,
    match: ["node x.js approvals approve 3"] },
]);
