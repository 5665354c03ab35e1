import { ToolError } from "../../tool/errors.js";
import type { ProgramRequest } from "../environment.js";
import type { SandboxLimits } from "../sandbox/types.js";
import type { RawReport } from "./child.js";
import { REPORT_AT_END } from "./scripts.gen.js";

/** Number of the descriptor on which the shell reports. */
export const REPORT_DESCRIPTOR = 3;
const MAX_NAMES = 20;

/**
 * Comes on the descriptor of the report, so that it is in neither arguments nor environment, and ends up in the text
 * of a trap: no program that a line starts can know it.
 */
const READ_SECRET = `IFS= builtin read -r HERMES_SECRET <&${REPORT_DESCRIPTOR}`;
/**
 * Closed for the line, the descriptor is kept by bash at a number from 10 on that no program inherits. `eval` keeps
 * these words out of the shell's own error messages; a line may begin with a dash.
 */
const RUN_LINE = `HERMES_LINE=$1; shift; eval -- "$HERMES_LINE" ${REPORT_DESCRIPTOR}>&-`;
/** Where bash keeps the descriptor meanwhile; it is not put back when a function of the line ends the shell. */
const SET_ASIDE = 10;

/**
 * When the shell ends it reports its folder and what it exports. Left of `||`, a failure does not count for
 * `set -e`; the exit code stays that of the line.
 */
const REPORT_STATE = `{ builtin printf %s "$1"; builtin pwd -P; builtin printf "\\0"; builtin export -p; builtin printf "\\0%s" "$1"; }`;
const REPORT_WHERE_OPEN = [REPORT_DESCRIPTOR, SET_ASIDE]
  .map((number) => `if [[ -S /dev/fd/${number} ]]; then ${REPORT_STATE} >&${number}; else `)
  .join("");
const REPORT_TRAP = [
  `trap "{ builtin set -- $HERMES_SECRET;"'${REPORT_WHERE_OPEN} :; fi; fi; } 2>/dev/null || :' EXIT`,
  "unset -v HERMES_SECRET",
].join("; ");
const SHELL_LINE = `${READ_SECRET}; ${REPORT_TRAP}; ${RUN_LINE}`;

/** Descriptor on which a waiting shell gets its order, which ends with the end of the pipe. */
const ORDER_DESCRIPTOR = 4;
/** The errno of a missing folder; whoever reads it looks again to find out why. */
const MISSING_FOLDER_REPORT = `builtin printf "\\0folder 2" >&${REPORT_DESCRIPTOR}; exit 127`;
/** Everything else is as in a shell that has just been started: the clock, OLDPWD, descriptors. */
const WAITING_LINE = [
  READ_SECRET,
  `. /dev/fd/${ORDER_DESCRIPTOR}`,
  `exec ${ORDER_DESCRIPTOR}<&-`,
  "(( $# == 1 )) || exit 0",
  `[[ -z $HERMES_MISSING ]] || { ${MISSING_FOLDER_REPORT}; }`,
  "builtin unset -v OLDPWD HERMES_MISSING",
  "builtin export OLDPWD",
  "SECONDS=0",
  REPORT_TRAP,
  RUN_LINE,
].join("; ");

const BEGUN = "+";
const SAY_BEGUN = `builtin printf %s "$HERMES_SECRET${BEGUN}" >&${REPORT_DESCRIPTOR}`;
/** Of 1,000: how gladly the kernel ends a process when the machine runs out of memory. */
const FIRST_TO_GO = 500;
/** A sandbox inherits whatever this process has open; a command gets only its streams and the report. */
const CLOSE_DESCRIPTORS = [
  // Nothing is redirected around the loop: the shell would keep the old stream on a descriptor listed here.
  `for HERMES_FD in /proc/self/fd/*; do HERMES_FD=\${HERMES_FD##*/}`,
  `case $HERMES_FD in [012]|${REPORT_DESCRIPTOR}) ;; *) eval "exec $HERMES_FD>&-" ;; esac`,
  "done; unset HERMES_FD",
].join("; ");

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
  const begin = `${READ_SECRET}; ${SAY_BEGUN}; ${CLOSE_DESCRIPTORS}; ${limitLine(limits)}`;
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
  const begin = `${CLOSE_DESCRIPTORS}; ${limitLine(limits)}; set -m`;
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
