import { ToolError } from "../../tool/errors.js";
import type { ProgramRequest } from "../environment.js";
import type { SandboxLimits } from "../sandbox/types.js";
import type { RawReport } from "./child.js";
import {
  CLOSE_DESCRIPTORS,
  READ_SECRET,
  REPORT_AT_END,
  REPORT_STATE,
  RUN_LINE,
  SAY_BEGUN,
  TAKE_ORDER,
} from "./scripts.gen.js";

/** Number of the descriptor on which the shell reports; the scripts know it. */
export const REPORT_DESCRIPTOR = 3;
const MAX_NAMES = 20;

const SHELL_LINE = [READ_SECRET, REPORT_STATE, RUN_LINE].join(" ");
const WAITING_LINE = [READ_SECRET, TAKE_ORDER, REPORT_STATE, RUN_LINE].join(" ");

/** As in say-begun.line.sh. */
const BEGUN = "+";
/** Of 1,000: how gladly the kernel ends a process when the machine runs out of memory. */
const FIRST_TO_GO = 500;

type Command = ProgramRequest["command"];

/** The argument vector to start, without a sandbox around it. The shell reports when it ends. */
export function argumentVector(command: Command): readonly string[] {
  refuseUnusable(command);
  return typeof command === "string" ? [...bash(SHELL_LINE), command] : command;
}

/** A shell that reports like the one above, but waits for what it has to do. */
export function waitingShellVector(): readonly string[] {
  return bash(WAITING_LINE);
}

/** The same for what goes on in the background and leaves nothing to the next command. */
export function backgroundVector(command: Command): readonly string[] {
  refuseUnusable(command);
  return typeof command === "string" ? ["bash", "--noprofile", "--norc", "-c", command, "bash"] : command;
}

/** The same for the inside of a sandbox: it says that it has begun, limits itself and closes what it inherited. */
export function confinedVector(command: Command, limits: SandboxLimits): readonly string[] {
  refuseUnusable(command);
  const begin = [READ_SECRET, SAY_BEGUN, CLOSE_DESCRIPTORS, limitLine(limits)].join(" ");
  return typeof command === "string"
    ? [...bash(`${begin}\n${REPORT_AT_END}${RUN_LINE}`), command]
    : [...bash(`${begin}; exec ${REPORT_DESCRIPTOR}>&-; exec -- "$@"`), ...command];
}

/**
 * The same for a terminal, where nothing is left to report on. The command gets a process group of its own in
 * the foreground: keys such as ^C would otherwise end the sandbox around it as well.
 */
export function confinedBackgroundVector(command: Command, limits: SandboxLimits): readonly string[] {
  refuseUnusable(command);
  const begin = `${CLOSE_DESCRIPTORS} ${limitLine(limits)}; set -m`;
  const argv = typeof command === "string" ? [...bash(RUN_LINE), command] : command;
  return [...bash(`${begin}; "$@"; exit`), ...argv];
}

/** No startup files: bash reads .bashrc even for -c when its stdin looks like a network connection. */
function bash(line: string): readonly string[] {
  return ["bash", "--noprofile", "--norc", "-c", line, "bash"];
}

function limitLine(limits: SandboxLimits): string {
  const kilobytes = (bytes: number) => Math.ceil(bytes / 1024);
  const { memoryBytes, dataBytes, descriptors } = limits;
  const lines = [
    "ulimit -c 0",
    `ulimit -f ${kilobytes(limits.fileBytes)}`,
    `ulimit -u ${limits.processes}`,
    ...(memoryBytes === undefined ? [] : [`ulimit -v ${kilobytes(memoryBytes)}`]),
    ...(dataBytes === undefined ? [] : [`ulimit -d ${kilobytes(dataBytes)}`]),
    ...(descriptors === undefined ? [] : [`ulimit -n ${descriptors}`]),
    ...(limits.firstToGo === true ? [`echo ${FIRST_TO_GO} > /proc/self/oom_score_adj`] : []),
  ];
  // A lower limit that is set already stays.
  return `{ ${lines.join("; ")}; } 2>/dev/null`;
}

export interface ShellReport {
  /** False when a sandbox ended before the command in it began. */
  readonly begun: boolean;
  readonly cwd: string | undefined;
  /** As `export -p` prints it. */
  readonly exports: string | undefined;
  /** Programs that ended with the sandbox. */
  readonly ended: readonly string[];
}

/** What stands outside of the frame that the secret makes was not written by the shell, and a half frame is none. */
export function readReport(raw: RawReport, confined: boolean): ShellReport {
  const parts = raw.text.split(raw.secret).slice(1);
  const begun = !confined || parts.shift() === BEGUN;
  const [body = ""] = parts.length === 2 ? parts : [];
  const [place = "", exports, names = ""] = body.split("\0");
  const cwd = place.replace(/\n$/, "");
  return {
    begun,
    cwd: cwd === "" ? undefined : cwd,
    exports,
    ended: names
      .split("/")
      .filter((name) => name !== "")
      .slice(0, MAX_NAMES),
  };
}

function refuseUnusable(command: Command): void {
  const words = typeof command === "string" ? [command] : command;
  if (words.length === 0 || (typeof command !== "string" && words[0] === "")) {
    throw new ToolError("The command is empty: there is no program to start.", { code: "invalid_arguments" });
  }
  if (!words.some((word) => word.includes("\0"))) return;
  throw new ToolError("The command holds a NUL byte, which no program can receive as an argument.", {
    code: "invalid_arguments",
    hint: "Remove the NUL byte, or write the data to a file.",
  });
}
