import { isSecretName } from "../rules/secret-names.js";
import { UNKNOWN } from "../types.js";
import { actionOf, type CallAction } from "./calls.js";
import type { EffectList } from "./effects.js";
import { FILE_HANDLERS } from "./file-handlers.js";
import type { Language } from "./languages.js";
import { judgeLiterals } from "./literals.js";
import { riskOfSql } from "./sql.js";
import {
  type CodeCall,
  type CodeFacts,
  type CodeValue,
  quoteWithUnknowns,
  someCall,
  textOf,
} from "./values.js";

/** The program a call stands in. */
export interface CodeContext {
  readonly language: Language;
  readonly facts: CodeFacts;
  readonly list: EffectList;
  /** The whole text of the program. */
  readonly code: string;
  /** Judges text that the program runs as code. */
  readonly runCode: (code: string) => void;
}

export type CallHandler = (call: CodeCall, world: CodeContext) => void;

/** Actions that matter even when the function is only handed on: `.then(eval)`, `map(os.remove, …)`. */
const MATTERS_AS_VALUE: ReadonlySet<CallAction | undefined> = new Set([
  "eval",
  "shell",
  "program",
  "delete",
  "delete-tree",
]);

export function judgeCall(call: CodeCall, world: CodeContext): void {
  const action = actionOf(call.name, world.language.name) ?? importedAction(call.name, world);
  const handler = action === undefined ? undefined : HANDLERS[action];
  if (handler === undefined) judgeOther(call, world);
  else handler(call, world);
  connectsLocally(call, world);
  for (const value of call.args)
    if (
      value.kind === "name" &&
      MATTERS_AS_VALUE.has(actionOf(value.name, world.language.name)) &&
      value.name !== "$"
    )
      world.list.note("interpreter.handed-on", `hands ${value.name} to something that calls it`);
}

/** In a script that loads `child_process`, `run.exec(…)` is most likely its `exec`. */
function importedAction(name: string, { language, facts }: CodeContext): CallAction | undefined {
  if (language.name !== "javascript") return undefined;
  if (!someCall(facts, namesStarter)) return undefined;
  return actionOf(`child_process.${name.slice(name.lastIndexOf(".") + 1)}`, "javascript");
}

function namesStarter({ args }: CodeCall): boolean {
  return args.some((value) => value.kind === "text" && /^(?:node:)?child_process$/.test(value.text));
}

const shell: CallHandler = (call, { list }) => {
  const [first, ...rest] =
    call.args.length === 0 && call.receiver !== undefined ? [call.receiver] : call.args;
  const given = first ?? call.keywords.get("args") ?? call.keywords.get("cmd");
  if (given === undefined) return;
  if (given.kind === "list") list.runsWords(given.items);
  else if (given.kind === "record") list.runsWords(listOf(given.fields.get("cmd")));
  else if (
    rest.length > 0 &&
    rest.every((value) => value.kind === "text") &&
    !/^[rwab+]{1,3}$/.test(textOf(rest[0]))
  )
    list.runsWords([given, ...rest]);
  else list.runsText(textOf(given));
};

function startProgram(args: readonly CodeValue[], { list }: CodeContext): void {
  const [program, second, ...rest] = args;
  if (program === undefined) return;
  if (program.kind === "list") list.runsWords(program.items);
  else if (program.kind === "record") list.runsWords(listOf(program.fields.get("cmd")));
  else {
    const more = argumentsAfter(second, rest);
    list.runsWords([program, ...(repeatsProgram(program, more) ? more.slice(1) : more)]);
  }
}

function argumentsAfter(second: CodeValue | undefined, rest: readonly CodeValue[]): readonly CodeValue[] {
  if (second?.kind === "list") return second.items;
  if (second?.kind === "record") return listOf(second.fields.get("args"));
  return [second, ...rest].filter((value) => value?.kind === "text");
}

/** The first word of an argument list of the exec family repeats the program. */
function repeatsProgram(program: CodeValue, [first, second]: readonly CodeValue[]): boolean {
  const name = textOf(program).split("/").at(-1) ?? "";
  if (textOf(first).split("/").at(-1) === name) return true;
  return second !== undefined && /^(?:ba|z|da)?sh$/.test(name) && !textOf(first).startsWith("-");
}

const DECODERS =
  /(?:b64decode|atob|base64_decode|decode64|decode_base64|fromhex|unhexlify|hex2bin|decompress|inflate|rot13)$/;

function decodes({ name, args }: CodeCall): boolean {
  return (
    DECODERS.test(name) ||
    (name === "Buffer.from" &&
      args.some((value) => value.kind === "text" && /^(?:base64(?:url)?|hex)$/.test(value.text)))
  );
}

const evaluates: CallHandler = (call, { list, facts, runCode }) => {
  const given =
    call.name === "Function"
      ? call.args.at(-1)
      : (call.args[0] ?? call.keywords.get("text") ?? call.receiver);
  if (given === undefined || given.kind === "record" || given.kind === "number" || given.kind === "list")
    return;
  const fromFile = given.kind === "unknown" && given.origin === "file";
  if (fromFile) return;
  if (/^(?:pickle|marshal|Marshal)\./.test(call.name)) {
    list.note("interpreter.evaluated-text", "runs code hidden in packed data");
    return;
  }
  const text = given.kind === "text" ? given.text : UNKNOWN;
  if (someCall(facts, decodes))
    list.note("interpreter.evaluated-text", "runs text as code that is decoded first");
  if (!text.includes(UNKNOWN)) {
    runCode(text);
    return;
  }
  list.opaque = true;
  list.note("interpreter.evaluated-text", "runs text as code that nobody can see");
};

/** A program that is nothing but a way to a shell. */
const opensShell: CallHandler = (call, world) => {
  world.list.note("interpreter.shell", "opens a shell inside a program");
  shell(call, world);
};

const kills: CallHandler = (call, { list, facts }) => {
  if (call.args.some((value) => value.kind === "number" && value.text === "-1")) list.does("kill -9 -1");
  else if (
    facts.texts.some((text) => /^\/proc(?:\/|$)/.test(text)) ||
    LISTS_PROCESSES.some((name) => facts.names.has(name))
  )
    list.note("process.kill-found", "kills every process a search finds");
  else if (facts.names.has("getppid") || facts.names.has("ppid") || /killpg$/.test(call.name))
    list.note("interpreter.kill", "kills processes it was started by");
};

const LISTS_PROCESSES = ["process_iter", "pids", "pgrep", "ProcTable"];

const network: CallHandler = (call, { list }) => {
  list.network = true;
  for (const value of call.args) {
    if (value.kind !== "text" || !/^https?:/i.test(value.text)) continue;
    list.does(`curl ${/\.delete$/.test(call.name) ? "-X DELETE " : ""}${quoteWithUnknowns(value.text)}`);
  }
};

const sql: CallHandler = (call, { list }) => {
  for (const value of call.args) {
    if (
      value.kind !== "text" ||
      !/^\s*(?:drop|truncate|delete|update|alter|grant|revoke|begin|with|copy)\s+\w/i.test(value.text)
    )
      continue;
    const reason = riskOfSql(value.text);
    if (reason !== undefined) list.note("database.sql", reason);
  }
};

const HANDLERS: Readonly<Partial<Record<CallAction, CallHandler>>> = {
  ...FILE_HANDLERS,
  shell,
  program: (call, world) => startProgram(call.args, world),
  "mode-program": (call, world) => startProgram(call.args.slice(1), world),
  eval: evaluates,
  "open-shell": opensShell,
  kill: kills,
  native: (_call, { list }) => list.note("interpreter.native", "reaches past its language into native code"),
  network,
  sql,
};

const MODULE_LOADERS = /^(?:import|include|require|include_once|require_once|load)$/;
const GUARDED_MODULES =
  /^(?:os|subprocess|shutil|builtins|__builtins__|sys|posix|globals|child_process|process|global|globalThis)$/;

/** Methods of common client libraries. */
const DELETES_ELSEWHERE =
  /\.(?:delete_(?:bucket|objects?|table|stack|db_\w+|cluster|function|user|role|secret|instances?)|terminate_instances|stop_instances|flushall|flushdb|flushAll|flushDb|drop_database|drop_collection|drop_all|dropDatabase|dropCollection|prune)$/;

/** `sock.connect("/run/docker.sock")`, `UNIXSocket.new(…)`, `net.connect("/run/…")`: a path is a socket of this machine. */
function connectsLocally({ name, args }: CodeCall, { list }: CodeContext): void {
  if (
    !/(?:^|\.)(?:connect(?:_ex)?|createConnection|request)$|UNIX(?:Socket)?\b|stream_socket_client|fsockopen|pfsockopen/.test(
      name,
    )
  )
    return;
  const values = args.flatMap((value) => (value.kind === "record" ? [...value.fields.values()] : [value]));
  for (const value of values) {
    const path =
      value.kind === "text" ? /^(?:(?:unix|http\+unix):\/\/)?(\/[^\s]*)$/.exec(value.text)?.[1] : undefined;
    if (path !== undefined && /sock|^\/(?:var\/)?run\//.test(path))
      list.does(`nc -U ${quoteWithUnknowns(path)}`);
  }
}

function judgeOther(call: CodeCall, world: CodeContext): void {
  const { list, facts } = world;
  const { name, args } = call;
  const [first, second] = args;
  if (
    /^(?:array_map|array_walk|call_user_func|call_user_func_array|usort)$/.test(name) &&
    first?.kind === "text" &&
    actionOf(first.text, world.language.name) !== undefined
  )
    judgeCall({ ...call, name: first.text, args: args.slice(1) }, world);
  const hidden =
    name === "__import__"
      ? first?.kind !== "text"
      : /^(?:getattr|Reflect\.get)$/.test(name) &&
        second?.kind !== "text" &&
        first?.kind === "name" &&
        GUARDED_MODULES.test(first.name);
  if (hidden) list.note("interpreter.hidden-name", "calls something whose name is only known when it runs");
  if (
    MODULE_LOADERS.test(name) &&
    first?.kind === "text" &&
    /^(?:https?|ftp|data|php|phar):/i.test(first.text)
  )
    list.note("interpreter.remote-module", "runs code from the network");
  if (/^(?:setTimeout|setInterval|setImmediate)$/.test(name) && first?.kind === "text")
    evaluates(call, world);
  if (/(?:^|\.)(?:dup2|reopen)$/.test(name) && someCall(facts, connects))
    list.note("interpreter.reverse-shell", "connects a shell to the network");
  const recursive = args.some((value) => value.kind === "record" && value.fields.has("recursive"));
  if (recursive && /(?:^|\.)(?:rm|rmdir|remove)$/.test(name))
    list.note("interpreter.delete", "deletes a folder with everything in it");
  if (/\.(?:kill|terminate)$/.test(name) && facts.names.has("process_iter"))
    list.note("process.kill-found", "kills every process a search finds");
  if (DELETES_ELSEWHERE.test(name))
    list.note("interpreter.remote-delete", "deletes something in a database or cloud");
  if (SECRET_MODULES.test(name))
    list.note("credentials.keychain", "reads what a person's keyring or browser keeps");
  if (world.language.name === "ruby") callsByName(call, world);
}

/** Libraries through which a program reads the keyring of a person, or the sessions of a browser. */
const SECRET_MODULES =
  /^(?:secretstorage\.(?!exceptions)|keyring\.(?:core\.)?get_(?!keyring)|(?:browser_cookie3|browsercookie|rookiepy|pycookiecheat|chromium_cookies|lazagne)\b|keytar\.(?:get|find)|gnomekeyring\.|gkeyring\.|win32crypt\.CryptUnprotectData|libsecret\.|Secret\.(?:password_(?:lookup|search)|Service\.get)|(?:gi\.repository\.)Secret\.)/;

const CALLS_BY_NAME = /(?:^|\.)(?:send|public_send|__send__|method|instance_method|public_method)$/;
const OWN_MODULES = /^(?:Kernel|FileUtils|IO|Process|Open3|PTY)$/;

/** `FileUtils.send("rm" + "_rf", x)`, `method(:system).call(x)`: the name of what is called is data. */
function callsByName(call: CodeCall, world: CodeContext): void {
  const { list, facts, language } = world;
  if (!CALLS_BY_NAME.test(call.name)) return;
  const [named, ...rest] = call.args;
  const owner = call.name.includes(".") ? call.name.slice(0, call.name.lastIndexOf(".")) : "";
  if (named?.kind === "text" && !named.text.includes(UNKNOWN)) {
    const meant = owner === "" ? named.text : `${owner}.${named.text}`;
    if (actionOf(meant, language.name) === undefined) return;
    judgeCall({ ...call, name: meant, args: rest }, world);
    list.note("interpreter.hidden-name", "calls something by a name it carries as data");
    return;
  }
  const hidden = (named?.kind === "text" && owner === "") || (named !== undefined && OWN_MODULES.test(owner));
  if (hidden || ["system", "exec", "spawn", "eval"].some((verb) => facts.names.has(verb)))
    list.note("interpreter.hidden-name", "calls something by a name it carries as data");
}

function connects({ name }: CodeCall): boolean {
  return /socket|connect/i.test(name);
}

/** What only the whole program shows: endless forks, secrets or a shell together with the network. */
export function judgeWholeProgram({ language, facts, list, code }: CodeContext): void {
  const { members, calls, names } = facts;
  const loops =
    ["while", "until", "loop", "forever"].some((name) => names.has(name)) ||
    (names.has("for") &&
      (language.name !== "python" || ["iter", "count", "cycle", "repeat"].some((name) => names.has(name))));
  const forks =
    calls.some(
      ({ name }) =>
        actionOf(name, language.name) === "fork" &&
        (!/^(?:child_process|cluster)\./.test(name) || (names.has("while") && names.has("__filename"))),
    ) ||
    (names.has("fork") && /^(?:perl|ruby)$/.test(language.name));
  if (loops && forks) list.refuse("interpreter.fork-bomb", "starts copies of itself without end");
  // `map { unlink } @files` of Perl: verbs that need no call.
  if (language.name === "perl" && (names.has("unlink") || names.has("rmdir")))
    list.note("interpreter.delete", "deletes files from code");
  judgeLiterals({ language, facts, list, code });
  // `new IO::Socket::INET(…); STDIN->fdopen(…); system$_ while<>`: read by no call that could be followed.
  if (
    /^(?:perl|ruby)$/.test(language.name) &&
    /Socket/.test(code) &&
    /fdopen|reopen|dup2|system\s*\$_|exec\s*["'{]?\s*\/?\w*sh\b/.test(code)
  )
    list.note("interpreter.reverse-shell", "connects a shell to the network");
  if (!list.network) return;
  if (list.spawnsShell || (list.opaque && names.has("socket")))
    list.note("interpreter.reverse-shell", "connects a shell to the network");
  if (readsSecretVariable(facts) && !carriesHeader(facts))
    list.note("credentials.sent", "sends a secret over the network");
  const whole = [...calls].some(({ args, keywords }) =>
    [...args, ...keywords.values()].some(
      (value) => value.kind === "name" && WHOLE_ENVIRONMENT.has(value.name),
    ),
  );
  if (
    whole ||
    [...members].some((name) => /^(?:os\.environ|process\.env)\.(?:copy|items|values)$/.test(name))
  )
    list.note("credentials.sent", "sends the environment over the network");
}

const WHOLE_ENVIRONMENT = new Set("os.environ process.env ENV $_ENV $_SERVER environ %ENV".split(" "));

function readsSecretVariable({ members, calls }: CodeFacts): boolean {
  const read = [...members].some(
    (name) => /(?:environ|env|ENV)\.\w+$/.test(name) && isSecretName(name.slice(name.lastIndexOf(".") + 1)),
  );
  return (
    read ||
    calls.some(
      ({ name, args }) =>
        /(?:getenv|environ\.get|ENV\.fetch|env\.get)$/.test(name) &&
        args[0]?.kind === "text" &&
        isSecretName(args[0].text),
    )
  );
}

/** A token in a header, or given to a client as its key, is ordinary use of an interface. */
function carriesHeader({ calls }: CodeFacts): boolean {
  const isHeader = (name: string): boolean => /^(?:headers?|authorization|auth|api_?key|token)$/i.test(name);
  return calls.some(
    ({ args, keywords }) =>
      [...keywords.keys()].some(isHeader) ||
      args.some((value) => value.kind === "record" && [...value.fields.keys()].some(isHeader)),
  );
}

function listOf(value: CodeValue | undefined): readonly CodeValue[] {
  return value?.kind === "list" ? value.items : [];
}
