import { accessSync, closeSync, constants } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { quoteForShell } from "../../base/quote.js";
import { ToolError } from "../../tool/errors.js";
import type { ProcessEnd, RunningProcess, Survivor, TerminalSize } from "../environment.js";
import { EXEC_MARK } from "../local/marks.js";
import { endTree, endWithThisProcess } from "../local/process-tree.js";
import { CLOSE_DESCRIPTORS } from "../local/scripts.gen.js";
import { TerminalMaster } from "./master.js";
import { readModes } from "./modes.js";
import { type OpenedTerminal, terminalMaker } from "./native.js";
import { waitsOnTerminal } from "./waiting.js";

/** A terminal that hands over whole lines drops what is longer. */
const LONGEST_LINE = 4_095;
const MAX_SIZE = 1_000;
const NEW_LINES = [0x0a, 0x0d];
const READY_FOR_END_MS = 500;
const LOOK_MS = 20;
const HANGUP_MS = 100;

export interface PtyRequest {
  readonly argv: readonly string[];
  /** Must exist. */
  readonly cwd: string;
  /** The whole environment; TERM is set here. */
  readonly env: Readonly<Record<string, string>>;
  readonly size: TerminalSize;
  /** Value of HERMES_EXEC_ID for everything it starts. */
  readonly mark: string;
  /** Files to open for the program before it starts. */
  readonly files?: readonly OpenedFile[] | undefined;
  /** See `TreeRoot.held`. */
  readonly held?: boolean;
  /** Starts the program with the terminal at this path instead of from here. */
  readonly startIn?: ((terminal: InTerminal) => Promise<StartedInTerminal>) | undefined;
  /** See `RunningProcess.confinedBy`. */
  readonly confinedBy?: string | undefined;
  onOutput(bytes: Uint8Array): void;
}

export interface InTerminal {
  readonly path: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface StartedInTerminal {
  readonly pid: number;
  readonly exited: Promise<ProcessEnd>;
}

/** How many terminals this process holds now. */
let openTerminals = 0;

/** Starts a program in a terminal of its own, which is also a session and a process group of its own. */
export async function spawnInPty(request: PtyRequest): Promise<RunningProcess> {
  const maker = terminalMaker();
  const size = usableSize(request.size);
  // Programs believe these more than the terminal, also when its size has changed.
  const { COLUMNS: _columns, LINES: _lines, ...env } = request.env;
  Object.assign(env, { TERM: "xterm-256color", [EXEC_MARK]: request.mark });
  const { startIn } = request;
  if (startIn !== undefined) return startedElsewhere({ request, size, env, startIn });
  const argv = startLine({
    argv: request.argv,
    env,
    othersOpen: openTerminals > 0,
    files: request.files,
  });
  let onExit: (end: ProcessEnd) => void = () => {};
  const exited = new Promise<ProcessEnd>((resolve) => {
    onExit = resolve;
  });
  const opened = maker.start({
    argv,
    cwd: request.cwd,
    env,
    size,
    onExit: (exitCode, signal) => onExit({ exitCode: signal > 0 ? 128 + signal : exitCode }),
  });
  openTerminals += 1;
  return new PtyProcess({ request, opened, exited });
}

async function startedElsewhere(start: {
  readonly request: PtyRequest;
  readonly size: TerminalSize;
  readonly env: Readonly<Record<string, string>>;
  readonly startIn: NonNullable<PtyRequest["startIn"]>;
}): Promise<RunningProcess> {
  const { descriptor, program, path } = terminalMaker().open(start.size);
  try {
    const { pid, exited } = await start.startIn({ path, env: start.env });
    openTerminals += 1;
    return new PtyProcess({ request: start.request, opened: { descriptor, pid, path }, exited });
  } catch (error) {
    closeSync(descriptor);
    throw error;
  } finally {
    // Held until then: a terminal whose last program end is closed counts as hung up.
    closeSync(program);
  }
}

class PtyProcess implements RunningProcess {
  readonly pid: number;
  readonly mark: string;
  readonly pty = true;
  readonly confinedBy?: string;
  readonly ended: Promise<ProcessEnd>;
  readonly #master: TerminalMaster;
  readonly #terminal: OpenedTerminal;
  readonly #held: boolean;
  /** Bytes typed since the last new line. */
  #typedInLine = 0;
  #over = false;
  #ending: Promise<readonly Survivor[]> | undefined;

  constructor(parts: {
    readonly request: PtyRequest;
    readonly opened: OpenedTerminal;
    readonly exited: Promise<ProcessEnd>;
  }) {
    const { request, opened } = parts;
    this.pid = opened.pid;
    this.mark = request.mark;
    this.#held = request.held ?? false;
    if (request.confinedBy !== undefined) this.confinedBy = request.confinedBy;
    this.#terminal = opened;
    this.#master = new TerminalMaster(opened.descriptor, (bytes) => request.onOutput(bytes));
    const unwatch = endWithThisProcess(opened.pid);
    this.ended = parts.exited.then(async (end) => {
      this.#over = true;
      unwatch();
      await this.#master.drained();
      await this.#master.close();
      openTerminals -= 1;
      return end;
    });
  }

  async write(data: string | Uint8Array): Promise<void> {
    const bytes = typeof data === "string" ? Buffer.from(data) : data;
    if (this.#over) throw hasEnded();
    const line = lineLengths(bytes, this.#typedInLine);
    if (line.longest > LONGEST_LINE && (await readModes(this.#terminal.path))?.wholeLines === true) {
      throw tooLong(line.longest);
    }
    this.#typedInLine = line.last;
    await this.#master.write(bytes);
  }

  async closeInput(): Promise<void> {
    if (this.#over) return;
    await this.#master.write(new Uint8Array());
    // Many programs throw away what was typed before they began to read.
    const deadline = performance.now() + READY_FOR_END_MS;
    while (!this.#over && performance.now() < deadline && (await this.waitsForInput()) === false)
      await delay(LOOK_MS);
    if (this.#over) return;
    const modes = await readModes(this.#terminal.path);
    const key = modes?.endOfInput ?? "\u0004";
    // In a line that has begun, the first one only sends off what stands there.
    const begun = this.#typedInLine > 0 && modes?.wholeLines !== false;
    this.#typedInLine = 0;
    await this.#master.write(Buffer.from(begun ? key + key : key)).catch(() => {});
  }

  resize(size: TerminalSize): void {
    if (this.#over || !this.#master.open) return;
    terminalMaker().resize(this.#terminal.descriptor, usableSize(size));
  }

  pauseOutput(paused: boolean): void {
    if (this.#ending === undefined) this.#master.pause(paused);
  }

  async waitsForInput(): Promise<boolean | undefined> {
    return this.#over ? false : waitsOnTerminal(this.#terminal);
  }

  end(): Promise<readonly Survivor[]> {
    this.#ending ??= this.#endTree().finally(() => {
      // Asked again, it looks again: what could not be ended may have ended, or left something.
      this.#ending = undefined;
    });
    return this.#ending;
  }

  async #endTree(): Promise<readonly Survivor[]> {
    this.#master.pause(false);
    // Shells in a terminal do not end at TERM; at a hangup they do, and tell what they started.
    if (!this.#over && !this.#held) {
      hangUp(this.pid);
      await Promise.race([this.ended, delay(HANGUP_MS)]);
    }
    const survivors = await endTree({
      pid: this.#over ? undefined : this.pid,
      mark: this.mark,
      held: this.#held && !this.#over,
    });
    if (!survivors.some(({ pid }) => pid === this.pid)) await this.ended;
    return survivors;
  }
}

function hangUp(group: number): void {
  try {
    process.kill(-group, "SIGHUP");
  } catch {
    // It has just ended.
  }
}

function usableSize({ columns, rows }: TerminalSize): TerminalSize {
  const within = (value: number) => Math.min(MAX_SIZE, Math.max(1, Math.trunc(value) || 1));
  return { columns: within(columns), rows: within(rows) };
}

/** The longest line, with what stands in the first one already, and what the last one has so far. */
function lineLengths(bytes: Uint8Array, before: number): { readonly longest: number; readonly last: number } {
  let longest = 0;
  let length = before;
  for (const byte of bytes) {
    if (NEW_LINES.includes(byte)) length = 0;
    else length += 1;
    if (length > longest) longest = length;
  }
  return { longest, last: length };
}

function tooLong(length: number): ToolError {
  return new ToolError(
    `A line of ${length} bytes cannot be typed here: the program takes whole lines, and a terminal drops what ` +
      `is beyond ${LONGEST_LINE} bytes. Nothing was typed.`,
    {
      code: "invalid_arguments",
      hint: "Send shorter lines, write the text to a file, or start the program without a terminal.",
    },
  );
}

function hasEnded(): ToolError {
  return new ToolError("The program has ended and takes no more input.", {
    hint: "Look at its output and exit code, and start it again if it is still needed.",
  });
}

/** A file that the program finds open under a number of its own, e.g. the filter that a sandbox reads. */
export interface OpenedFile {
  readonly descriptor: number;
  readonly path: string;
}

/**
 * The terminals that this process holds are not closed in what it starts: a program could read and type in
 * the terminal of another one. There is no report here that has to stay open.
 */
const CLOSE_INHERITED = CLOSE_DESCRIPTORS.replace("[0123]", "[012]");

export interface StartLine {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Other terminals are open in this process. */
  readonly othersOpen: boolean;
  readonly files?: readonly OpenedFile[] | undefined;
}

/**
 * The arguments as they are, or behind a shell where something has to be closed or opened first, or where
 * the program is not there: a shell then says so and ends with the usual exit code.
 */
export function startLine({ argv, env, othersOpen, files = [] }: StartLine): readonly string[] {
  const inherits = othersOpen && process.platform === "linux";
  const direct = !inherits && files.length === 0 && isThere(argv[0] ?? "", env.PATH);
  if (direct) return argv;
  const opening = files.map((file) => `exec ${file.descriptor}<${quoteForShell(file.path)}`);
  const line = [...(inherits ? [CLOSE_INHERITED] : []), ...opening, 'exec -- "$@"'].join("\n");
  return ["bash", "--noprofile", "--norc", "-c", line, "hermes", ...argv];
}

/** Asked at once: waiting for a thread would take longer than the answer. */
function isThere(program: string, path = ""): boolean {
  const places = program.includes("/")
    ? [program]
    : path.split(":").map((folder) => join(folder || ".", program));
  return places.some((place) => {
    try {
      accessSync(place, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
