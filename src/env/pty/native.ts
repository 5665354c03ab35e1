import { createRequire } from "node:module";
import { ToolError } from "../../tool/errors.js";
import type { TerminalSize } from "../environment.js";

/** A terminal that was just opened, with a program in it. */
export interface OpenedTerminal {
  /** The side of the terminal that this process holds; it does not block. */
  readonly descriptor: number;
  readonly pid: number;
  /** The program's side, e.g. `/dev/pts/3`. */
  readonly path: string;
}

export interface TerminalStart {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly size: TerminalSize;
  /** Called once; `signal` is 0 when the program ended by itself. */
  onExit(exitCode: number, signal: number): void;
}

export interface TerminalMaker {
  start(request: TerminalStart): OpenedTerminal;
  /** Opens one without a program in it. Whoever starts one there closes `program` here then. */
  open(size: TerminalSize): { readonly descriptor: number; readonly program: number; readonly path: string };
  resize(descriptor: number, size: TerminalSize): void;
}

/**
 * What the package's native file offers. Its own JavaScript is passed by: writing through it stops the whole
 * process while a program does not read its input, and whatever a program printed last is dropped when
 * nobody reads it within 200 ms.
 */
interface NativeFile {
  fork(
    file: string,
    args: readonly string[],
    env: readonly string[],
    cwd: string,
    columns: number,
    rows: number,
    uid: number,
    gid: number,
    utf8: boolean,
    helper: string,
    onExit: (exitCode: number, signal: number) => void,
  ): { readonly fd: number; readonly pid: number; readonly pty: string };
  open(
    columns: number,
    rows: number,
  ): { readonly master: number; readonly slave: number; readonly pty: string };
  resize(descriptor: number, columns: number, rows: number): void;
}

const PACKAGE = "@lydell/node-pty";
const SAME_USER = -1;

let maker: TerminalMaker | undefined;

/** Loads the native file at the first use. */
export function terminalMaker(): TerminalMaker {
  maker ??= loadMaker();
  return maker;
}

function loadMaker(): TerminalMaker {
  const { native, helper } = loadNative();
  return {
    start(request) {
      const [file = "", ...args] = request.argv;
      const { columns, rows } = request.size;
      const env = Object.entries(request.env).map(([name, value]) => `${name}=${value}`);
      try {
        const opened = native.fork(
          file,
          args,
          env,
          request.cwd,
          columns,
          rows,
          SAME_USER,
          SAME_USER,
          true,
          helper,
          request.onExit,
        );
        return { descriptor: opened.fd, pid: opened.pid, path: opened.pty };
      } catch (error) {
        throw notOpened(error);
      }
    },
    open({ columns, rows }) {
      try {
        const { master, slave, pty } = native.open(columns, rows);
        return { descriptor: master, program: slave, path: pty };
      } catch (error) {
        throw notOpened(error);
      }
    },
    resize: (descriptor, { columns, rows }) => native.resize(descriptor, columns, rows),
  };
}

function notOpened(error: unknown): ToolError {
  return new ToolError(`No terminal could be opened (${error instanceof Error ? error.message : error}).`, {
    cause: error,
    hint: "The machine may be out of terminals, processes or memory; end something and try again.",
  });
}

function loadNative(): { readonly native: NativeFile; readonly helper: string } {
  if (process.platform === "win32") throw noTerminals("Windows is not supported");
  try {
    const fromHere = createRequire(import.meta.url);
    const fromPackage = createRequire(fromHere.resolve(PACKAGE));
    const { requireBinary } = fromPackage("./requireBinary.js") as {
      requireBinary(file: string): NativeFile;
    };
    // macOS starts programs through a small helper that lies beside the native file.
    const helper =
      process.platform === "darwin"
        ? fromPackage.resolve(`${PACKAGE}-${process.platform}-${process.arch}/spawn-helper`)
        : "";
    return { native: requireBinary("pty.node"), helper };
  } catch (error) {
    throw noTerminals(error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error), error);
  }
}

function noTerminals(why: string, cause?: unknown): ToolError {
  return new ToolError(`Programs cannot be given a terminal here: ${why}.`, {
    code: "unavailable",
    cause,
    hint:
      `Install the package again on this machine, with optional dependencies (${PACKAGE} needs its native ` +
      "file for this system), or run the command without a terminal.",
  });
}
