import { randomBytes } from "node:crypto";
import type { Confine, Environment, ProcessEnd, RunningProcess } from "../../../env/environment.js";
import { ToolError } from "../../../tool/errors.js";
import { SpinningLoop } from "../quickjs/adaptive-spin.js";
import {
  BASH_DRIVER,
  NODE_BOOTSTRAP,
  NODE_CELLS,
  NODE_COMMON,
  NODE_SCRIPT,
  PYTHON_BOOTSTRAP,
  PYTHON_CELLS,
  PYTHON_COMMON,
  PYTHON_SCRIPT,
  START_LINE,
} from "../scripts.gen.js";
import { type FrameKind, FrameReader, orderFrame, PAYLOAD_BYTES } from "./frames.js";
import type { Runner } from "./language.js";

export interface InterpreterStart {
  readonly runner: Runner;
  readonly environment: Environment;
  readonly cwd: string;
  /** Folders whose virtual environments are used. */
  readonly projects: readonly string[];
  readonly confine: Confine | undefined;
  /** Names of variables that stay although they look like secrets. */
  readonly passthrough: readonly string[];
}

/** The source of `hermes_tools` for Python, or the list of functions for Node. */
export type ToolsForDriver = string | readonly object[];

export interface Script {
  readonly code: string;
  readonly stdin: string;
  readonly tools: ToolsForDriver;
}

export interface Cell {
  readonly id: number;
  readonly code: string;
  /** Named in tracebacks. */
  readonly name: string;
  readonly stdin: string;
  /** Left out when they are the same as before. */
  readonly tools?: ToolsForDriver;
  /** Node: the code gives a promise to wait for. */
  readonly waits?: boolean;
  /** Node: the last statement is an expression, whose value is shown. */
  readonly shows?: boolean;
}

export interface CellOutcome {
  readonly id?: number;
  readonly exit: number;
  readonly result?: string | undefined;
  /** Last line of the traceback. */
  readonly error?: string | undefined;
  readonly trace?: string;
  /** The interpreter is gone. */
  readonly ended?: boolean | undefined;
}

export interface ToolCall {
  readonly key: number;
  readonly name: string;
  readonly args: unknown;
}

export interface InterpreterListener {
  onOutput?(bytes: Buffer): void;
  onError?(bytes: Buffer): void;
  onCall?(call: ToolCall): void;
  onFailure?(failure: { readonly error: string }): void;
  onDone?(outcome: CellOutcome): void;
}

const MAX_UNSENT = 4 * 1024 * 1024;

/** A program that runs our driver: code goes in, output, tool calls and results come out. */
export class Interpreter {
  /** Who hears what comes; may change from cell to cell. */
  listener: InterpreterListener = {};
  /** Becomes true when the driver runs. */
  #begun = false;
  #onBegun: () => void = () => undefined;
  readonly begun = new Promise<void>((resolve) => {
    this.#onBegun = resolve;
  });
  readonly #runner: Runner;
  readonly #token = `\u0001${randomBytes(12).toString("hex").slice(0, 14)}\u0002`;
  readonly #reader: FrameReader;
  readonly #loop = new SpinningLoop();
  #process: RunningProcess | undefined;
  /** Bytes that the program has not taken yet. */
  #unsent = 0;
  #ending: Promise<unknown> | undefined;

  private constructor(runner: Runner) {
    this.#runner = runner;
    this.#reader = new FrameReader(this.#token, {
      onOutput: (bytes) => this.listener.onOutput?.(bytes),
      onFrame: (kind, payload) => this.#take(kind, payload),
    });
  }

  /** Runs one script to its end. */
  static async startScript(start: InterpreterStart, script: Script): Promise<Interpreter> {
    const driver = start.runner === "python" ? PYTHON_COMMON + PYTHON_SCRIPT : NODE_COMMON + NODE_SCRIPT;
    return Interpreter.#start(start, driver, script);
  }

  /** Waits for cells. */
  static async startCells(start: InterpreterStart): Promise<Interpreter> {
    const driver = start.runner === "python" ? PYTHON_COMMON + PYTHON_CELLS : NODE_COMMON + NODE_CELLS;
    return Interpreter.#start(start, driver, {});
  }

  static async #start(start: InterpreterStart, driver: string, first: object): Promise<Interpreter> {
    const { runner, environment, cwd, confine, projects, passthrough } = start;
    const made = new Interpreter(runner);
    const token = made.#token;
    const process = await environment.spawn({
      command: [
        ...["sh", "-c", START_LINE, "sh"],
        Intl.DateTimeFormat().resolvedOptions().timeZone,
        `:${passthrough.join(":")}:`,
        projects.map((folder) => `${folder}:`).join(""),
        ...argumentsOf(runner, token),
      ],
      cwd,
      confine,
      onOutput: (bytes) => made.#reader.push(bytes),
    });
    made.#process = process;
    // One that has ended already cannot be written to; its end is told by `ended`.
    await (runner === "bash"
      ? made.write(bashSetup(token))
      : made.write(
          Buffer.concat([
            orderFrame(driver),
            orderFrame(JSON.stringify({ token, piece: PAYLOAD_BYTES, ...first })),
          ]),
        ));
    return made;
  }

  get confinedBy(): string | undefined {
    return this.#process?.confinedBy;
  }

  /** Resolves when the program has ended and its output has arrived. */
  get ended(): Promise<ProcessEnd> {
    const { ended } = this.#process ?? {};
    return ended === undefined ? Promise.resolve({ exitCode: 1 }) : ended.then((end) => this.#over(end));
  }

  /** Whether the driver ever ran. */
  get hasBegun(): boolean {
    return this.#begun;
  }

  async write(data: string | Uint8Array): Promise<void> {
    this.#unsent += data.length;
    await this.#process?.write(data).catch(() => undefined);
    this.#unsent -= data.length;
  }

  /** The answer to a tool call. */
  answer(key: number, answer: { readonly ok: boolean; readonly json: string }): Promise<void> {
    // Refusals are free for a script that never reads them; results are limited in number.
    if (!answer.ok && this.#unsent > MAX_UNSENT) return Promise.resolve();
    const written = this.write(orderFrame(`["r",${key},${answer.ok},${answer.json}]`));
    this.#loop.answered();
    return written;
  }

  runCell(cell: Cell): Promise<void> {
    if (this.#runner === "bash") return this.write(bashCell({ token: this.#token, ...cell }));
    return this.write(orderFrame(JSON.stringify(["c", cell])));
  }

  interrupt(cell: number): Promise<void> {
    return this.write(this.#runner === "bash" ? "interrupt\n" : orderFrame(JSON.stringify(["i", cell])));
  }

  /** Ends it and everything it has started. */
  async end(): Promise<void> {
    this.#ending ??= this.#process?.end().catch(() => undefined);
    await this.#ending;
  }

  #over(end: ProcessEnd): ProcessEnd {
    this.#reader.finish();
    return end;
  }

  #take(kind: FrameKind, payload: Buffer): void {
    const { listener } = this;
    switch (kind) {
      case "h":
        this.#begun = true;
        this.#onBegun();
        return;
      case "e":
        listener.onError?.(payload);
        return;
      case "q": {
        this.#loop.called();
        const request = parsed(payload);
        if (!Array.isArray(request)) return;
        const [key, name, args] = request as unknown[];
        if (typeof key === "number" && typeof name === "string") listener.onCall?.({ key, name, args });
        return;
      }
      case "x":
        listener.onFailure?.(parsed(payload) as { readonly error: string });
        return;
      case "d":
        listener.onDone?.(parsed(payload) as CellOutcome);
    }
  }
}

function argumentsOf(runner: Runner, token: string): readonly string[] {
  switch (runner) {
    case "python":
      return ["python", "-c", PYTHON_BOOTSTRAP];
    case "node":
      return ["node", "--experimental-vm-modules", "-e", NODE_BOOTSTRAP];
    case "bash":
      return ["bash", "--noprofile", "--norc", "-c", BASH_DRIVER, "bash", token];
  }
}

/** Where the inner shell of bash-driver.sh keeps the stream for its reports, out of the way of scripts. */
const BASH_REPORT = 251;

/** The first line for the inner shell. The outer one speaks for it that the interpreter runs. */
function bashSetup(token: string): string {
  return `exec 2>&1 ${BASH_REPORT}>&1; unset -v HISTFILE MAILCHECK; set +H +o history; ${report(token, "h", "")}\n`;
}

/** Two lines: an interrupt ends the first one only. */
function bashCell(cell: { readonly token: string; readonly id: number; readonly code: string }): string {
  const done = `{"id":${cell.id},"exit":@@@}`;
  return `eval -- ${ansiQuoted(cell.code)} </dev/null\n${report(cell.token, "d", done)}\n`;
}

/** `@@@` stands for the exit status, which is padded so that the length is known beforehand. */
function report(token: string, kind: string, payload: string): string {
  const header = `${kind}.${payload.length.toString(16).padStart(4, "0")}`;
  const status = payload.includes("@@@") ? ' "$?"' : "";
  return `builtin printf '${token}${header}${payload.replace("@@@", "%3d")}'${status} >&${BASH_REPORT}`;
}

/** One line, whatever the text holds. */
function ansiQuoted(text: string): string {
  const escaped = text.replace(/[\\'\n\r\t\u0001-\u001f\u007f]/g, (character) => {
    if (character === "\\" || character === "'") return `\\${character}`;
    return `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
  });
  return `$'${escaped}'`;
}

/** A script can reach its own channel; nonsense from there is worth no more than silence. */
function parsed(payload: Buffer): unknown {
  try {
    return JSON.parse(payload.toString("utf8"));
  } catch {
    return {};
  }
}

const PROGRAMS: Readonly<Record<Runner, string>> = { python: "python3", node: "node", bash: "bash" };

/** Why an interpreter ended before it ran a line of ours. */
export function neverBegan(given: {
  readonly runner: Runner;
  readonly environment: string;
  readonly end: ProcessEnd;
  readonly said: string;
}): ToolError {
  const { runner, environment, end, said } = given;
  const program = PROGRAMS[runner];
  if (end.lost !== undefined)
    return new ToolError(`The script did not run: ${end.lost}.`, { code: "unavailable" });
  const why = said.trim().slice(-500);
  return new ToolError(
    `${program} could not be started in the environment ${environment}${why === "" ? "" : `: ${why}`}`,
    {
      code: "unavailable",
      hint:
        end.exitCode === 127
          ? `Install ${program} there, or use another language.`
          : `It ended with code ${end.exitCode} before the script began.`,
    },
  );
}
