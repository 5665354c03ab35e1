import { randomUUID } from "node:crypto";
import { closeSync, writeSync } from "node:fs";
import { quoteForShell } from "../../base/quote.js";
import type { Child, ChildStart, ShellLine } from "./child.js";
import { waitingShellVector } from "./command-line.js";
import type { Launched, Launcher } from "./launcher/launcher.js";
import { EXEC_MARK, RUNTIME_MARK } from "./marks.js";
import { type OutputReader, readPipe } from "./output-reader.js";

/** After this long without a command, none is kept waiting. */
const IDLE_MS = 15_000;
/** What fits into an empty pipe at once. */
const MAX_ORDER_BYTES = 60_000;

/**
 * Variables that a shell reads only when it starts, or that mean something else when they are set later. A
 * request that touches one gets a shell of its own.
 */
const ONLY_AT_START =
  /^(?:_|IFS|ENV|HERMES_.*|BASH.*|SHELLOPTS|SHLVL|PWD|OLDPWD|CDPATH|POSIXLY_CORRECT|PS[0-4]|PROMPT_.*|OPT[A-Z]+|[EUP]P?ID|EUID|GROUPS|FUNCNAME|DIRSTACK|S?RANDOM|SECONDS|LINENO|EPOCH.*|TMOUT|(?:GLOB|EXEC|F|HIST)IGNORE|HIST.*|(?:HOST|MACH|OS)TYPE|COMP.*|COPROC|MAPFILE|REPLY|READLINE.*|TIMEFORMAT|auto_resume|histchars|LD_.*)$/;

interface WaitingShell {
  readonly mark: string;
  /** What it was started as, with which variables, in which boundary. */
  readonly base: string;
  readonly launched: Launched;
  readonly order: number;
  readonly reader: OutputReader;
  take: (bytes: Buffer) => void;
}

interface NextShell {
  /** Where the shell is: looking for it in every folder of PATH again takes longer than starting it does. */
  readonly program: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly boundary: number | undefined;
}

/**
 * A fresh shell for the next command, started ahead: half of the time a small command takes goes by before its
 * shell is there. Each takes one command. Its folder and variables come with the command, so nothing of an
 * earlier one can be in it.
 */
export class WaitingShells {
  readonly #launcher: Launcher;
  readonly #runtimeMark: string;
  #waiting: WaitingShell | undefined;
  #starting = false;
  #used = 0;
  #idle: NodeJS.Timeout | undefined;

  constructor(options: { readonly launcher: Launcher; readonly runtimeMark: string }) {
    this.#launcher = options.launcher;
    this.#runtimeMark = options.runtimeMark;
  }

  /** Gives the line to a waiting shell. Undefined when none fits. */
  take(start: ChildStart): Child | undefined {
    const { line } = start;
    if (line === undefined || start.input !== "nothing" || start.onStderr !== undefined) return undefined;
    const order = orderFor(start, line);
    const { boundary } = start;
    const [program = ""] = start.argv;
    const base = JSON.stringify([program, boundary, line.base]);
    const shell = this.#forget();
    const taken = shell !== undefined && order !== undefined && shell.base === base && give(shell, order);
    if (!taken && shell !== undefined) letGo(shell);
    this.#used += 1;
    // One command alone is often all there is.
    if (this.#used > 1) void this.#refill({ program, variables: line.base, boundary }, base);
    if (!taken) return undefined;
    shell.take = start.onOutput.bind(start);
    shell.reader.ref(true);
    return {
      pid: shell.launched.pid,
      mark: shell.mark,
      exited: shell.launched.exited,
      outputEnded: shell.reader.ended,
      input: undefined,
      pauseOutput: (paused) => shell.reader.pause(paused),
      letGo: () => shell.reader.letGo(),
    };
  }

  close(): void {
    clearTimeout(this.#idle);
    this.#used = Number.NEGATIVE_INFINITY;
    const shell = this.#forget();
    if (shell !== undefined) letGo(shell);
  }

  #forget(): WaitingShell | undefined {
    const shell = this.#waiting;
    this.#waiting = undefined;
    this.#launcher.expectIdle(0);
    return shell;
  }

  async #refill(next: NextShell, base: string): Promise<void> {
    this.#restartClock();
    if (this.#starting) return;
    this.#starting = true;
    try {
      const shell = await this.#startOne(next, base);
      if (shell === undefined) return;
      if (this.#used < 0) letGo(shell);
      else this.#keep(shell);
    } catch {
      // Without one waiting, the next command starts its own.
    } finally {
      this.#starting = false;
    }
  }

  async #startOne({ program, variables, boundary }: NextShell, base: string) {
    const mark = randomUUID();
    const launched = await this.#launcher.launch({
      argv: [program, ...waitingShellVector().slice(1)],
      cwd: "/",
      env: { ...variables, [EXEC_MARK]: mark, [RUNTIME_MARK]: this.#runtimeMark },
      descriptors: ["nothing", "flood", "same", "report", "input"],
      boundary,
    });
    if ("stage" in launched) return undefined;
    const [output = -1, order = -1] = launched.ends;
    const shell: WaitingShell = {
      mark,
      base,
      launched,
      order,
      reader: readPipe(output, (bytes) => shell.take(bytes)),
      take() {},
    };
    shell.reader.ref(false);
    return shell;
  }

  #keep(shell: WaitingShell): void {
    this.#waiting = shell;
    this.#launcher.expectIdle(1);
    void shell.launched.exited.then(() => {
      if (this.#waiting === shell) letGo(this.#forget() ?? shell);
    });
  }

  #restartClock(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      const shell = this.#forget();
      if (shell !== undefined) letGo(shell);
    }, IDLE_MS);
    this.#idle.unref();
  }
}

/** False when it has ended meanwhile. */
function give(shell: WaitingShell, order: Buffer): boolean {
  try {
    writeSync(shell.order, order);
    closeSync(shell.order);
    return true;
  } catch {
    return false;
  }
}

/** Without an order it ends. */
function letGo(shell: WaitingShell): void {
  try {
    closeSync(shell.order);
  } catch {
    // It was told already.
  }
  shell.reader.letGo();
}

/** What the shell reads: where to go, which variables to change, what to run. */
function orderFor(start: ChildStart, line: ShellLine): Buffer | undefined {
  const changes = Object.entries(line.changes);
  if (changes.some(([name]) => ONLY_AT_START.test(name))) return undefined;
  const text = [
    `builtin cd -P -- ${quoteForShell(start.cwd)} 2>/dev/null || HERMES_MISSING=1`,
    ...changes.map(([name, value]) =>
      value === undefined ? `builtin unset -v ${name}` : `builtin export ${name}=${quoteForShell(value)}`,
    ),
    `builtin set -- ${quoteForShell(line.command)}\n`,
  ].join("\n");
  const order = Buffer.from(text);
  return order.length > MAX_ORDER_BYTES ? undefined : order;
}
