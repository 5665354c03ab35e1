import { existsSync } from "node:fs";
import type { Runtime } from "../runtime/runtime.js";
import type { CallExplanation, Session } from "../runtime/session.js";
import type { Effect } from "../tool/effects.js";
import type { HostCapabilities } from "../tool/host-capabilities.js";
import type { Difference, Replayed } from "./replayed.js";
import type { Tape, TapedCall } from "./tape.js";

/**
 * What today's tools and rules make of recorded calls. Each walks the path as far as the decision, as a dry run does;
 * nothing runs and nobody is asked.
 */
export async function replayTape(runtime: Runtime, tape: Tape): Promise<Replayed> {
  const sessions = new ReplaySessions(runtime, tape);
  const different: Difference[] = [];
  let unknown = 0;
  for (const call of tape.calls) {
    if (call.arguments_cut === true) {
      unknown += 1;
      continue;
    }
    const session = await sessions.for(call);
    const { id, name } = call;
    const now = await session.explainCall({ id, name: call.called_as ?? name, arguments: call.arguments });
    const why = differenceOf(call, now);
    if (why !== undefined) different.push({ id, name, why: runtime.redact(why) });
  }
  const calls = tape.calls.length;
  return {
    session: tape.header.session,
    calls,
    same: calls - unknown - different.length,
    different,
    unknown,
  };
}

/** One session for each folder that calls were made in; all have the workspace of the tape. */
class ReplaySessions {
  readonly #opened = new Map<string, Promise<Session>>();

  constructor(
    readonly runtime: Runtime,
    readonly tape: Tape,
  ) {}

  for(call: TapedCall): Promise<Session> {
    const { cwd: home, of } = this.tape.header;
    const workspace = home !== undefined && existsSync(home) ? home : this.runtime.cwd;
    const cwd = call.cwd !== undefined && existsSync(call.cwd) ? call.cwd : workspace;
    const key = `${cwd}\0${call.environment ?? ""}`;
    const known = this.#opened.get(key);
    if (known !== undefined) return known;
    const host = of === "conversation" ? IDLE_HOST : undefined;
    const opened = this.runtime.openSession({ door: "cli", cwd, workspace, host });
    this.#opened.set(key, opened);
    return opened;
  }
}

const UNUSED = new Proxy({}, { get: () => undefined });

/** An agent was there when the calls were made; as nothing runs, nothing of it is used. */
const IDLE_HOST = Object.fromEntries(
  ["todos", "memory", "sessions", "delegate", "messages", "skills", "models"].map((name) => [name, UNUSED]),
) as HostCapabilities;

/** In words; undefined when everything is as it was. */
export function differenceOf(then: TapedCall, now: CallExplanation): string | undefined {
  if (now.error !== undefined && now.decision === undefined) return errorDifference(then, now.error);
  if (then.decision === undefined && then.error?.code !== undefined && UNDECIDED.has(then.error.code)) {
    return `it ended with ${then.error.code} before anything was decided, and would be ${wordFor(now)} now`;
  }
  if (now.name !== then.name) return `${then.name} answered it, and ${now.name} would now`;
  return decisionDifference(then, now) ?? effectsDifference(then.effects, now.effects);
}

/** Errors by which a call ends before the decision. */
const UNDECIDED = new Set([
  "bad_request",
  "not_found",
  "out_of_scope",
  "unavailable",
  "invalid_arguments",
  "blocked",
]);

function errorDifference(
  then: TapedCall,
  { code, message }: { readonly code: string; readonly message: string },
): string | undefined {
  if (then.decision === undefined && then.error?.code === code) return undefined;
  switch (code) {
    case "not_found":
    case "out_of_scope":
      return `the tool is gone: ${message}`;
    case "unavailable":
      return `the tool is not available: ${message}`;
    case "invalid_arguments":
    case "bad_request":
      return `its arguments are no longer valid: ${message}`;
    case "blocked":
      return `a hook blocks it: ${message}`;
    default:
      return `it would end with ${code}: ${message}`;
  }
}

function decisionDifference(then: TapedCall, now: CallExplanation): string | undefined {
  const [before] = then.decision?.split(":") ?? [];
  const after = now.decision?.verdict;
  if (before === undefined || after === undefined || before === after) return undefined;
  const reason = now.decision?.reason === undefined ? "" : `: ${now.decision.reason}`;
  return `it was ${WORDS[before] ?? before} (${then.rule ?? "no rule"}) and would be ${wordFor(now)} (${now.decision?.rule ?? "no rule"})${reason}`;
}

const WORDS: Readonly<Record<string, string>> = { allow: "allowed", ask: "asked about", deny: "denied" };

function wordFor({ decision }: CallExplanation): string {
  return WORDS[decision?.verdict ?? ""] ?? "decided";
}

function effectsDifference(
  before: readonly Effect[] | undefined,
  after: readonly Effect[],
): string | undefined {
  if (before === undefined) return undefined;
  const [was, is] = [before.map(named), after.map(named)];
  const gone = was.filter((effect) => !is.includes(effect));
  const added = is.filter((effect) => !was.includes(effect));
  if (gone.length === 0 && added.length === 0) return undefined;
  const parts = [
    ...(added.length === 0 ? [] : [`it would also touch ${added.join(", ")}`]),
    ...(gone.length === 0 ? [] : [`it would no longer touch ${gone.join(", ")}`]),
  ];
  return parts.join("; ");
}

function named({ action, resource }: Effect): string {
  return `${action} ${resource}`;
}
