import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { EXEC_MARK } from "../local/marks.js";
import { differences, parseExports } from "../shell-report.js";
import { collect } from "./collect.js";
import { lostWhileWorking, noShell } from "./remote-error.js";
import { FrameReader } from "./report-frames.js";
import type { Transport } from "./transport.js";
import { addedForAll } from "./variables.js";
import type { RemoteShell } from "./wrapper.js";

const LOGIN_LIMIT_MS = 30_000;
const PROBE_LIMIT_MS = 60_000;
/** 4.1, as the script counts. */
const BASH_WITH_READ_N = 401;
const TOOLS = "awk cat chmod chown dd env find grep head id kill ln ls mkdir mv readlink realpath rm rmdir";
const MORE_TOOLS = "sha256sum shasum openssl sleep stat stty sync tail tar timeout touch tr wc";

/** What is known about the other side. */
export interface Probe {
  readonly shell: RemoteShell;
  readonly home: string;
  readonly user: string;
  readonly system: string;
  /** Sent with every command: the login shell's own variables, the fixed ones, the operator's. */
  readonly added: Readonly<Record<string, string | undefined>>;
  /** What commands begin with in all. */
  readonly base: Readonly<Record<string, string>>;
  readonly tools: ReadonlySet<string>;
  /** `mv -T` never moves into a folder that was put in the way. */
  readonly movesExactly: boolean;
  /** Set when a login shell was wanted and did not answer; commands then get the plain variables. */
  readonly loginProblem?: string;
  /** Of a login shell that was still busy. */
  readonly leftMark?: string;
}

const SCRIPT = `put() { printf '@T:%s:%s@T;' "$1" "$2"; }
put home "$HOME"
[ -n "$HOME" ] || put home "$(cd && pwd)"
put user "$({ id -un || id -u || printf %s "$USER"; } 2>/dev/null | { IFS= read -r line; printf %s "$line"; })"
put system "$(uname -srm 2>/dev/null)"
for tool in bash sh ${TOOLS} ${MORE_TOOLS}; do place=$(command -v "$tool" 2>/dev/null) && put "has" "$tool=$place"; done
case $(mv -T 2>&1) in *invalid*|*unrecognized*|*illegal*) ;; *) put mvT 1 ;; esac
[ "$(printf abc | dd bs=2 count=1 iflag=fullblock 2>/dev/null)" = ab ] && put block 1
if command -v bash >/dev/null 2>&1; then
set -- bash --noprofile --norc; login='bash -l'
put version "$(bash --noprofile --norc -c 'echo "$((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1]))"')"
else set -- sh; login='sh -l'; fi
printf '@T:vars:'; "$@" -c 'export -p' </dev/null; printf '@T;@T:plain:@T;'`;
/** Startup files may print anything; what counts begins with the token. */
const LOGIN = `${EXEC_MARK}=@M $login -c "printf @T:login:; export -p; printf '@T;'" </dev/null 2>/dev/null`;

/** Looks around there, in one start. */
export async function probe(place: {
  readonly name: string;
  readonly transport: Transport;
  readonly loginShell: boolean;
  readonly passthrough: Readonly<Record<string, string>>;
  readonly loginLimitMs?: number;
}): Promise<Probe> {
  const token = randomBytes(12).toString("hex");
  const mark = randomUUID();
  const found = new Map<string, string>();
  const tools = new Map<string, string>();
  const reports: { vars?: Buffer; login?: Buffer } = {};
  let sawPlain = () => {};
  const plain = new Promise<void>((resolve) => {
    sawPlain = resolve;
  });
  const reader = new FrameReader(token, {
    onRest: () => {},
    onFrame: (kind, body) => {
      if (kind === "vars" || kind === "login") reports[kind] = Buffer.from(body);
      else if (kind === "has") addTool(tools, body.toString());
      else found.set(kind, body.toString());
      if (kind === "plain") sawPlain();
    },
  });
  const script = `${SCRIPT}${place.loginShell ? `\n${LOGIN}` : ""}`
    .replaceAll("@T", token)
    .replaceAll("@M", mark);
  const end = await collect({
    transport: place.transport,
    argv: ["sh", "-c", script, "sh"],
    limitMs: PROBE_LIMIT_MS + LOGIN_LIMIT_MS,
    letGo: plain.then(() => delay(place.loginLimitMs ?? LOGIN_LIMIT_MS, undefined, { ref: false })),
    onStdout: (bytes) => reader.push(bytes),
  });
  const hung = "lost" in end && found.has("plain");
  if ("lost" in end && !hung) throw lostWhileWorking(place.name, end.lost);
  const shell = shellOf(tools, found);
  if (shell === undefined || reports.vars === undefined) {
    throw noShell(place.name, "stderr" in end ? end.stderr : "");
  }
  const given = parseExports(reports.vars);
  const own = reports.login === undefined ? given : withoutMark(parseExports(reports.login));
  const forAll = addedForAll(own, place.passthrough);
  return {
    shell,
    home: found.get("home") || "/",
    user: found.get("user") ?? "",
    system: found.get("system") ?? "",
    added: { ...differences(given, own), ...forAll },
    base: { ...own, ...forAll },
    tools: new Set(tools.keys()),
    movesExactly: found.has("mvT"),
    ...(place.loginShell && reports.login === undefined && { loginProblem: loginProblem(hung) }),
    ...(hung && { leftMark: mark }),
  };
}

function addTool(tools: Map<string, string>, line: string): void {
  const equals = line.indexOf("=");
  tools.set(line.slice(0, equals), line.slice(equals + 1));
}

function shellOf(
  tools: ReadonlyMap<string, string>,
  found: ReadonlyMap<string, string>,
): RemoteShell | undefined {
  const bash = tools.get("bash");
  const path = bash ?? tools.get("sh");
  if (path === undefined) return undefined;
  const dd = tools.get("dd");
  return {
    kind: bash === undefined ? "sh" : "bash",
    path,
    readsExactly: Number(found.get("version") ?? 0) >= BASH_WITH_READ_N,
    dd: dd === undefined ? undefined : { path: dd, fullBlock: found.has("block") },
  };
}

function withoutMark(variables: Record<string, string>): Record<string, string> {
  delete variables[EXEC_MARK];
  return variables;
}

function loginProblem(hung: boolean): string {
  return hung ? "the login shell did not finish in time" : "the login shell printed no variables";
}
