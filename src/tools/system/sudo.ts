import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { ExecRequest, ExecResult } from "../../env/environment.js";
import { outlineOf } from "../../shell/read/outline.js";
import type { Kept } from "../../tool/tool.js";

const PROBE_MS = 3_000;
const ASK_MS = 45_000;

const WRONG_PASSWORD = /^Sorry, try again\.|^sudo: \d+ incorrect password attempts?/m;
const PASSWORD_MISSING =
  /^sudo: (?:a password is required|a terminal is required to read the password|no tty present|no password was provided)/m;

/** What a session has found out about sudo in its environment. */
export class SudoMemory implements Kept {
  /** The password that a person gave. */
  password: string | undefined;
  /** Whether sudo works without one, and whether it is there at all; undefined until it was tried. */
  state: "free" | "asks" | "missing" | undefined;

  close(): void {
    this.password = undefined;
  }
}

export interface SudoRequest {
  readonly command: string;
  readonly memory: SudoMemory;
  /** SUDO_PASSWORD of the runtime's environment; an empty one counts too. */
  readonly given: string | undefined;
  readonly signal: AbortSignal;
  readonly cwd: string;
  /** Runs something where the command will run. */
  exec(request: ExecRequest): Promise<Pick<ExecResult, "exitCode">>;
  /** Asks the person; answers `undefined` when nobody is there. */
  ask(question: { readonly question: string; readonly secret: true }): Promise<string | undefined>;
  /** Makes a value known to the masking of results, logs and the journal, before it is used. */
  hide(value: string): void;
}

export interface PreparedSudo {
  /** To be run instead of the command; everything else (policy, journal, lists) keeps the original. */
  readonly command: string;
  readonly stdin?: string;
  /** After the run: a remark for the result. A wrong password is forgotten. */
  remark(end: { readonly exitCode: number; readonly output: string }): string | undefined;
}

/** True when a part of the command is started with sudo. Programs that start a program (env, xargs) run the real one. */
export function usesSudo(command: string): boolean {
  if (!command.includes("sudo")) return false;
  return outlineOf(command)?.commands.some(({ words }) => words[0] === "sudo") === true;
}

/**
 * Lets sudo in a command read its password from standard input, with an empty prompt. The password comes
 * from SUDO_PASSWORD, from the session, or from the person; it is on no command line and in no environment.
 * Where sudo needs none it gets none, because the program would read it as data.
 */
export async function prepareSudo(request: SudoRequest): Promise<PreparedSudo> {
  const { command, memory } = request;
  const unchanged: PreparedSudo = { command, remark: (end) => tip(end, memory) };
  if (!usesSudo(command)) return { command, remark: () => undefined };
  memory.state ??= await probe(request);
  if (memory.state !== "asks") return unchanged;
  const password = request.given ?? memory.password ?? (await askPerson(request));
  if (password === undefined) return unchanged;
  if (password !== "") request.hide(password);
  const line = password.split("\n", 1)[0] ?? "";
  return {
    command: `${preamble()}; ${command}`,
    stdin: `${line}\n`,
    remark(end) {
      if (!WRONG_PASSWORD.test(end.output)) return undefined;
      memory.password = undefined;
      return request.given === undefined
        ? "sudo refused the password; it was forgotten, and the next sudo asks again."
        : "sudo refused the password in SUDO_PASSWORD. Correct it in the environment of the runtime.";
    },
  };
}

/** Credentials that sudo remembers are left aside: what holds now may not hold for the next command. */
async function probe(request: SudoRequest): Promise<SudoMemory["state"]> {
  const { exitCode } = await request.exec({
    command: ["sudo", "-k", "-n", "true"],
    cwd: request.cwd,
    timeoutMs: PROBE_MS,
    signal: request.signal,
    maxOutputChars: 1_000,
  });
  if (exitCode === 0) return "free";
  if (exitCode === 126 || exitCode === 127) return "missing";
  return request.signal.aborted ? undefined : "asks";
}

async function askPerson({ ask, memory, signal, command }: SudoRequest): Promise<string | undefined> {
  const shown = command.length > 200 ? `${command.slice(0, 200)}…` : command;
  const tooLate = new AbortController();
  const waiting = AbortSignal.any([signal, tooLate.signal]);
  const answer = await Promise.race([
    ask({ question: `Password for sudo, to run: ${shown}`, secret: true }),
    delay(ASK_MS, undefined, { signal: waiting }).catch(() => undefined),
  ]).finally(() => tooLate.abort());
  if (answer !== undefined && answer !== "") memory.password = answer;
  return answer === "" ? undefined : answer;
}

/**
 * Reads the password once and gives each sudo a line of its own in front of its input. A function and not a
 * change of the words: it also works in loops, pipelines and substitutions. `-k` makes sudo read the line
 * although it remembers an earlier one.
 */
function preamble(): string {
  const variable = `HERMES_${randomBytes(8).toString("hex").toUpperCase()}`;
  const body = (withPassword: string) =>
    `sudo() { case \${1-} in -n|-A|-K|-V|-h|--non-interactive|--askpass|--remove-timestamp|--version|--help) ` +
    `command sudo "$@";; *) ${withPassword};; esac; }`;
  const line = `printf "%s\\n" "$${variable}"; cat`;
  // Its own process, so that the exit code is that of sudo alone.
  const inBash = body(`command sudo -k -S -p "" "$@" < <(${line})`);
  const inSh = body(`{ ${line}; } | command sudo -k -S -p "" "$@"`);
  return `IFS= read -r ${variable}; if [ -n "\${BASH_VERSION-}" ]; then eval '${inBash}'; else eval '${inSh}'; fi`;
}

function tip(
  end: { readonly exitCode: number; readonly output: string },
  memory: SudoMemory,
): string | undefined {
  if (end.exitCode === 0) return undefined;
  if (memory.state === "missing") return "sudo is not installed here. Commands run as the current user.";
  return PASSWORD_MISSING.test(end.output)
    ? "sudo needs a password, and nobody gave one. Set SUDO_PASSWORD in the environment of the runtime, allow " +
        "the command without a password (NOPASSWD), run it with pty: true and type it, or do without sudo."
    : undefined;
}
