import { deferred } from "../../base/deferred.js";
import { quoteForShell } from "../../base/quote.js";
import { ToolError } from "../../tool/errors.js";
import type { ProgramRequest, Survivor } from "../environment.js";
import { missingFolder } from "../working-folder.js";
import { FrameReader } from "./report-frames.js";
import { BEGIN_TERMINAL, HEADER_BY_LINE, LEFT_IN_GROUP, OBEY_HEADER, REPORT_STATE } from "./scripts.gen.js";
import { settable } from "./variables.js";

/** The shell there, as the probe found it. */
export interface RemoteShell {
  readonly kind: "bash" | "sh";
  /** Absolute, because a command may come with a PATH of its own. */
  readonly path: string;
  /** `read -N` (bash 4.1 on) takes an exact number of bytes at once. */
  readonly readsExactly: boolean;
  /** Path of `dd`, and how it is told to read an exact number of bytes. */
  readonly dd: { readonly path: string; readonly fullBlock: boolean } | undefined;
}

export interface WrapperRequest extends Pick<ProgramRequest, "command" | "cwd"> {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly shell: RemoteShell;
  /** Begins and ends every report; random. */
  readonly token: string;
  /** "merged" and "apart" are pipes, with the report among what arrives as stderr. */
  readonly streams: "merged" | "apart" | "terminal";
  /** Otherwise the command reads from /dev/null. */
  readonly hasInput: boolean;
}

export interface Wrapper {
  readonly argv: readonly string[];
  /** What must arrive on standard input before anything else. */
  readonly header: Buffer;
}

/**
 * Kinds of report:
 * `a` the wrapper's own process id, when the command is about to begin; `cd` why its folder cannot be entered;
 * `r` the terminal is ready for the header; `tty` it cannot be made ready; `p` the command's process id;
 * `cwd` and `vars` from the command's shell when it ends; `left` what is still in its process group; `x` its
 * exit code. Alone on stdout comes `o`, behind everything that the command printed there.
 */
export type ReportKind = "a" | "cd" | "r" | "tty" | "p" | "cwd" | "vars" | "left" | "x";

/** In front of the token on stdout: a byte no text ends with, so that no prompt is held back as a possible report. */
const MARK = "\u001e";

/** Where the reports go; sh knows only one digit. Bash moves it out of the way of scripts. */
const REPORT = 9;
const KEPT = 251;
const STANDARD_OUTPUT = 1;
/** Reading byte by byte is quicker than starting a program up to about this size. */
const BYTE_BY_BYTE = 2_000;

/**
 * The shell that reads the folder, the variables and the command from its standard input, so that none of
 * them shows in a process list and none is too long, and then runs the command with the rest of the input.
 */
export function wrap(request: WrapperRequest): Wrapper {
  const header = Buffer.from(headerText(request));
  const script = (request.streams === "terminal" ? terminalScript : pipesScript)(request, header.length);
  const text = script.replaceAll("@T", request.token);
  return { argv: [...shellCommand(request.shell), text, request.shell.kind], header };
}

function headerText({ env, cwd, command, token }: WrapperRequest): string {
  const all = settable(env);
  const set = all.flatMap(([name, value]) =>
    value === undefined ? [] : [quoteForShell(`${name}=${value}`)],
  );
  const gone = all.flatMap(([name, value]) => (value === undefined ? [name] : []));
  const words = typeof command === "string" ? [command] : command;
  return [
    ...(gone.length === 0 ? [] : [`unset -v ${gone.join(" ")}`]),
    ...(set.length === 0 ? [] : [`export ${set.join(" ")}`]),
    `set -- ${[cwd, ...words].map(quoteForShell).join(" ")}`,
    `#${token}\n`,
  ].join("\n");
}

/** No startup files: bash reads .bashrc even for -c when its stdin looks like a network connection. */
function shellCommand(shell: RemoteShell): readonly string[] {
  return shell.kind === "bash" ? [shell.path, "--noprofile", "--norc", "-c"] : [shell.path, "-c"];
}

function obeyHeader(report: number): string {
  return OBEY_HEADER.trimEnd().replaceAll("@R", String(report));
}

function readHeader({ shell, streams }: WrapperRequest, size: number): string {
  if (streams !== "terminal" && shell.readsExactly) return `LC_ALL=C IFS= read -r -N ${size} HERMES_HEADER`;
  if (shell.dd !== undefined && (streams === "terminal" || size > BYTE_BY_BYTE)) {
    const exactly = shell.dd.fullBlock ? `bs=${size} count=1 iflag=fullblock` : `bs=1 count=${size}`;
    return `HERMES_HEADER=$(${quoteForShell(shell.dd.path)} ${exactly} 2>/dev/null)`;
  }
  return HEADER_BY_LINE.trimEnd();
}

function pipesScript(request: WrapperRequest, size: number): string {
  return [
    // The wrapper's own words are not the command's. "Killed" would even quote this script, tokens and all.
    `exec ${REPORT}>&2 2>/dev/null`,
    readHeader(request, size),
    obeyHeader(REPORT),
    `printf '@T:a:%s@T;' "$$" >&${REPORT}`,
    `${[...shellCommand(request.shell), innerScript(request), request.shell.kind].map(quoteForShell).join(" ")} "$@"${
      request.streams === "merged" ? " 2>&1" : ` 2>&${REPORT}`
    }${request.hasInput ? "" : " </dev/null"}`,
    "HERMES_STATUS=$?",
    LEFT_IN_GROUP.trimEnd(),
    `printf '@T:x:%s@T;' "$HERMES_STATUS" >&${REPORT}`,
    "printf '\\036@T:o:\\036@T;'",
    'exit "$HERMES_STATUS"',
  ].join("\n");
}

/** A line may begin with a dash; not every sh knows what two of them mean, but a blank in front helps. */
function runLine({ kind }: RemoteShell): string {
  return `HERMES_LINE=$1; shift; eval ${kind === "bash" ? '-- "$HERMES_LINE"' : '" $HERMES_LINE"'}`;
}

function innerScript({ shell, command, streams }: WrapperRequest): string {
  const kept = shell.kind === "bash" ? KEPT : REPORT;
  const begin = `${kept === REPORT ? "" : `exec ${kept}>&${REPORT} ${REPORT}>&-; `}printf '@T:p:%s@T;' "$$" >&${kept}`;
  if (typeof command !== "string") {
    return `${begin}; exec ${kept}>&-; exec ${shell.kind === "bash" ? "-- " : ""}"$@"`;
  }
  // Apart, the report shares a stream with the command and stays small enough to be written in one piece.
  if (streams === "apart") return `${begin}; exec ${kept}>&-; ${runLine(shell)}`;
  const builtin = shell.kind === "bash" ? "builtin " : "";
  const report = REPORT_STATE.replaceAll("@B ", builtin).replaceAll("@K", String(kept));
  return `${begin}; trap ${quoteForShell(report)} EXIT; ${runLine(shell)}`;
}

/** A terminal has no second stream: reports come before the command begins, and none after. */
function terminalScript(request: WrapperRequest, size: number): string {
  const run =
    typeof request.command === "string"
      ? `${[...shellCommand(request.shell), runLine(request.shell), request.shell.kind].map(quoteForShell).join(" ")} "$@"`
      : `${request.shell.kind === "bash" ? "-- " : ""}"$@"`;
  return [
    BEGIN_TERMINAL.trimEnd(),
    readHeader(request, size),
    'stty "$HERMES_TTY"',
    obeyHeader(STANDARD_OUTPUT),
    "printf '@T:p:%s@T;' \"$$\"",
    `exec ${run}`,
  ].join("\n");
}

const MAX_NOISE = 4_096;
const MAX_LEFT = 50;

export interface InboxOptions {
  readonly token: string;
  readonly name: string;
  readonly cwd: string;
  readonly streams: "merged" | "apart" | "terminal";
  onStdout(bytes: Uint8Array): void;
  onStderr?(bytes: Uint8Array): void;
}

/** Everything that arrives from one wrapper: its reports are kept, the command's own bytes are passed on. */
export class Inbox {
  readonly begun = deferred<true>();
  readonly exited = deferred<number>();
  readonly terminalReady = deferred<true>();
  /** Everything the command printed to stdout is here; what still comes is from others that hold the stream. */
  readonly stdoutOver = deferred<true>();
  wrapperPid: number | undefined;
  pid: number | undefined;
  cwd: string | undefined;
  vars: Buffer | undefined;
  left: readonly Survivor[] | undefined;
  /** When the last bytes came, in the time of `performance.now`. */
  lastArrival = 0;
  /** What was printed by something else than the command. */
  noise = "";
  readonly #options: InboxOptions;
  readonly #frames: FrameReader;
  readonly #stdoutFrames: FrameReader;

  constructor(options: InboxOptions) {
    this.#options = options;
    this.#frames = new FrameReader(options.token, {
      onFrame: (kind, body) => this.#takeReport(kind as ReportKind, body),
      onRest: (bytes) => this.#takeRest(bytes),
    });
    this.#stdoutFrames = new FrameReader(`${MARK}${options.token}`, {
      onFrame: () => this.stdoutOver.resolve(true),
      onRest: (bytes) => options.onStdout(bytes),
    });
  }

  stdout(bytes: Uint8Array): void {
    this.lastArrival = performance.now();
    if (this.#options.streams !== "terminal") {
      this.#stdoutFrames.push(bytes);
      return;
    }
    // In a terminal the reports come first; once the command has begun every byte is its own.
    if (this.pid !== undefined) {
      this.#options.onStdout(bytes);
      return;
    }
    this.#frames.push(bytes);
    if (this.pid !== undefined) this.#frames.finish();
  }

  stderr(bytes: Uint8Array): void {
    if (this.#options.streams === "terminal") this.stdout(bytes);
    else this.#frames.push(bytes);
  }

  finish(): void {
    this.#frames.finish();
    this.#stdoutFrames.finish();
  }

  #takeRest(bytes: Uint8Array): void {
    const { streams } = this.#options;
    if (streams === "apart") this.#options.onStderr?.(bytes);
    else if (streams === "terminal" && this.pid !== undefined) this.#options.onStdout(bytes);
    else if (this.noise.length < MAX_NOISE) this.noise += Buffer.from(bytes).toString();
  }

  #takeReport(kind: ReportKind, body: Buffer): void {
    const text = body.toString();
    switch (kind) {
      case "a":
        this.wrapperPid = Number(text);
        break;
      case "p":
        this.pid = Number(text);
        this.begun.resolve(true);
        break;
      case "cd":
        this.begun.reject(folderError(text, this.#options.cwd));
        break;
      case "r":
        this.terminalReady.resolve(true);
        break;
      case "tty":
        this.begun.reject(noTerminal(this.#options.name));
        break;
      case "cwd":
        this.cwd = text.replace(/\n$/, "");
        break;
      case "vars":
        this.vars = Buffer.from(body);
        break;
      case "left":
        this.left = readLeft(text);
        break;
      case "x":
        this.exited.resolve(Number(text));
        break;
    }
  }
}

function readLeft(text: string): readonly Survivor[] {
  const rows = text.split("/").slice(0, MAX_LEFT);
  return rows.flatMap((row) => {
    const match = /^(\d+) ([\s\S]*)$/.exec(row);
    return match === null ? [] : [{ pid: Number(match[1]), command: match[2] ?? "" }];
  });
}

export function cannotRunIn(cwd: string, why: string): ToolError {
  return new ToolError(`Cannot run in ${JSON.stringify(cwd)}: ${why}.`, {
    hint: "Give an existing folder as the working directory.",
  });
}

function folderError(why: string, cwd: string): ToolError {
  if (why === "missing") return missingFolder(cwd);
  return cannotRunIn(cwd, why === "file" ? "it is not a folder" : "permission denied");
}

function noTerminal(name: string): ToolError {
  return new ToolError(`A terminal could not be set up in ${name}: it needs the program stty.`, {
    code: "unavailable",
    hint: "Run the command without a terminal, or install coreutils or busybox there.",
  });
}
