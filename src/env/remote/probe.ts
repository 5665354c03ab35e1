import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { deferred } from "../../base/deferred.js";
import { EXEC_MARK } from "../local/marks.js";
import { differences, parseExports } from "../shell-report.js";
import { lostWhileWorking, noShell } from "./remote-error.js";
import { FrameReader } from "./report-frames.js";
import { collect } from "./run-script.js";
import { PROBE } from "./scripts.gen.js";
import type { Transport } from "./transport.js";
import { addedForAll } from "./variables.js";
import type { RemoteShell } from "./wrapper.js";

const LOGIN_LIMIT_MS = 30_000;
const PROBE_LIMIT_MS = 60_000;
/** 4.1, as the script counts. */
const BASH_WITH_READ_N = 401;

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
  readonly loginProblem?: string | undefined;
  /** Of a login shell that was still busy. */
  readonly leftMark?: string | undefined;
}

/** Looks around there, in one start. */
export async function probe(place: {
  readonly name: string;
  readonly transport: Transport;
  readonly loginShell: boolean;
  readonly passthrough: Readonly<Record<string, string>>;
  readonly loginLimitMs?: number | undefined;
}): Promise<Probe> {
  const token = randomBytes(12).toString("hex");
  const mark = randomUUID();
  const found = new Map<string, string>();
  const tools = new Map<string, string>();
  const reports: { vars?: Buffer; login?: Buffer } = {};
  const plain = deferred<void>();
  const reader = new FrameReader(token, {
    onRest: () => {},
    onFrame: (kind, body) => {
      if (kind === "vars" || kind === "login") reports[kind] = Buffer.from(body);
      else if (kind === "has") addTool(tools, body.toString());
      else found.set(kind, body.toString());
      if (kind === "plain") plain.resolve();
    },
  });
  const end = await collect({
    transport: place.transport,
    argv: ["sh", "-c", PROBE, "sh", token, place.loginShell ? mark : ""],
    limitMs: PROBE_LIMIT_MS + LOGIN_LIMIT_MS,
    letGo: plain.promise.then(() => delay(place.loginLimitMs ?? LOGIN_LIMIT_MS, undefined, { ref: false })),
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
    loginProblem: place.loginShell && reports.login === undefined ? loginProblem(hung) : undefined,
    leftMark: hung ? mark : undefined,
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
